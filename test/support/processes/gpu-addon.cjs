// The real addon on a machine that also has a 3 GB graphics card.
const addon = require('../../../build/native/Release/longhand.node');

const card = { id: 'vulkan:7', backEnd: 'vulkan', name: 'A card', memoryBytes: 3e9, available: true };
module.exports = {
  ...addon,
  devices: async (...asked) => {
    const found = await addon.devices(...asked);
    return [...found, { ...found[0], ...card }];
  },
};
