// Preloaded into a hidden window: what only pages of Electron 9 can ask the desktop.
const { desktopCapturer } = require('electron');

window.sources = async (options) => {
  const sources = await desktopCapturer.getSources(options);
  return sources.map(({ id, name, thumbnail }) => ({ id, name, thumbnail: thumbnail.toDataURL() }));
};
