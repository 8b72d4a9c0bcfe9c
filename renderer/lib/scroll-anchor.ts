export const HOLD_LINE = 'hold-line';

/** Before something beside the chat changes its width: the line of this element keeps its height on screen. */
export function holdLine(element: Element): void {
  document.getElementById('transcript')?.dispatchEvent(new CustomEvent(HOLD_LINE, { detail: element }));
}

/** For how long the chat may still move after a panel has opened, in time and in frames: drawing the panel can take longer than
 *  all of that time. */
const SETTLES_MS = 600;
const SETTLES_FRAMES = 36;

/** A line that is held: `keep` puts it back to where it was, until everything has settled. */
export type Held = { keep: (scroller: HTMLElement) => boolean };

export function heldAt(element: Element, now: () => number = () => performance.now()): Held {
  const top = element.getBoundingClientRect().top;
  const until = now() + SETTLES_MS;
  let frames = 0;
  return {
    keep(scroller) {
      frames++;
      if ((now() > until && frames > SETTLES_FRAMES) || !element.isConnected) return false;
      scroller.scrollTop += element.getBoundingClientRect().top - top;
      return true;
    },
  };
}
