import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

//  PDF files written by hand, so that a test knows where every word is: fonts have the widths given here, and the boxes of the
//  words follow from those alone, not from anything that reads PDF.

export type FontKind =
  /** One byte per character, WinAnsi; widths vary. */
  | 'sans'
  | 'mono'
  | 'bold'
  /** Two bytes per character, with a map to Unicode. */
  | 'cid'
  /** The same without the map, so that its text cannot be known. */
  | 'unmapped'
  /** Two bytes per character, written from top to bottom. */
  | 'vertical';

export type Text = {
  text: string;
  /** The origin of the first character, in points from the lower left corner. */
  x: number;
  y: number;
  size?: number;
  font?: FontKind;
  /** Degrees, counterclockwise. */
  angle?: number;
  charSpacing?: number;
  wordSpacing?: number;
  /** Percent. */
  stretch?: number;
  /** Each word has an operator of its own, with kerning between characters (TJ). */
  kerned?: boolean;
  /** Placed by moves from the corner of the page, one up and one down (Td), instead of by a matrix. */
  moved?: boolean;
};

export type Page = { texts: Text[]; width?: number; height?: number; rotate?: 0 | 90 | 180 | 270; picture?: boolean };
/** `password` opens the file (RC4, 40 bits; PDF 32000-1, 7.6.3). */
export type PdfOptions = { pages: Page[]; title?: string; password?: string };

/** Thousandths of an em. */
export function widthOf(font: FontKind, character: string): number {
  if (font === 'mono') return 600;
  if (font === 'vertical') return 1000;
  const code = character.codePointAt(0) ?? 0;
  if (code > 0x2e80) return 1000;
  if ("iljt.,:;!|'I".includes(character)) return font === 'bold' ? 300 : 240;
  if (character === ' ') return 260;
  if ('mwMW@'.includes(character)) return font === 'bold' ? 900 : 830;
  return (font === 'bold' ? 560 : 500) + (code % 7) * 12;
}

const KERN = 40;

