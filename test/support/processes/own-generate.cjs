// The real engine, with `generate` of its sessions in other hands: `own` is asked instead, and has the session to ask itself.
const addon = require('../../../build/native/Release/longhand.node');

const bound = (target, own) =>
  new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name];
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

const sessionOf = (session, own) => bound(session, { generate: (...asked) => own(session, ...asked) });

module.exports = (own) => ({
  ...addon,
  async load(...asked) {
    const model = await addon.load(...asked);
    return bound(model, { createSession: (...options) => sessionOf(model.createSession(...options), own) });
  },
});
