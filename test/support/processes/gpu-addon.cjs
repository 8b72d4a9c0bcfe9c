// The real addon on a machine that has a graphics card of 3 GB besides.
const addon = require('../../../build/native/Release/longhand.node');

const card = { id: 'vulkan:7', backEnd: 'vulkan', name: 'A card', memoryBytes: 3e9, available: true };
module.exports = {
  ...addon,
  devices: async (...asked) => {
    const found = await addon.devices(...asked);
    return [...found, { ...found[0], ...card }];
  },
};
