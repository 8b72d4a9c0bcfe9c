import { join } from 'node:path';
import { Menu, nativeImage, Tray } from 'electron';
import { words } from './strings.ts';

export type TrayActions = { ask: () => void; show: () => void; quit: () => void };

/** The icon in the macOS menu bar or the system tray; only if the user wants one. */
export function createTray(resources: string, { ask, show, quit }: TrayActions): (wanted: boolean) => void {
  let tray: Tray | null = null;
  return (wanted) => {
    if (wanted === (tray !== null)) return;
    if (!wanted) {
      tray?.destroy();
      tray = null;
      return;
    }
    tray = new Tray(trayImage(resources));
    tray.setToolTip('Longhand');
    const entry = (name: keyof typeof words.tray, click: () => void) => ({ label: words.tray[name], click });
    tray.setContextMenu(
      Menu.buildFromTemplate([
        entry('ask', ask),
        entry('show', show),
        { type: 'separator' },
        { label: words.menu.roles.quit, click: quit },
      ]),
    );
  };
}

/** macOS tints it to match the menu bar. */
function trayImage(resources: string) {
  const image = nativeImage.createFromPath(
    join(resources, 'tray', process.platform === 'darwin' ? 'template.png' : 'icon.png'),
  );
  image.setTemplateImage(process.platform === 'darwin');
  return image;
}
