import { readFile } from 'node:fs/promises';
import { Parser } from 'htmlparser2';
import { LonghandError } from '../../../protocol/errors.ts';
import { type Element, type Reader, row, type Sink } from '../../element.ts';
import { decodeText } from './decode.ts';

//  Extracts the text of HTML. The parser runs no scripts, applies no styles and fetches nothing.

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 2000;

export const readHtml: Reader = async (source, sink) => {
  if (source.bytes > MAX_BYTES) {
    throw new LonghandError(
      'too-large',
      `[documents] ${source.fileName} has ${source.bytes} bytes, at most ${MAX_BYTES} are read as HTML`,
    );
  }
  const { title, pieces } = piecesOfHtml(textOfHtml(await readFile(source.path), source.fileName, sink));
  for (const piece of pieces) await sink.add(piece);
  return { title, pages: null };
};

/** Decodes by byte order mark, or else by the declared charset. */
function textOfHtml(bytes: Buffer, fileName: string, sink: Sink): string {
  const said = bytes
    .subarray(0, 2048)
    .toString('latin1')
    .match(/<meta[^>]+charset\s*=\s*["']?([\w-]+)/i)?.[1];
  const marked = bytes[0] === 0xef || bytes[0] === 0xff || bytes[0] === 0xfe;
  if (said && !marked && !/^utf-?8$/i.test(said)) {
    try {
      return new TextDecoder(said).decode(bytes);
    } catch {
      // unknown encoding
    }
  }
  return decodeText(bytes, fileName, sink);
}

const LEFT_OUT = new Set(
  'script style noscript template svg math head iframe object audio video canvas select button nav dialog textarea'.split(
    ' ',
  ),
);
const BLOCKS = new Set(
  `address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  header hr html legend li main ol p pre section summary table tbody tfoot thead tr ul caption`.split(/\s+/),
);
const CELLS = new Set(['td', 'th']);

type Kind = Pick<Element, 'kind' | 'level'>;
/** `kind`: of its text. */
type Open = { name: string; hidden: boolean; kind: Kind };
const PARAGRAPH: Kind = { kind: 'paragraph' };

/** Blocks in the order of the page, with the title of its head. */
export function piecesOfHtml(html: string): { title: string | null; pieces: Element[] } {
  const pieces: Element[] = [];
  const open: Open[] = [];
  let text = '';
  let title = '';
  let hidden = 0;
  let titled = false;
  let rows = 0;
  /** Cells of the outermost open row; a table inside a cell becomes text of that cell. */
  let cells: string[] | null = null;

  /** Number of open elements by name. */
  const depths = new Map<string, number>();
  const inside = (name: string) => (depths.get(name) ?? 0) > 0;

  function flush() {
    // White space of a cell is normalised once, at its end.
    if (cells) {
      text += ' ';
      return;
    }
    const said = inside('pre') ? text.replace(/^\n+/, '').trimEnd() : text.replace(/[\s\u00a0]+/g, ' ').trim();
    text = '';
    if (said === '') return;
    pieces.push({ ...(open.at(-1)?.kind ?? PARAGRAPH), text: said, where: { kind: 'block' } });
  }

  function endCell() {
    cells?.push(text.replace(/\s+/g, ' ').trim());
    text = '';
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (open.length > MAX_DEPTH) {
          throw new LonghandError('unreadable', `[documents] elements are nested more than ${MAX_DEPTH} deep`);
        }
        if (name === 'title' && !inside('svg') && title === '') titled = true;
        const unseen = LEFT_OUT.has(name) || isHidden(attributes);
        if (hidden === 0 && BLOCKS.has(name)) flush();
        if (name === 'br') text += inside('pre') ? '\n' : ' ';
        if (name === 'img' && hidden === 0 && attributes.alt) text += ` ${attributes.alt} `;
        if (name === 'table' && cells === null) rows = 0;
        if (name === 'tr' && cells === null && hidden === 0) cells = [];
        open.push({ name, hidden: unseen, kind: kindOfElement(name) ?? open.at(-1)?.kind ?? PARAGRAPH });
        depths.set(name, (depths.get(name) ?? 0) + 1);
        if (unseen) hidden++;
      },
      ontext(piece) {
        if (titled) title += piece;
        else if (hidden === 0) text += piece;
      },
      onclosetag(name) {
        if (name === 'title') titled = false;
        const nested = (depths.get('tr') ?? 0) > 1;
        if (hidden === 0 && CELLS.has(name) && !nested) endCell();
        else if (hidden === 0 && name === 'tr' && cells && !nested) {
          if (text.trim() !== '') endCell();
          if (cells.some((cell) => cell !== '')) pieces.push(row(cells, { kind: 'block' }, rows++ === 0));
          cells = null;
        } else if (hidden === 0 && (BLOCKS.has(name) || CELLS.has(name))) flush();
        const closed = open.pop();
        if (!closed) return;
        depths.set(closed.name, (depths.get(closed.name) ?? 0) - 1);
        if (closed.hidden) hidden--;
      },
    },
    { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
  );
  parser.write(html);
  parser.end();
  cells = null;
  flush();
  const named = title.replace(/\s+/g, ' ').trim();
  return { title: named === '' ? null : named, pieces };
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  const { hidden, style = '' } = attributes;
  return (
    hidden !== undefined ||
    attributes['aria-hidden'] === 'true' ||
    /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style)
  );
}

/** The kind of text in an element; null: inherited. */
function kindOfElement(name: string): Kind | null {
  if (/^h[1-6]$/.test(name)) return { kind: 'heading', level: Number(name[1]) };
  if (name === 'pre') return { kind: 'code' };
  if (name === 'li' || name === 'dd' || name === 'dt') return { kind: 'item' };
  return name === 'blockquote' ? { kind: 'quote' } : null;
}
