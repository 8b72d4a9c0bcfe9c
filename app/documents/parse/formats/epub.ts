import { posix } from 'node:path';
import { LonghandError } from '../../../protocol/errors.ts';
import type { Reader } from '../../element.ts';
import { type Archive, withArchive } from './archive.ts';
import { piecesOfHtml } from './html.ts';
import { titleOf } from './office.ts';
import { walkXml } from './xml.ts';

//  EPUB 2 and 3: the chapters in the order of the spine.

export const readEpub: Reader = (source, sink) =>
  withArchive(source, async (archive) => {
    const book = await bookOf(archive);
    const chapters = await spineOf(archive, book);
    if (await isLocked(archive, chapters)) {
      throw new LonghandError(
        'unreadable',
        `[documents] ${source.fileName} is protected by its seller and cannot be read`,
      );
    }
    for (const [at, part] of chapters.entries()) {
      for (const piece of piecesOfHtml(await archive.text(part)).pieces) await sink.add(piece);
      sink.progress('file', at + 1, chapters.length);
    }
    return { title: await titleOf(archive, book), pages: chapters.length };
  });

async function bookOf(archive: Archive): Promise<string> {
  let path = '';
  await walkXml([(await archive.find('META-INF/container.xml')) ?? ''], {
    open(name, attributes) {
      if (name === 'rootfile' && path === '') path = attributes['full-path'] ?? '';
    },
  });
  const found = archive.has(path) ? path : archive.names.find((name) => name.endsWith('.opf'));
  if (found === undefined) throw new LonghandError('unreadable', '[documents] the book does not list its chapters');
  return found;
}

async function spineOf(archive: Archive, book: string): Promise<string[]> {
  const items = new Map<string, string>();
  const spine: string[] = [];
  await walkXml([await archive.text(book)], {
    open(name, { id = '', href = '', idref = '' }) {
      if (name === 'item') items.set(id, posix.join(posix.dirname(book), unescaped(href.split('#')[0] ?? '')));
      else if (name === 'itemref') spine.push(idref);
    },
  });
  // A chapter is parsed once, however often the spine lists it.
  return [...new Set(spine.map((id) => items.get(id) ?? ''))].filter((part) => archive.has(part));
}

function unescaped(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}

/** Fonts are often obfuscated even in free books; chapters are encrypted only with DRM. */
async function isLocked(archive: Archive, chapters: readonly string[]): Promise<boolean> {
  let locked = false;
  const named = new Set(chapters);
  await walkXml([(await archive.find('META-INF/encryption.xml')) ?? ''], {
    open(name, { URI = '' }) {
      if (name === 'CipherReference' && named.has(unescaped(URI))) locked = true;
    },
  });
  return locked;
}
