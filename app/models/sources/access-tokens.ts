import { rmSync } from 'node:fs';
import { z } from 'zod';
import { LonghandError, SourceId } from '../../protocol/index.ts';
import { readRegularSync } from '../../store/folder/open-regular.ts';
import { type Cipher, replacePrivate } from '../../store/folder/private-file.ts';

//  Access tokens of sources. With a keychain (Electron's safeStorage, passed in by the shell) the file contains the token
//  encrypted; without one it contains the token itself, readable by the owner only. Nothing here is ever logged.

export type AccessTokens = {
  readonly storedIn: 'keychain' | 'file';
  sources(): SourceId[];
  read(source: SourceId): Promise<string | null>;
  write(source: SourceId, token: string | null): Promise<void>;
};

/** A token has about forty characters, encrypted a few hundred. */
const MAX_BYTES = 64 * 1024;

const Stored = z.partialRecord(SourceId, z.object({ sealed: z.boolean(), text: z.string() }));

export function createAccessTokens(file: string, cipher: Cipher | null): AccessTokens {
  const load = (): z.infer<typeof Stored> => {
    try {
      return Stored.parse(JSON.parse(readRegularSync(file, MAX_BYTES).toString()));
    } catch {
      return {}; // none yet, or damaged: the user is asked again
    }
  };
  return {
    storedIn: cipher ? 'keychain' : 'file',
    sources: () => SourceId.options.filter((source) => load()[source] !== undefined),
    async read(source) {
      const entry = load()[source];
      if (!entry) return null;
      if (!entry.sealed) return entry.text;
      return cipher ? cipher.open(entry.text).catch(() => null) : null;
    },
    async write(source, token) {
      const text = token?.trim() ?? '';
      if (/[^\x21-\x7e]/.test(text)) {
        throw new LonghandError(
          'bad-request',
          '[tokens] contains a character that no token has; expected letters, digits and signs',
        );
      }
      const sealed = cipher && text !== '' ? await cipher.seal(text) : null;
      // Read after all awaits: another token may have been written in the meantime.
      const stored = load();
      if (text === '') delete stored[source];
      else stored[source] = sealed === null ? { sealed: false, text } : { sealed: true, text: sealed };
      if (Object.keys(stored).length === 0) rmSync(file, { force: true });
      else replacePrivate(file, JSON.stringify(stored));
    },
  };
}
