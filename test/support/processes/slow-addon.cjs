// The real engine, except that the first load of a model goes on until somebody stops it.
// The engine process loads this file instead of the addon, whose path is in LONGHAND_REAL_ADDON.
const addon = require(process.env.LONGHAND_REAL_ADDON);
let first = true;

module.exports = {
  ...addon,
  load(path, options) {
    if (!first) return addon.load(path, options);
    first = false;
    options.onProgress(3, 10);
    return new Promise((_, reject) => {
      const look = setInterval(() => {
        if (!options.signal.isSet) return;
        clearInterval(look);
        reject(Object.assign(new Error('[load] stopped'), { code: 'cancelled' }));
      }, 5);
    });
  },
};
