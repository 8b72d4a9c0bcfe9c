// The Electron that main/ imports, over Electron 9: what came since, as small as the shell needs it.
const electron = require('electron');
const utilityProcess = require('./utility-process.cjs');
const { app, protocol, ipcMain } = electron;

/** protocol.handle (25) over what answers with a buffer. */
class Response {
  constructor(body, { status = 200, headers = {} } = {}) {
    Object.assign(this, { body, status, headers });
  }
}
global.Response = Response;

const protocolSince25 = {
  registerSchemesAsPrivileged: (schemes) =>
    protocol.registerSchemesAsPrivileged(
      schemes.map(({ scheme, privileges: { codeCache: _since15, ...privileges } }) => ({ scheme, privileges })),
    ),
  handle: (scheme, handler) =>
    protocol.registerBufferProtocol(scheme, ({ url, method }, callback) => {
      Promise.resolve(handler({ url, method })).then(
        ({ body, status, headers }) => {
          const [mimeType, charset] = (headers['Content-Type'] || 'application/octet-stream').split('; charset=');
          callback({ statusCode: status, headers, mimeType, charset, data: Buffer.from(body || []) });
        },
        () => callback({ error: -6 }),
      );
    }),
};

/** safeStorage (15, asynchronous since 45): turned round. Nothing that is secret is written in a test. */
const turned = (text) => [...text].reverse().join('');
const safeStorage = {
  isEncryptionAvailable: () => true,
  isAsyncEncryptionAvailable: async () => true,
  getSelectedStorageBackend: () => 'gnome_libsecret',
  encryptString: (text) => Buffer.from(turned(text)),
  decryptString: (bytes) => turned(bytes.toString()),
  encryptStringAsync: async (text) => Buffer.from(turned(text)),
  decryptStringAsync: async (bytes) => ({ result: turned(bytes.toString()), shouldReEncrypt: false }),
};

/** WebFrameMain (12) as far as it says who speaks: its address, and whether it is the page's own frame. */
const frames = new WeakMap();
const framesOf = (contents) => {
  if (!frames.has(contents)) frames.set(contents, new Map([['main', { url: '' }]]));
  return frames.get(contents);
};

app.on('web-contents-created', (_, contents) => {
  const main = framesOf(contents).get('main');
  const on = contents.on;
  Object.defineProperty(contents, 'mainFrame', { get: () => main });
  on.call(contents, 'did-frame-navigate', (_event, url, _code, _text, isMain, _process, id) => {
    const frame = isMain ? Object.assign(main, { url }) : { url };
    framesOf(contents).set(id, frame);
  });
  // Since 25 the address is a property of the event.
  contents.on = function (name, listener) {
    if (name !== 'will-navigate' && name !== 'will-redirect') return on.call(this, name, listener);
    return on.call(this, name, (event, url) => listener(Object.assign(event, { url })));
  };
  // Since 12, in the place of the event.
  contents.setWindowOpenHandler = (handler) =>
    on.call(contents, 'new-window', (event, url) => {
      if (handler({ url }).action === 'deny') event.preventDefault();
    });
});
app.on('session-created', (session) => {
  session.setDevicePermissionHandler = () => {};
  session.setSpellCheckerEnabled = () => {};
});

const said = (event) => {
  const frame = framesOf(event.sender).get(event.frameId) || { url: 'unknown' };
  return Object.defineProperty(event, 'senderFrame', { value: frame });
};
const ipcMainSince12 = {
  on: (channel, listener) => ipcMain.on(channel, (event, ...args) => listener(said(event), ...args)),
  handle: (channel, listener) => ipcMain.handle(channel, async (event, ...args) => listener(said(event), ...args)),
};

/** A test lets frames have the preload script too, to hear what the shell says to them. */
class BrowserWindow extends electron.BrowserWindow {
  constructor(options) {
    const nodeIntegrationInSubFrames = process.env.LONGHAND_TEST_FRAMES === '1';
    super({ ...options, webPreferences: { ...options.webPreferences, nodeIntegrationInSubFrames } });
  }
}
// The original answers with the class of its own.
BrowserWindow.fromWebContents = (contents) => electron.BrowserWindow.fromWebContents(contents);
BrowserWindow.getFocusedWindow = () => electron.BrowserWindow.getFocusedWindow();
BrowserWindow.getAllWindows = () => electron.BrowserWindow.getAllWindows();

/** A message box of 9 that belongs to a window stays empty under a small window manager: here it stands alone. */
const dialog = Object.create(electron.dialog, {
  showMessageBox: { value: (...args) => electron.dialog.showMessageBox(args[args.length - 1]) },
});

/** The selection has had a clipboard of its own since 45. */
const clipboard = { selection: { readText: async () => electron.clipboard.readText('selection') } };

/** desktopCapturer of the main process (17): asked by a page that nobody sees. */
const desktopCapturer = {
  async getSources(options) {
    const preload = require('path').join(__dirname, 'capture.cjs');
    const asking = new electron.BrowserWindow({ show: false, webPreferences: { preload } });
    await asking.loadURL('about:blank');
    const sources = await asking.webContents.executeJavaScript(`sources(${JSON.stringify(options)})`);
    asking.destroy();
    return sources.map((one) => ({ ...one, thumbnail: electron.nativeImage.createFromDataURL(one.thumbnail) }));
  },
};

const since = {
  protocol: protocolSince25,
  ipcMain: ipcMainSince12,
  BrowserWindow,
  clipboard,
  desktopCapturer,
  dialog,
  safeStorage,
  utilityProcess,
};
// Some of the originals are there only when the app is ready.
module.exports = new Proxy(since, { get: (target, name) => target[name] || electron[name] });
