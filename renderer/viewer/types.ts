import type { Document } from '../../app/protocol/index.ts';
import type { Mark } from '../stores/documents/state.ts';
import type { Zoom } from './layout.ts';

/** A search in the document: its text, and a counter of steps, taken modulo the number of matches. */
export type Find = { text: string; at: number };
export type FoundInText = { at: number; count: number };

/** What a view reports to the toolbar. */
export type ViewState = {
  /** From 1; null without pages. */
  page: number | null;
  pages: number;
  scale: number;
  found: FoundInText | null;
  showPage: (page: number) => void;
  /** The current page as a picture; null without pages. */
  picture: (() => Promise<Blob>) | null;
};

export type ViewProps = {
  document: Document;
  /** The shown passage. */
  mark: Mark | null;
  /** Other passages of the same search, marked softly. */
  others: readonly Mark[];
  zoom: Zoom;
  inverted: boolean;
  find: Find | null;
  onState: (state: ViewState) => void;
};
