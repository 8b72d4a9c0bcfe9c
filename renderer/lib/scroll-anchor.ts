export const HOLD_LINE = 'hold-line';

/** Call before something beside the chat changes its width: the line of this element keeps its vertical position. */
export function holdLine(element: Element): void {
  document.getElementById('transcript')?.dispatchEvent(new CustomEvent(HOLD_LINE, { detail: element }));
}

/** How long the layout may still shift after a panel opens, in time and in frames: drawing the panel can take longer than
 *  that time. */
const SETTLES_MS = 600;
const SETTLES_FRAMES = 36;

/** A held line: `keep` restores its position until the layout has settled. */
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
