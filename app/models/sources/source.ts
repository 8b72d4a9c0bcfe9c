import type { FoundModel, SourceId } from '../../protocol/index.ts';
import type { RemoteFile } from './remote-file.ts';

/** Where models come from. One interface for a hub, a mirror of it, another hub, a plain address. */
export type Source = {
  readonly id: SourceId;
  /** Host that is contacted, for the privacy page; null when nothing leaves this computer. */
  readonly host: string | null;
  search(query: SearchQuery, signal: AbortSignal): Promise<FoundModel[]>;
  /** Pins a revision to a commit and lists its files.
   *  @throws DownloadError `not-found`, `gated`, `network` ... */
  repository(name: string, revision: string | null, signal: AbortSignal): Promise<Repository>;
  /** One file of a pinned repository, without asking the network: how a download goes on after a restart. */
  file(name: string, commit: string, entry: FileEntry): RemoteFile;
};

export type FileEntry = { name: string; size: number; sha256: string | null; etag: string | null };

export type SearchQuery = {
  text: string;
  limit: number;
  /** Leaves out what does not run here, as far as cards tell. */
  onlyRunning: boolean;
};

export type Repository = {
  source: SourceId;
  name: string;
  /** A commit hash: what was inspected is what is fetched. For an address without one, its validator. */
  commit: string;
  gated: boolean;
  files: RemoteFile[];
};
