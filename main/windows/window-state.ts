import { renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { readRegularSync } from '../../app/store/folder/open-regular.ts';

const Bounds = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const WindowState = z.object({ bounds: Bounds, maximized: z.boolean(), fullScreen: z.boolean() });
/** The last position for each arrangement of displays, most recent first. */
const Places = z.array(WindowState.extend({ displays: z.string() }));
export type WindowState = z.infer<typeof WindowState>;
export type Bounds = z.infer<typeof Bounds>;
type Displays = readonly { workArea: Bounds }[];

const MAX_BYTES = 16_384;
const MAX_PLACES = 16;
/** A title bar's height. */
const STEP = 28;

/** The last position of the window with these displays. If its display is gone, it keeps its size and is centred on the
 *  first one. Null if no position was stored. */
export function readWindowState(file: string, displays: Displays): WindowState | null {
  const places = readPlaces(file);
  const last = places.find((place) => place.displays === arrangementOf(displays)) ?? places[0];
  if (!last) return null;
  const { bounds, maximized, fullScreen } = last;
  const seen = displays.some(({ workArea }) => reachable(bounds, workArea));
  const middle = displays[0] && centred(bounds, displays[0].workArea);
  return seen ? { bounds, maximized, fullScreen } : middle ? { bounds: middle, maximized, fullScreen } : null;
}

/** Written synchronously, since a closing window does not wait. If it cannot be written, for example on a full disk, the
 *  system chooses the position next time, which is no reason to fail. */
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
    // Not written yet, or damaged: the system chooses the position.
    return [];
  }
}

/** The position of a window opened from another: a step to the right and down, or the corner of the first display. */
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

/** Whether enough of the title bar is on the display to drag it. */
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
