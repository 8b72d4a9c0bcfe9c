import { type FocusEvent, type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';

//  Keyboard navigation in a virtualised list. The active row is state, and every key changes it; the focus follows once the
//  row can take it. A row that is drawn but not measured yet is hidden and takes no focus, so the
//  focus itself cannot tell where the keys have got to.

/** In list order; null for rows that keys skip, such as headings. */
export type RowKeys = readonly (string | null)[];

export type ActiveRow = {
  scroller: RefObject<HTMLDivElement | null>;
  list: RefObject<VirtualizerHandle | null>;
  /** The one row that Tab stops at. */
  stop: string | null;
  /** Rows that stay mounted wherever the list is scrolled: without them keys would have no target. */
  keepMounted: number[];
  /** For the scrolling element. */
  handlers: {
    onKeyDownCapture: (event: KeyboardEvent) => void;
    onKeyDown: (event: KeyboardEvent) => void;
    onFocus: (event: FocusEvent) => void;
    onBlur: (event: FocusEvent) => void;
  };
  /** Makes a row active and focuses it. */
  go: (key: string) => void;
};

type Options = {
  /** Where Tab stops before any row was active. */
  first?: string | null;
  /** ↑ in the first row. */
  onLeave?: () => void;
};

/** Rows carry their key as `data-row`. ↑ and ↓ walk, Home and End go to the ends; the focus of the whole list is for its
 *  first row. */
export function useActiveRow(keys: RowKeys, { first = null, onLeave }: Options = {}): ActiveRow {
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [active, setActive] = useState<string | null>(null);
  const [focused, setFocused] = useState<string | null>(null);
  /** The focus is still on its way to the active row. */
  const coming = useRef(false);
  const present = (key: string | null) => key !== null && keys.includes(key);
  const stop = [active, first].find(present) ?? keys.find((key) => key !== null) ?? null;

  const rowOf = (key: string) => scroller.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`);

  useLayoutEffect(() => {
    if (!coming.current || active === null) return;
    let frame = 0;
    const follow = () => {
      const { activeElement } = document;
      // A focus that left the list is not pulled back; a removed row leaves the focus on the page.
      if (activeElement !== document.body && !scroller.current?.contains(activeElement)) coming.current = false;
      if (!coming.current) return;
      bringIn(scroller.current, list.current, keys.indexOf(active));
      const row = rowOf(active);
      row?.focus({ preventScroll: true });
      if (row && document.activeElement === row) coming.current = false;
      else frame = requestAnimationFrame(follow);
    };
    follow();
    return () => cancelAnimationFrame(frame);
  });

  const go = (key: string) => {
    coming.current = true;
    setActive(key);
  };

  const step = (event: KeyboardEvent) => {
    const from = keys.indexOf(active ?? '');
    const wanted = targetOf(event.key, from, keys);
    if (wanted === null || from === -1 || event.defaultPrevented || hasModifier(event)) return;
    event.preventDefault();
    const next = keys[wanted];
    if (next != null) go(next);
    else if (event.key === 'ArrowUp') onLeave?.();
  };

  /** Until the focus has arrived, other keys also apply to the active row. */
  const forward = (event: KeyboardEvent) => {
    if (!coming.current || active === null || event.key === 'Tab' || hasModifier(event)) return;
    if (targetOf(event.key, 0, keys) !== null) return;
    const row = rowOf(active);
    if (!row || row === event.target) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Enter' || event.key === ' ') row.click();
    else row.dispatchEvent(new window.KeyboardEvent('keydown', { key: event.key, bubbles: true, cancelable: true }));
  };

  return {
    scroller,
    list,
    stop,
    keepMounted: [...new Set([stop, focused].filter(present).map((key) => keys.indexOf(key)))],
    handlers: {
      onKeyDownCapture: forward,
      onKeyDown: step,
      onFocus: ({ target, currentTarget }) => {
        const top = keys.find((key) => key !== null);
        if (target === currentTarget && !coming.current && top != null) return go(top);
        const key = target.closest<HTMLElement>('[data-row]')?.dataset.row ?? null;
        if (key === null) return;
        setFocused(key);
        if (!coming.current) setActive(key);
      },
      onBlur: ({ relatedTarget, currentTarget }) => {
        if (relatedTarget && !currentTarget.contains(relatedTarget)) setFocused(null);
      },
    },
    go,
  };
}

const hasModifier = (event: KeyboardEvent) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;

/** Where a key leads from row `from`; beyond the ends there is no row. Null for a key that does not walk. */
function targetOf(key: string, from: number, keys: RowKeys): number | null {
  if (key === 'Home') return keys.findIndex((row) => row !== null);
  if (key === 'End') return keys.findLastIndex((row) => row !== null);
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return null;
  let next = from + step;
  while (keys[next] === null) next += step;
  return next;
}

/** Heights are measured while scrolling, so a row's position becomes more accurate with every frame. What lies in the scroll
 *  padding counts as out of sight. */
function bringIn(box: HTMLElement | null, drawn: VirtualizerHandle | null, index: number): void {
  if (!box || !drawn || index === -1) return;
  const top = drawn.getItemOffset(index);
  const bottom = top + drawn.getItemSize(index);
  const inSight = box.clientHeight - (Number.parseFloat(getComputedStyle(box).scrollPaddingBottom) || 0);
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + inSight) box.scrollTop = bottom - inSight;
}
