import type { FoundModel, SourceId } from '../../protocol/index.ts';
import type { RemoteFile } from './remote-file.ts';

/** A source of models: a hub, a mirror of it, another hub, or a plain URL. */
export type Source = {
  readonly id: SourceId;
  /** The host that is contacted, for the Privacy page; null if nothing leaves this computer. */
  readonly host: string | null;
  search(query: SearchQuery, signal: AbortSignal): Promise<FoundModel[]>;
  /** Pins a revision to a commit and lists its files.
   *  @throws DownloadError `not-found`, `gated`, `network` ... */
  repository(name: string, revision: string | null, signal: AbortSignal): Promise<Repository>;
  /** A file of a pinned repository without a network request, to resume a download after a restart. */
  file(name: string, commit: string, entry: FileEntry): RemoteFile;
};

export type FileEntry = { name: string; size: number; sha256: string | null; etag: string | null };

export type SearchQuery = {
  text: string;
  limit: number;
  /** Omits models that are unsupported according to their cards. */
  onlyRunning: boolean;
};

export type Repository = {
  source: SourceId;
  name: string;
  /** A commit hash, so that exactly what was inspected is downloaded. For a plain URL, its validator. */
  commit: string;
  gated: boolean;
  files: RemoteFile[];
};