export function makePdf({ pages, title, password }: PdfOptions): Buffer {
  const objects: string[] = [];
  const lock = password === undefined ? null : lockWith(password);
  const add = (body: string) => objects.push(body);
  const addStream = (entries: string, bytes: Buffer) =>
    add(stream(entries, lock ? lock.seal(bytes, objects.length + 1) : bytes));
  const ref = (number: number) => `${number} 0 R`;
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add('');
  const fonts = (['sans', 'mono', 'bold', 'cid', 'unmapped', 'vertical'] as const).map((kind) => {
    const used = new Set(
      pages
        .flatMap(({ texts }) => texts.filter((one) => (one.font ?? 'sans') === kind))
        .flatMap(({ text }) => [...text]),
    );
    return `/${kind} ${ref(addFont(kind, used, add, addStream))}`;
  });
  const picture = ref(
    addStream(
      '/Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 8',
      Buffer.alloc(64, 200),
    ),
  );
  const numbers = pages.map(({ texts, width = 595, height = 842, rotate = 0, picture: shown = false }) => {
    const drawn = texts.map(operatorsOf).join('\n') + (shown ? '\nq 300 0 0 400 100 200 cm /pic Do Q' : '');
    const content = addStream('/Filter /FlateDecode', deflateSync(Buffer.from(drawn, 'latin1')));
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Rotate ${rotate} /Contents ${ref(content)} ` +
        `/Resources << /Font << ${fonts.join(' ')} >> /XObject << /pic ${picture} >> >> >>`,
    );
  });
  objects[1] = `<< /Type /Pages /Count ${numbers.length} /Kids [${numbers.map(ref).join(' ')}] >>`;
  const info = title === undefined ? null : add(`<< /Title (${escaped(title)}) >>`);
  return written(objects, `${info ? `/Info ${ref(info)}` : ''} ${lock?.trailer ?? ''}`);
}

export function written(objects: readonly string[], trailer: string): Buffer {
  let text = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n';
  const offsets = objects.map((body, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  text += offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

export const stream = (entries: string, bytes: Buffer) =>
  `<< ${entries} /Length ${bytes.length} >>\nstream\n${bytes.toString('latin1')}\nendstream`;

const escaped = (text: string) => text.replace(/[\\()]/g, '\\$&');
const hex4 = (code: number) => code.toString(16).padStart(4, '0');
const isCid = (font: FontKind) => font === 'cid' || font === 'unmapped' || font === 'vertical';
/** Glyph numbers as in a real font: Latin letters from 3 on. */
const glyphOf = (character: string) => {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? code - 29 : code;
};

function addFont(
  kind: FontKind,
  used: ReadonlySet<string>,
  add: (body: string) => number,
  addStream: (entries: string, bytes: Buffer) => number,
): number {
  const bases = {
    sans: 'Helvetica',
    bold: 'Helvetica-Bold',
    mono: 'Courier',
    cid: 'Face',
    unmapped: 'Blind',
    vertical: 'Upright',
  };
  if (!isCid(kind)) {
    const widths = Array.from({ length: 224 }, (_, at) => widthOf(kind, String.fromCharCode(at + 32)));
    return add(
      `<< /Type /Font /Subtype /TrueType /BaseFont /${bases[kind]} /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 255 /Widths [${widths.join(' ')}] >>`,
    );
  }
  const descriptor = add(
    `<< /Type /FontDescriptor /FontName /${bases[kind]} /Flags 4 /FontBBox [0 -220 1000 800] /Ascent 800 /Descent -220 /ItalicAngle 0 /CapHeight 700 /StemV 80 >>`,
  );
  const widths = [...used].map((character) => `${glyphOf(character)} [${widthOf(kind, character)}]`).join(' ');
  const descendant = add(
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /${bases[kind]} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> ` +
      `/FontDescriptor ${descriptor} 0 R /DW 1000 /W [${widths}] >>`,
  );
  const map = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def 1 begincodespacerange <0000> <ffff> endcodespacerange\n${[
    ...used,
  ]
    .map(
      (one) =>
        `1 beginbfchar <${hex4(glyphOf(one))}> <${Buffer.from(one, 'utf16le').swap16().toString('hex')}> endbfchar`,
    )
    .join('\n')}\nendcmap end end`;
  const toUnicode = kind === 'unmapped' ? '' : `/ToUnicode ${addStream('', Buffer.from(map))} 0 R`;
  return add(
    `<< /Type /Font /Subtype /Type0 /BaseFont /${bases[kind]} /Encoding /Identity-${kind === 'vertical' ? 'V' : 'H'} /DescendantFonts [${descendant} 0 R] ${toUnicode} >>`,
  );
}

function operatorsOf(one: Text): string {
  const {
    text,
    x,
    y,
    size = 11,
    font = 'sans',
    angle = 0,
    charSpacing = 0,
    wordSpacing = 0,
    stretch = 100,
    kerned,
    moved,
  } = one;
  const turn = (angle * Math.PI) / 180;
  const matrix = [Math.cos(turn), Math.sin(turn), -Math.sin(turn), Math.cos(turn), moved ? 0 : x, moved ? 0 : y]
    .map((value) => value.toFixed(5))
    .join(' ');
  const moves = moved ? ` ${x} ${y + size} Td 0 ${-size} Td` : '';
  const state = `/${font} ${size} Tf ${charSpacing} Tc ${wordSpacing} Tw ${stretch} Tz ${matrix} Tm${moves}`;
  const coded = (part: string) =>
    isCid(font) ? `<${[...part].map((one) => hex4(glyphOf(one))).join('')}>` : `(${escaped(part)})`;
  const shown = kerned ? `[${[...text].map((one) => `${coded(one)} ${KERN}`).join(' ')}] TJ` : `${coded(text)} Tj`;
  return `BT ${state} ${shown} ET`;
}

const PAD = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');
const md5 = (...parts: Uint8Array[]) => createHash('md5').update(Buffer.concat(parts)).digest();

function rc4(key: Uint8Array, bytes: Uint8Array): Buffer {
  const box = Array.from({ length: 256 }, (_, at) => at);
  const swap = (a: number, b: number) => {
    [box[a], box[b]] = [box[b] ?? 0, box[a] ?? 0];
  };
  for (let at = 0, other = 0; at < 256; at++) {
    other = (other + (box[at] ?? 0) + (key[at % key.length] ?? 0)) % 256;
    swap(at, other);
  }
  let [i, j] = [0, 0];
  return Buffer.from(bytes).map((byte) => {
    i = (i + 1) % 256;
    j = (j + (box[i] ?? 0)) % 256;
    swap(i, j);
    return byte ^ (box[((box[i] ?? 0) + (box[j] ?? 0)) % 256] ?? 0);
  }) as Buffer;
}

function lockWith(password: string) {
  const padded = Buffer.concat([Buffer.from(password, 'latin1'), PAD]).subarray(0, 32);
  const id = Buffer.alloc(16, 7);
  const owner = rc4(md5(padded).subarray(0, 5), padded);
  const key = md5(padded, owner, Buffer.from([0xfc, 0xff, 0xff, 0xff]), id).subarray(0, 5);
  const hex = (bytes: Buffer) => `<${bytes.toString('hex')}>`;
  return {
    seal: (bytes: Buffer, object: number) =>
      rc4(md5(key, Buffer.from([object & 255, object >> 8, 0, 0, 0])).subarray(0, 10), bytes),
    trailer: `/ID [${hex(id)} ${hex(id)}] /Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O ${hex(owner)} /U ${hex(rc4(key, PAD))} >>`,
  };
}

export type WordBox = { text: string; page: number; box: [number, number, number, number] };

/** The boxes of the words of a page as shown: [x, y, width, height] from the upper left corner. */
export function wordBoxes(page: Page, number: number): WordBox[] {
  return page.texts
    .filter(({ font }) => font !== 'vertical' && font !== 'unmapped')
    .flatMap((text) => boxesOf(text, page, number));
}

function boxesOf(one: Text, page: Page, number: number): WordBox[] {
  const { text, size = 11, font = 'sans', charSpacing = 0, wordSpacing = 0, stretch = 100, kerned } = one;
  const words: WordBox[] = [];
  let pen = 0;
  let open = null as { text: string; from: number; to: number } | null;
  const close = () => {
    if (open) words.push({ text: open.text, page: number, box: shownBox(one, page, open.from, open.to, size) });
    open = null;
  };
  for (const character of text) {
    const width = (widthOf(font, character) / 1000) * size * (stretch / 100);
    // Word spacing applies only to the one-byte space (PDF 32000-1, 9.3.3).
    const spacing = charSpacing + (character === ' ' && !isCid(font) ? wordSpacing : 0);
    if (character === ' ') close();
    else open = { text: (open?.text ?? '') + character, from: open?.from ?? pen, to: pen + width };
    pen += width + (spacing - (kerned ? (KERN / 1000) * size : 0)) * (stretch / 100);
  }
  close();
  return words;
}

function shownBox({ x, y, angle = 0 }: Text, page: Page, from: number, to: number, size: number): WordBox['box'] {
  const { width = 595, height = 842, rotate = 0 } = page;
  const turn = (angle * Math.PI) / 180;
  const corners = [from, to].flatMap((along) =>
    [0, size * 0.7].map((up): [number, number] => {
      const px = x + along * Math.cos(turn) - up * Math.sin(turn);
      const py = y + along * Math.sin(turn) + up * Math.cos(turn);
      if (rotate === 90) return [py, px];
      if (rotate === 180) return [width - px, py];
      if (rotate === 270) return [height - py, width - px];
      return [px, height - py];
    }),
  );
  const xs = corners.map(([one]) => one);
  const ys = corners.map(([, one]) => one);
  const left = Math.min(...xs);
  const top = Math.min(...ys);
  return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
}
