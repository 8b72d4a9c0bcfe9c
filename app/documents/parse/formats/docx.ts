import { CELL_SEPARATOR, type Element, type Reader, row } from '../../element.ts';
import { type Archive, withArchive } from './archive.ts';
import { isOn, mainPart, relationsOf, titleOf } from './office.ts';
import { attribute, walkXml } from './xml.ts';

//  Word (ECMA-376, part 1, 17). Tracked changes as if accepted: insertions are included, deletions are
//  not. Hidden text is skipped.

export const readDocx: Reader = (source, sink) =>
  withArchive(source, async (archive) => {
    const main = await mainPart(archive, 'word/document.xml');
    const relations = [...(await relationsOf(archive, main)).values()];
    const partOf = (type: string) => relations.find((one) => one.type === type && archive.has(one.part))?.part;
    const levels = await headingLevels(archive, partOf('styles'));
    let title: string | null = await titleOf(archive);
    const found: { changes: boolean; hidden: boolean } = { changes: false, hidden: false };
    for (const part of [main, partOf('footnotes'), partOf('endnotes')]) {
      if (part === undefined) continue;
      const ready: Element[] = [];
      await walkXml(archive.chunks(part), {
        ...bodyVisitor(levels, (piece) => ready.push(piece), found),
        async pause() {
          for (const piece of ready.splice(0)) {
            if (title === null && piece.kind === 'heading' && piece.level === 1) title = piece.text;
            await sink.add(piece);
          }
        },
      });
    }
    if (found.changes) sink.notice('tracked-changes');
    if (found.hidden) sink.notice('hidden-text');
    if (partOf('comments')) sink.notice('comments');
    return { title, pages: null };
  });

/** Styles that are headings, by id: by their outline level or their name, their own or that of the style they extend. */
async function headingLevels(archive: Archive, part: string | undefined): Promise<Map<string, number>> {
  const own = new Map<string, { level: number | null; based: string | null }>();
  const text = part === undefined ? null : await archive.find(part);
  let style: string | null = null;
  await walkXml(text === null ? [] : [text], {
    open(name, attributes) {
      const value = attribute(attributes, 'val') ?? '';
      if (name === 'style') {
        style = attribute(attributes, 'styleId') ?? null;
        if (style !== null) own.set(style, { level: null, based: null });
      }
      const entry = style === null ? undefined : own.get(style);
      if (!entry) return;
      const named = name === 'name' ? value.match(/^heading (\d)$/i) : null;
      if (named) entry.level = Number(named[1]);
      else if (name === 'name' && /^title$/i.test(value)) entry.level = 1;
      else if (name === 'outlineLvl' && Number(value) < 6) entry.level ??= Number(value) + 1;
      else if (name === 'basedOn') entry.based = value;
    },
    close(name) {
      if (name === 'style') style = null;
    },
  });
  const levelOf = (id: string, depth = 0): number | null => {
    const entry = own.get(id);
    if (!entry || depth > 10) return null;
    return entry.level ?? (entry.based === null ? null : levelOf(entry.based, depth + 1));
  };
  return new Map([...own.keys()].flatMap((id) => (levelOf(id) === null ? [] : [[id, levelOf(id) as number] as const])));
}

type Paragraph = { text: string; level: number | null; item: boolean };

/** Elements without text of the document. */
const SKIPPED = new Set(['del', 'moveFrom', 'Fallback', 'instrText', 'delText', 'pict', 'footnotePr', 'sectPr']);

function bodyVisitor(
  levels: ReadonlyMap<string, number>,
  add: (piece: Element) => void,
  found: { changes: boolean; hidden: boolean },
) {
  const paragraphs: Paragraph[] = [];
  /** Open tables; a table inside a cell becomes text of that cell. */
  const tables: { rows: number; cells: string[]; cell: string }[] = [];
  let skipping = 0;
  let inText = false;
  let runHidden = false;

  function endParagraph({ text, level, item }: Paragraph) {
    const trimmed = text.trim();
    const table = tables.at(-1);
    const outer = paragraphs.at(-1);
    if (table) table.cell += (table.cell && trimmed ? '\n' : '') + trimmed;
    else if (outer) outer.text += (outer.text && trimmed ? '\n' : '') + trimmed;
    else if (trimmed !== '' && level !== null) add({ kind: 'heading', level, text: trimmed, where: { kind: 'block' } });
    else if (trimmed !== '') add({ kind: item ? 'item' : 'paragraph', text: trimmed, where: { kind: 'block' } });
  }

  function endRow() {
    const table = tables.at(-1);
    if (!table) return;
    const cells = table.cells.map((cell) => cell.replace(/\s+/g, ' ').trim());
    table.cells = [];
    const outer = tables.at(-2);
    if (outer) outer.cell += (outer.cell ? '\n' : '') + cells.join(CELL_SEPARATOR);
    else if (cells.some((cell) => cell !== '')) add(row(cells, { kind: 'block' }, table.rows++ === 0));
  }

  return {
    open(name: string, attributes: Readonly<Record<string, string>>) {
      if (skipping > 0 || SKIPPED.has(name)) {
        skipping++;
        if (name === 'del' || name === 'moveFrom') found.changes = true;
        return;
      }
      const paragraph = paragraphs.at(-1);
      if (name === 'p') paragraphs.push({ text: '', level: null, item: false });
      else if (name === 'ins') found.changes = true;
      else if (name === 'pStyle' && paragraph) paragraph.level = levels.get(attribute(attributes, 'val') ?? '') ?? null;
      else if (name === 'outlineLvl' && paragraph) {
        const level = Number(attribute(attributes, 'val'));
        if (level < 6) paragraph.level = level + 1;
      } else if (name === 'numPr' && paragraph) paragraph.item = true;
      else if (name === 'r') runHidden = false;
      else if (name === 'vanish' && isOn(attributes)) runHidden = true;
      else if (name === 't') inText = true;
      else if (name === 'tab' && paragraph && paragraph.text !== '') paragraph.text += '\t';
      else if ((name === 'br' || name === 'cr') && paragraph) paragraph.text += '\n';
      else if (name === 'noBreakHyphen' && paragraph) paragraph.text += '-';
      else if (name === 'tbl') tables.push({ rows: 0, cells: [], cell: '' });
      else if (name === 'tc' && tables.length > 0) (tables.at(-1) as { cell: string }).cell = '';
    },
    text(text: string) {
      const paragraph = paragraphs.at(-1);
      if (!inText || skipping > 0 || !paragraph) return;
      if (runHidden) found.hidden = true;
      else paragraph.text += text;
    },
    close(name: string) {
      if (skipping > 0) {
        skipping--;
        return;
      }
      const paragraph = name === 'p' ? paragraphs.pop() : undefined;
      if (paragraph) endParagraph(paragraph);
      else if (name === 't') inText = false;
      else if (name === 'tc') {
        const table = tables.at(-1);
        if (table) table.cells.push(table.cell);
      } else if (name === 'tr') endRow();
      else if (name === 'tbl') tables.pop();
    },
  };
}
