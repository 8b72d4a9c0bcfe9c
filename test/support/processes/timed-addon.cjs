// The real engine beside a clock of its own: reading a prompt takes a second, and so does all that is written after the first token.
const addon = require('../../../build/native/Release/longhand.node');

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
    async generate(...asked) {
      const { timings, ...written } = await session.generate(...asked);
      return { ...written, timings: { ...timings, prefillMs: 1000, decodeMs: 1000 } };
    },
  });

module.exports = {
  ...addon,
  async load(...asked) {
    const model = await addon.load(...asked);
    return bound(model, { createSession: (...options) => sessionOf(model.createSession(...options)) });
  },
};
