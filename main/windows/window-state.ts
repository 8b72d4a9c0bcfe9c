import { renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { readRegularSync } from '../../app/store/folder/open-regular.ts';

const Bounds = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const WindowState = z.object({ bounds: Bounds, maximized: z.boolean(), fullScreen: z.boolean() });
/** Where it was left with each arrangement of displays: the last one first. */
const Places = z.array(WindowState.extend({ displays: z.string() }));
export type WindowState = z.infer<typeof WindowState>;
export type Bounds = z.infer<typeof Bounds>;
type Displays = readonly { workArea: Bounds }[];

const MAX_BYTES = 16_384;
const MAX_PLACES = 16;
/** A title bar's height. */
const STEP = 28;

/** Where the window was with these displays. One that was left on a display that is gone keeps its size and is put in the
 *  middle of the first one. Null when it was never left anywhere. */
export function readWindowState(file: string, displays: Displays): WindowState | null {
  const places = readPlaces(file);
  const last = places.find((place) => place.displays === arrangementOf(displays)) ?? places[0];
  if (!last) return null;
  const { bounds, maximized, fullScreen } = last;
  const seen = displays.some(({ workArea }) => reachable(bounds, workArea));
  const middle = displays[0] && centred(bounds, displays[0].workArea);
  return seen ? { bounds, maximized, fullScreen } : middle ? { bounds: middle, maximized, fullScreen } : null;
}

/** Written at once, since a window that closes does not wait. Where it cannot be written, on a full disk for example, the
 *  window opens next time where the system puts it: no reason to fail. */
export function writeWindowState(file: string, state: WindowState, displays: Displays): void {
  const place = { displays: arrangementOf(displays), ...state };
  const others = readPlaces(file).filter((other) => other.displays !== place.displays);
  try {
    writeFileSync(`${file}.part`, JSON.stringify([place, ...others].slice(0, MAX_PLACES)));
    renameSync(`${file}.part`, file);
  } catch (error) {
    console.warn(`[window] its place could not be written: ${(error as Error).message}`);
  }
}

function readPlaces(file: string): z.infer<typeof Places> {
  try {
    return Places.parse(JSON.parse(readRegularSync(file, MAX_BYTES).toString()));
  } catch {
    // Not written yet, or damaged: the window opens where the system puts it.
    return [];
  }
}

/** The place of a window that is opened from another: a step to the right and down, or where the first display begins. */
export function besides(window: Bounds, displays: Displays): Bounds {
  const moved = { ...window, x: window.x + STEP, y: window.y + STEP };
  if (displays.some(({ workArea }) => contains(workArea, moved))) return moved;
  const { x, y } = displays[0]?.workArea ?? window;
  return { ...window, x, y };
}

const contains = (area: Bounds, window: Bounds): boolean =>
  window.x >= area.x &&
  window.y >= area.y &&
  window.x + window.width <= area.x + area.width &&
  window.y + window.height <= area.y + area.height;

const arrangementOf = (displays: Displays): string =>
  displays
    .map(({ workArea: { x, y, width, height } }) => [x, y, width, height].join(' '))
    .sort()
    .join(', ');

/** Enough of the title bar is on the display to take hold of it. */
function reachable(window: Bounds, area: Bounds): boolean {
  const width = Math.min(window.x + window.width, area.x + area.width) - Math.max(window.x, area.x);
  return width >= 120 && window.y >= area.y - 8 && window.y <= area.y + area.height - 40;
}

function centred(window: Bounds, area: Bounds): Bounds {
  const width = Math.min(window.width, area.width);
  const height = Math.min(window.height, area.height);
  const middle = (start: number, whole: number, part: number) => start + Math.round((whole - part) / 2);
  return { x: middle(area.x, area.width, width), y: middle(area.y, area.height, height), width, height };
}
