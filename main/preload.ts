import { contextBridge, ipcRenderer, webUtils } from 'electron';
import type { CallFrame, CoreFrame, MenuCommand, PreloadApi } from '../app/protocol/index.ts';

//  Runs in the sandbox beside the page. Holds the port to the core, and gives the page functions instead of objects.

type Listener = Parameters<PreloadApi['listen']>[0];

/** The page's end of a port, as Electron gives it. */
type Port = Electron.IpcRendererEvent['ports'][number];

let port: Port | null = null;
let listener: Listener | null = null;

ipcRenderer.on('port', ({ ports: [given] }) => {
  if (!given) return;
  lose();
  port = given;
  port.onmessage = ({ data }: { data: CoreFrame }) => listener?.message(data);
  listener?.opened();
});
ipcRenderer.on('lost', lose);

function lose() {
  if (!port) return;
  port.close();
  port = null;
  listener?.closed();
}

const api: PreloadApi = {
  platform: process.platform,
  send: (frame: CallFrame) => port?.postMessage(frame),
  listen(given) {
    listener = given;
    ipcRenderer.send('connect');
  },
  pathOf: (file) => webUtils.getPathForFile(file as File),
  choose: (what) => ipcRenderer.invoke('choose', what),
  screenshot: () => ipcRenderer.invoke('screenshot'),
  openExternal: (address) => ipcRenderer.invoke('open-external', address),
  openCopy: (name, bytes) => ipcRenderer.invoke('open-copy', { name, bytes }),
  reveal: (path) => ipcRenderer.invoke('reveal', path),
  takeOpened: () => ipcRenderer.invoke('take-opened'),
  takeAsked: () => ipcRenderer.invoke('take-asked'),
  keysAreFree: (keys) => ipcRenderer.invoke('keys-are-free', keys),
  onView: (heard) => void ipcRenderer.on('view', (_, view: string) => heard(view)),
  onOpened: (heard) => void ipcRenderer.on('opened', () => heard()),
  onMenu: (heard) => void ipcRenderer.on('menu', (_, command: MenuCommand) => heard(command)),
};

contextBridge.exposeInMainWorld('longhand', api);
