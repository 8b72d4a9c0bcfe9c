import type { Readable } from 'node:stream';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { LonghandError } from '../../../protocol/errors.ts';
import type { Source } from '../../element.ts';

//  Archives (office files, books) are unpacked entry by entry as they are read, never to disk and never as a whole. What an
//  archive declares about its sizes may refuse it before anything is unpacked, but is not trusted otherwise: actual bytes are counted.

/** Maximum unpacked bytes of an archive. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Maximum bytes of an entry that is read as one text. */
const MAX_TEXT = 128 * 1024 * 1024;
/** Text compresses 20-fold at best; a bomb a thousand-fold. Small ones are harmless. */
const MAX_RATIO = 200;
const HARMLESS = 16 * 1024 * 1024;
/** The same for all entries together: many small bombs are a large one. */
const MAX_TOTAL_RATIO = 100;
const HARMLESS_OF_ALL = 64 * 1024 * 1024;
const MAX_ENTRIES = 50_000;

export type Archive = {
  names: readonly string[];
  has(name: string): boolean;
  /** Decoded as UTF-8 (or by its mark), piece by piece. @throws LonghandError `too-large`, `unreadable` */
  chunks(name: string): AsyncGenerator<string>;
  text(name: string): Promise<string>;
  /** `text`, or null where there is no such entry. */
  find(name: string): Promise<string | null>;
};

/** Opens an archive for `work` and closes it after it. */
export async function withArchive<T>(source: Source, work: (archive: Archive) => Promise<T>): Promise<T> {
  const damaged = (error: unknown) =>
    error instanceof LonghandError
      ? error
      : new LonghandError(
          'unreadable',
          `[documents] ${source.fileName} is damaged: ${error instanceof Error ? error.message : String(error)}`,
        );
  const zip = await openPromise(source.path, { lazyEntries: true, autoClose: false }).catch((error) => {
    throw damaged(error);
  });
  try {
    const entries = await entriesOf(zip, source);
    demandPlausible([...entries.values()], source);
    return await work(archiveOf(zip, entries, source));
  } catch (error) {
    throw damaged(error);
  } finally {
    zip.close();
  }
}

/** Checks declared sizes. @throws LonghandError `too-large` */
function demandPlausible(entries: readonly Entry[], { fileName, bytes }: Source) {
  const total = (sizes: number[]) => sizes.reduce((sum, size) => sum + size, 0);
  const packed = total(entries.map(({ compressedSize }) => compressedSize));
  const unpacked = total(entries.map(({ uncompressedSize }) => uncompressedSize));
  const mega = (size: number) => `${Math.round(size / 1e6)} MB`;
  if (packed > bytes) {
    // Several entries share the same bytes.
    throw new LonghandError(
      'too-large',
      `[documents] the entries of ${fileName} overlap: ${mega(packed)} of them in a file of ${mega(bytes)}`,
    );
  }
  const worst = entries.find((one) => isBomb(one.uncompressedSize, one.compressedSize));
  if (worst) {
    const said = `unpacks ${worst.fileName.slice(0, 100)} to ${mega(worst.uncompressedSize)} from ${worst.compressedSize} bytes`;
    throw new LonghandError('too-large', `[documents] ${fileName} ${said}`);
  }
  if (unpacked > HARMLESS_OF_ALL && unpacked > bytes * MAX_TOTAL_RATIO) {
    throw new LonghandError('too-large', `[documents] ${fileName} unpacks to ${mega(unpacked)} from ${bytes} bytes`);
  }
}

const isBomb = (unpacked: number, packed: number) => unpacked > HARMLESS && unpacked > packed * MAX_RATIO;

function entriesOf(zip: ZipFile, source: Source): Promise<Map<string, Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on('error', reject);
    zip.on('end', () => resolve(entries));
    zip.on('entry', (entry: Entry) => {
      if (entries.size >= MAX_ENTRIES) {
        reject(new LonghandError('too-large', `[documents] ${source.fileName} has more than ${MAX_ENTRIES} entries`));
        return;
      }
      entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.readEntry();
  });
}

function archiveOf(zip: ZipFile, entries: ReadonlyMap<string, Entry>, source: Source): Archive {
  let unpacked = 0;

  async function* chunks(name: string): AsyncGenerator<string> {
    const entry = entries.get(name);
    if (!entry) throw new LonghandError('unreadable', `[documents] ${source.fileName} has no part ${name}`);
    if (entry.isEncrypted()) throw new LonghandError('unreadable', `[documents] ${source.fileName} is encrypted`);
    const stream = await openEntry(zip, entry);
    const decoder = new TextDecoder(await markOf(stream));
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      unpacked += chunk.length;
      if (isBomb(bytes, entry.compressedSize) || unpacked > MAX_BYTES) {
        stream.destroy();
        throw new LonghandError(
          'too-large',
          `[documents] ${source.fileName} unpacks ${name} to more than ${Math.round(bytes / 1e6)} MB from ${entry.compressedSize} bytes`,
        );
      }
      yield decoder.decode(chunk, { stream: true });
    }
    yield decoder.decode();
  }

  async function text(name: string): Promise<string> {
    let whole = '';
    for await (const chunk of chunks(name)) {
      whole += chunk;
      if (whole.length > MAX_TEXT) {
        throw new LonghandError('too-large', `[documents] the part ${name} of ${source.fileName} is too long`);
      }
    }
    return whole;
  }

  return {
    names: [...entries.keys()],
    has: (name) => entries.has(name),
    chunks,
    text,
    find: async (name) => (entries.has(name) ? text(name) : null),
  };
}

const openEntry = (zip: ZipFile, entry: Entry): Promise<Readable> =>
  new Promise((resolve, reject) =>
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream))),
  );

/** XML may be UTF-16, with a mark then. */
async function markOf(stream: Readable): Promise<string> {
  for (;;) {
    const head = stream.read(2) as Buffer | null;
    if (head) {
      stream.unshift(head);
      return head[0] === 0xff && head[1] === 0xfe
        ? 'utf-16le'
        : head[0] === 0xfe && head[1] === 0xff
          ? 'utf-16be'
          : 'utf-8';
    }
    if (stream.readableEnded || stream.destroyed || stream.readableLength > 0) return 'utf-8';
    await new Promise<void>((next, reject) => {
      stream.once('readable', next);
      stream.once('end', next);
      stream.once('error', reject);
    });
  }
}
