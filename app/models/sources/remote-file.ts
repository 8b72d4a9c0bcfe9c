import type { Address } from '../network/address.ts';
import type { Bytes } from '../network/download-error.ts';

/** One file of a repository, as its source describes it. */
export type RemoteFile = {
  /** Stable across runs: `<source>:<repository>@<commit>/<path>`. */
  key: string;
  /** Path inside the repository, checked by `safePath`. */
  name: string;
  size: Bytes;
  /** The hub's SHA-256 in hex; null where the source publishes none (then the hash is recorded, not compared). */
  sha256: string | null;
  /** Validator of the content; null until the first answer tells it. */
  etag: string | null;
  /** A fresh address: signed ones expire. */
  address: () => Promise<Address>;
};
