import { type Element, type Reader, row } from '../../element.ts';
import { type Archive, withArchive } from './archive.ts';
import { mainPart, relationsOf, titleOf } from './office.ts';
import { attribute, walkXml } from './xml.ts';

//  PowerPoint (ECMA-376, part 1, 19): slides in order, shapes by position, then the notes.

export const readPptx: Reader = (source, sink) =>
  withArchive(source, async (archive) => {
    const main = await mainPart(archive, 'ppt/presentation.xml');
    const slides = await slidesOf(archive, main);
    for (const [at, part] of slides.entries()) {
      const slide = at + 1;
      const pieces = await piecesOf(archive, part, slide);
      const title = pieces.find(({ kind }) => kind === 'heading')?.text;
      await sink.add({ kind: 'slide', text: title ?? `Slide ${slide}`, where: { kind: 'slide', slide } });
      for (const piece of pieces) if (piece.kind !== 'heading') await sink.add(piece);
      for (const piece of await notesOf(archive, part, slide)) await sink.add(piece);
      sink.progress('file', slide, slides.length);
    }
    return { title: await titleOf(archive), pages: slides.length };
  });

async function slidesOf(archive: Archive, main: string): Promise<string[]> {
  const relations = await relationsOf(archive, main);
  const ids: string[] = [];
  await walkXml(archive.chunks(main), {
    open(name, attributes) {
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1];
      if (name === 'sldId' && id) ids.push(id);
    },
  });
  // A slide is parsed once, however often it is listed.
  return [...new Set(ids.map((id) => relations.get(id)?.part ?? ''))].filter((part) => archive.has(part));
}

async function notesOf(archive: Archive, slidePart: string, slide: number): Promise<Element[]> {
  const notes = [...(await relationsOf(archive, slidePart)).values()].find(({ type }) => type === 'notesSlide');
  if (!notes || !archive.has(notes.part)) return [];
  const pieces = await piecesOf(archive, notes.part, slide);
  return pieces.map((piece) => ({ ...piece, kind: piece.kind === 'row' ? 'row' : 'quote' }));
}

/** Placeholders repeated on every slide: number, date, header, footer, and the slide image in the notes. */
const REPEATED = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);

async function piecesOf(archive: Archive, part: string, slide: number): Promise<Element[]> {
  const pieces: Element[] = [];
  let holder = '';
  let text = '';
  let inText = false;
  let cells: string[] | null = null;
  let rows = 0;
  const where = { kind: 'slide', slide } as const;

  function endParagraph() {
    const said = text.trim();
    text = '';
    if (said === '' || REPEATED.has(holder)) return;
    const title = holder === 'title' || holder === 'ctrTitle';
    const last = pieces.at(-1);
    // A title over two lines is one.
    if (title && last?.kind === 'heading') last.text += ` ${said}`;
    else if (title) pieces.push({ kind: 'heading', level: 1, text: said, where });
    else pieces.push({ kind: holder === 'body' || holder === '' ? 'item' : 'paragraph', text: said, where });
  }

  await walkXml(archive.chunks(part), {
    open(name, attributes) {
      if (name === 'sp') holder = 'shape';
      else if (name === 'ph') holder = attribute(attributes, 'type') ?? 'body';
      else if (name === 't') inText = true;
      else if (name === 'br') text += '\n';
      else if (name === 'tbl') rows = 0;
      else if (name === 'tr') cells = [];
    },
    text(piece) {
      if (inText) text += piece;
    },
    close(name) {
      if (name === 't') inText = false;
      else if (name === 'p' && cells === null) endParagraph();
      else if (name === 'p') text += ' ';
      else if (name === 'tc') {
        cells?.push(text.replace(/\s+/g, ' ').trim());
        text = '';
      } else if (name === 'tr' && cells) {
        if (cells.some((cell) => cell !== '')) pieces.push(row(cells, where, rows++ === 0));
        cells = null;
      }
    },
  });
  return pieces;
}
