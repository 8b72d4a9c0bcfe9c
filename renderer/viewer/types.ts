import type { Document } from '../../app/protocol/index.ts';
import type { Mark } from '../stores/documents/state.ts';
import type { Zoom } from './layout.ts';

/** Places of the words that are looked for in the text. `next` counts up with every Return. */
export type Find = { text: string; at: number };
export type FoundInText = { at: number; count: number };

/** What a view tells the bar above it. */
export type ViewState = {
  /** 1 and up; null where there are no pages. */
  page: number | null;
  pages: number;
  scale: number;
  found: FoundInText | null;
  showPage: (page: number) => void;
  /** The page that is shown, as a picture; null where there are no pages. */
  picture: (() => Promise<Blob>) | null;
};

export type ViewProps = {
  document: Document;
  /** The passage that is shown. */
  mark: Mark | null;
  /** Other passages of the same search, marked softly. */
  others: readonly Mark[];
  zoom: Zoom;
  inverted: boolean;
  find: Find | null;
  onState: (state: ViewState) => void;
};
