import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { LonghandError, type PromptCacheProtection } from '../../protocol/index.ts';
import { readRegularSync } from '../../store/folder/open-regular.ts';
import { type Cipher, replacePrivate } from '../../store/folder/private-file.ts';

//  The key that encrypts the prompt cache on disk: random, sealed by the system's keychain, in a private file. Without a
//  keychain there is none, and the cache is only private. A key that the keychain does not give back stays where it is,
//  as does what it encrypted, until the user clears the cache. The key is never logged, and never sent to a page.

export type PromptCacheKey = {
  /** What the disk cache is to encrypt with; `key: null`: nothing. Null if it cannot be used, or not yet. */
  current(): { key: string | null } | null;
  /** Asks the keychain once, and makes a key if there is none. Never rejects. */
  open(): Promise<PromptCacheProtection>;
  /** Deletes the key: what it encrypted can never be read again. */
  forget(): void;
};

type State = { protection: PromptCacheProtection; key: string | null };

const PRIVATE: State = { protection: 'private', key: null };
const LOCKED: State = { protection: 'locked', key: null };

/** Sealed, a key has a few hundred characters. */
const MAX_BYTES = 64 * 1024;
const KEY_BYTES = 32;

export function createPromptCacheKey(file: string, cipher: Cipher | null): PromptCacheKey {
  /** What is known without asking a keychain. */
  const atOnce = (): State | null => (cipher ? null : sealedIn(file) === null ? PRIVATE : LOCKED);
  let state = atOnce();
  let opening: Promise<State> | null = null;

  async function ask({ seal, open }: Cipher, isWanted: () => boolean): Promise<State> {
    try {
      const sealed = sealedIn(file);
      if (sealed !== null) {
        const key = await open(sealed);
        return Buffer.from(key, 'base64').length === KEY_BYTES ? { protection: 'encrypted', key } : LOCKED;
      }
      const key = randomBytes(KEY_BYTES).toString('base64');
      const text = await seal(key);
      if (isWanted()) replacePrivate(file, text);
      return { protection: 'encrypted', key };
    } catch {
      return LOCKED; // the keychain refused, or the key cannot be kept: without it nothing would be read again
    }
  }

  function begin(keychain: Cipher): Promise<State> {
    const mine = ask(keychain, () => opening === mine);
    return mine;
  }

  return {
    current: () => (state === null || state.protection === 'locked' ? null : { key: state.key }),
    async open() {
      if (!cipher) return (state ?? LOCKED).protection;
      opening ??= begin(cipher);
      const mine = opening;
      const found = await mine;
      if (opening === mine) state = found;
      return found.protection;
    },
    forget() {
      try {
        rmSync(file, { recursive: true, force: true });
      } catch {
        // It stays, and so does what it encrypted.
      }
      opening = null;
      state = atOnce();
    },
  };
}

/** Null if there is no key; one that cannot be read is no text that a keychain gives anything for. */
function sealedIn(file: string): string | null {
  try {
    return readRegularSync(file, MAX_BYTES).toString();
  } catch (error) {
    return error instanceof LonghandError && error.code === 'not-found' ? null : '';
  }
}
