import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BrowserWindow,
  type DesktopCapturerSource,
  desktopCapturer,
  dialog,
  Menu,
  type MenuItemConstructorOptions,
  screen,
  systemPreferences,
} from 'electron';
import { copyFolder } from './open-copy.ts';
import { fill, words } from './strings.ts';

/** As many windows as fit in a readable menu. */
const SHOWN = 30;
const ICON = { width: 64, height: 32 };
/** A menu may close before it reports the choice. */
const AFTER_CLOSE_MS = 200;

type Kinds = Electron.SourcesOptions['types'];

/** Lets the user choose an open window or screen and writes a picture of it to a file; our own `window` is not offered. The
 *  page has no access to the screen: only the chosen picture reaches it. No path if nothing was chosen. */
export async function takeScreenshot(window: BrowserWindow | null, system = process.env): Promise<string[]> {
  if (process.platform === 'darwin' && systemPreferences.getMediaAccessStatus('screen') === 'denied') {
    await dialog.showMessageBox({ message: words.screenshot.denied, detail: words.screenshot.allow });
    return [];
  }
  const chosen = desktopAsks(system) ? await largest(['window', 'screen']) : await chosenIn(window);
  if (!chosen || chosen.thumbnail.isEmpty()) return [];
  const path = join(copyFolder(), `${fileNameOf(chosen.name)}.png`);
  await writeFile(path, chosen.thumbnail.toPNG(), { mode: 0o600 });
  return [path];
}

/** On Wayland the desktop's own dialog is used, which asks every time. */
const desktopAsks = ({ XDG_SESSION_TYPE }: NodeJS.ProcessEnv) =>
  process.platform === 'linux' && XDG_SESSION_TYPE === 'wayland';

async function chosenIn(window: BrowserWindow | null): Promise<DesktopCapturerSource | undefined> {
  const [windows, screens] = [await small('window'), await small('screen')];
  const own = window?.getMediaSourceId();
  const others = windows.filter(({ id }) => id !== own).slice(0, SHOWN);
  const wanted = await choose(window, others, screens);
  if (!wanted) return undefined;
  const kind = screens.includes(wanted) ? 'screen' : 'window';
  return largest([kind], wanted.id);
}

const small = (kind: Kinds[number]) => desktopCapturer.getSources({ types: [kind], thumbnailSize: ICON });

/** At full resolution. */
async function largest(types: Kinds, id?: string): Promise<DesktopCapturerSource | undefined> {
  const sizes = screen.getAllDisplays().map(({ size, scaleFactor }) => ({
    width: Math.round(size.width * scaleFactor),
    height: Math.round(size.height * scaleFactor),
  }));
  const thumbnailSize = {
    width: Math.max(...sizes.map(({ width }) => width)),
    height: Math.max(...sizes.map(({ height }) => height)),
  };
  const sources = await desktopCapturer.getSources({ types, thumbnailSize });
  return id === undefined ? sources[0] : sources.find((one) => one.id === id);
}

function choose(
  window: BrowserWindow | null,
  windows: readonly DesktopCapturerSource[],
  screens: readonly DesktopCapturerSource[],
): Promise<DesktopCapturerSource | null> {
  const { promise, resolve } = Promise.withResolvers<DesktopCapturerSource | null>();
  const itemOf = (source: DesktopCapturerSource, label: string): MenuItemConstructorOptions => ({
    label: process.platform === 'darwin' ? label : label.replaceAll('&', '&&'),
    ...(!source.thumbnail.isEmpty() && { icon: source.thumbnail }),
    click: () => resolve(source),
  });
  const items = [
    ...screens.map((one, at) =>
      itemOf(
        one,
        screens.length === 1 ? words.screenshot.screen : fill(words.screenshot.oneScreen, { number: `${at + 1}` }),
      ),
    ),
    ...(windows.length > 0 ? [{ type: 'separator' as const }] : []),
    ...windows.map((one) => itemOf(one, shortened(one.name))),
  ];
  if (items.length === 0) return Promise.resolve(null);
  const menu = Menu.buildFromTemplate(items);
  menu.popup({ ...(window && { window }), callback: () => setTimeout(() => resolve(null), AFTER_CLOSE_MS) });
  return promise;
}

const shortened = (name: string): string => (name.length > 60 ? `${[...name].slice(0, 59).join('')}…` : name);

/** Window titles may contain any character. */
const fileNameOf = (name: string): string =>
  [...name.normalize().replace(/[^\p{L}\p{N} ._-]+/gu, ' ')]
    .slice(0, 60)
    .join('')
    .replace(/\s+/g, ' ')
    .replace(/^[ .]+|[ .]+$/g, '') || words.screenshot.name;
