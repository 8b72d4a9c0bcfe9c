import { renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { readRegularSync } from '../app/store/open-regular.ts';

const Bounds = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const WindowState = z.object({ bounds: Bounds, maximized: z.boolean() });
export type WindowState = z.infer<typeof WindowState>;
export type Bounds = z.infer<typeof Bounds>;

/** Where the window was, unless that is nowhere any more: a display can be gone. */
export function readWindowState(file: string, displays: readonly { workArea: Bounds }[]): WindowState | null {
  try {
    const state = WindowState.parse(JSON.parse(readRegularSync(file, 4096).toString()));
    return displays.some(({ workArea }) => reachable(state.bounds, workArea)) ? state : null;
  } catch {
    // Not written yet, or damaged: the window opens where the system puts it.
    return null;
  }
}

/** Written at once, since a window that closes does not wait. Where it cannot be written, on a full disk for example, the
 *  window opens next time where the system puts it: no reason to fail. */
export function writeWindowState(file: string, state: WindowState): void {
  try {
    writeFileSync(`${file}.part`, JSON.stringify(state));
    renameSync(`${file}.part`, file);
  } catch (error) {
    console.warn(`[window] its place could not be written: ${(error as Error).message}`);
  }
}

/** Enough of the title bar is on the display to take hold of it. */
function reachable(window: Bounds, area: Bounds): boolean {
  const width = Math.min(window.x + window.width, area.x + area.width) - Math.max(window.x, area.x);
  return width >= 120 && window.y >= area.y - 8 && window.y <= area.y + area.height - 40;
}
