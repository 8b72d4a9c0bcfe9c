import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Mark } from '../stores/documents/state.ts';
import { type Column, columnOf, columnOnScreen } from './column.ts';
import {
  GAP,
  type Layout,
  layoutOf,
  type PageSize,
  pageAt,
  scaleOf,
  scrollFor,
  sidewaysTo,
  topOfPage,
  type Zoom,
} from './layout.ts';
import { firstPlace, pageMarks, pageOf, topOf } from './marks.ts';

type PagesOptions = {
  count: number;
  first: PageSize;
  sizes: ReadonlyMap<number, PageSize>;
  zoom: Zoom;
  mark: Mark | null;
  key: string;
};

export type PagesView = {
  scroller: RefObject<HTMLElement | null>;
  layout: Layout;
  scale: number;
  page: number;
  scrollTop: number;
  height: number;
  showPage: (page: number) => void;
};

/** A virtualised column of pages: its scroll position, and scrolling to a page or a mark. The place being read keeps its
 *  vertical position when sizes become known or the zoom changes. */
export function usePages({ count, first, sizes, zoom, mark, key }: PagesOptions): PagesView {
  const scroller = useRef<HTMLElement>(null);
  const [box, setBox] = useState({ width: 0, height: 0 });
  const [scrollTop, setScrollTop] = useState(0);
  const ofMark = useMemo(() => columnOf(mark), [mark]);
  const [onScreen, setOnScreen] = useState<Column | null>(null);
  const column = zoom === 'column' ? (ofMark ?? onScreen) : null;
  const scale = scaleOf(zoom, first, box.width, column);
  const layout = useMemo(() => layoutOf(count, first, sizes, scale), [count, first, sizes, scale]);
  const before = useRef({ layout, scale });

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => setBox({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    const onScroll = () => setScrollTop(element.scrollTop);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    const { layout: old, scale: oldScale } = before.current;
    before.current = { layout, scale };
    if (!element || old === layout) return;
    const anchor = pageAt(old, element.scrollTop);
    const into = (element.scrollTop - topOfPage(old, anchor)) * (scale / oldScale);
    element.scrollTop = topOfPage(layout, anchor) + into;
  }, [layout, scale]);

  useLayoutEffect(() => {
    if (column && scroller.current) scroller.current.scrollLeft = sidewaysTo(column, scale, box.width);
  }, [column, scale, box.width]);

  // Without a passage the column is the one that is being read when it is asked for.
  const drawn = useRef({ page: 1, scale });
  useLayoutEffect(() => {
    const { current: element } = scroller;
    setOnScreen(zoom === 'column' && element ? columnOnScreen(element, drawn.current.page, drawn.current.scale) : null);
  }, [zoom]);

  const current = useRef(layout);
  current.current = layout;
  const showPage = useCallback((page: number) => {
    if (scroller.current) scroller.current.scrollTop = topOfPage(current.current, page) - GAP;
  }, []);

  const shown = useRef<string | null>(null);
  // A mark is brought into view once, when the box has its size; afterwards the reader scrolls.
  useEffect(() => {
    const element = scroller.current;
    if (!element || box.height === 0) return;
    const wanted = `${key} ${mark?.key ?? ''}`;
    if (shown.current === wanted) return;
    shown.current = wanted;
    const place = mark && firstPlace(mark);
    const page = place ? pageOf(place) : null;
    if (mark === null || page === null) return;
    const top = topOf(pageMarks(mark, page));
    element.scrollTop =
      top === null ? topOfPage(layout, page) - GAP : scrollFor(topOfPage(layout, page) + top * scale, box.height);
  }, [mark, key, layout, scale, box.height]);

  const page = pageAt(layout, scrollTop + box.height / 3);
  useEffect(() => {
    drawn.current = { page, scale };
  }, [page, scale]);

  return {
    scroller,
    layout,
    scale,
    page,
    scrollTop,
    height: box.height,
    showPage,
  };
}
