import type { Address } from '../network/address.ts';
import type { Bytes } from '../network/download-error.ts';

/** A file of a repository as described by its source. */
export type RemoteFile = {
  /** Stable across runs: `<source>:<repository>@<commit>/<path>`. */
  key: string;
  /** Path inside the repository, checked by `safePath`. */
  name: string;
  size: Bytes;
  /** The hub's SHA-256 in hex; null if the source publishes none (then the hash is recorded, not compared). */
  sha256: string | null;
  /** Validator of the content; null until the first response. */
  etag: string | null;
  /** A fresh URL: signed ones expire. */
  address: () => Promise<Address>;
};
