// The real engine beside a clock of its own: reading a prompt takes a second, and so does all that is written after the first token.
module.exports = require('./own-generate.cjs')(async (session, ...asked) => {
  const { timings, ...written } = await session.generate(...asked);
  return { ...written, timings: { ...timings, prefillMs: 1000, decodeMs: 1000 } };
});
