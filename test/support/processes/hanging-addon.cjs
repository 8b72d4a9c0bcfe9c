// The real engine, which hangs once. The engine process loads this file instead of the addon, whose path is in
// LONGHAND_REAL_ADDON. LONGHAND_HANGS says where and how ("generate native"); the file named by LONGHAND_HUNG exists afterwards.
const { existsSync, writeFileSync } = require('node:fs');
const addon = require(process.env.LONGHAND_REAL_ADDON);
const [where, how] = (process.env.LONGHAND_HANGS ?? '').split(' ');

function hang() {
  writeFileSync(process.env.LONGHAND_HUNG, '');
  if (how === 'native') return addon.testing.hang();
  for (;;);
}
const hangsAt = (place) => place === where && !existsSync(process.env.LONGHAND_HUNG);

/** A wrapper, since methods of native objects cannot be assigned. */
function replace(object, name, make) {
  const own = object[name].bind(object);
  Object.defineProperty(object, name, { value: make(own) });
  return object;
}

const hangingSession = (session) =>
  replace(session, 'generate', (generate) => (prompt, options) => {
    if (!hangsAt('generate')) return generate(prompt, options);
    options.onPrefill?.(1, prompt.length, 0);
    return hang();
  });

module.exports = {
  ...addon,
  async load(path, options) {
    if (hangsAt('load')) return hang();
    const model = await addon.load(path, options);
    return replace(model, 'createSession', (create) => (wanted) => hangingSession(create(wanted)));
  },
};
