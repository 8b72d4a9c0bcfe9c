// The real engine with a model that follows a script: it writes the step whose number is the count of tool results in the prompt.
// Each step is a list of tokens (LONGHAND_SCRIPT); a result is recognised by its token (LONGHAND_RESULT_TOKEN).
const addon = require('../../../build/native/Release/longhand.node');

const script = JSON.parse(process.env.LONGHAND_SCRIPT ?? '[]');
const resultToken = Number(process.env.LONGHAND_RESULT_TOKEN);

const bound = (target, own) =>
  new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name];
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

const sessionOf = (session) =>
  bound(session, {
    async generate(prompt, options) {
      const step = prompt.filter((id) => id === resultToken).length;
      const read = await session.generate(prompt, { ...options, maxTokens: 1, onTokens: () => {} });
      const tokens = script[step];
      if (!tokens || !options.cachePrompt || options.signal?.isSet) return read;
      options.onTokens(tokens.map((id) => ({ id })));
      return { ...read, tokens, finish: 'stop' };
    },
  });

module.exports = {
  ...addon,
  async load(...asked) {
    const model = await addon.load(...asked);
    return bound(model, { createSession: (...options) => sessionOf(model.createSession(...options)) });
  },
};
