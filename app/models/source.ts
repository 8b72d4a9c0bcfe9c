import type { RemoteFile } from './download/state.ts';

/** Where models come from. One interface for a hub, a mirror of it, another hub, a plain address and a folder. */
export type Source = {
  readonly id: 'huggingface' | 'mirror' | 'modelscope' | 'url' | 'folder';
  /** Host that is contacted, for the privacy page; null when nothing leaves this computer. */
  readonly host: string | null;
  search(query: SearchQuery, signal: AbortSignal): Promise<FoundModel[]>;
  /** Pins a revision to a commit and lists its files.
   *  @throws DownloadError `not-found`, `gated`, `network` ... */
  repository(name: string, revision: string | null, signal: AbortSignal): Promise<Repository>;
};

export type SearchQuery = { text: string; limit: number };

export type FoundModel = {
  source: Source['id'];
  name: string;
  downloads: number | null;
  likes: number | null;
  updatedAt: number | null;
  gated: boolean;
};

export type Repository = {
  source: Source['id'];
  name: string;
  /** A commit hash: what was inspected is what is fetched. For an address without one, its validator. */
  commit: string;
  gated: boolean;
  files: RemoteFile[];
};

/** Bytes [first, first + length) of a remote file, for reading headers. */
export type RangeReader = (file: RemoteFile, first: number, length: number, signal: AbortSignal) => Promise<Uint8Array>;
