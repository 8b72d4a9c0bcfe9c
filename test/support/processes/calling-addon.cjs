// The real engine with a model that follows a script: it writes the step whose number is the count of tool results in the prompt.
// Each step is a list of tokens (LONGHAND_SCRIPT); a result is recognised by its token (LONGHAND_RESULT_TOKEN).
const script = JSON.parse(process.env.LONGHAND_SCRIPT ?? '[]');
const resultToken = Number(process.env.LONGHAND_RESULT_TOKEN);

module.exports = require('./own-generate.cjs')(async (session, prompt, options) => {
  const step = prompt.filter((id) => id === resultToken).length;
  const read = await session.generate(prompt, { ...options, maxTokens: 1, onTokens: () => {} });
  const tokens = script[step];
  if (!tokens || !options.cachePrompt || options.signal?.isSet) return read;
  options.onTokens(tokens.map((id) => ({ id })));
  return { ...read, tokens, finish: 'stop' };
});
