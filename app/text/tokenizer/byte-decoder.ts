/** The UTF-8 bytes of an id, empty for unused ids. */
export type ByteMap = {
  of(id: number): Uint8Array;
  /** The first token of a text starts with a space added by the tokenizer. */
  readonly dropFirstSpace: boolean;
};

type Style = 'bytes' | 'pieces' | 'words';
const NOTHING = new Uint8Array(0);
const utf8 = new TextEncoder();

/** Three encodings of token text: GPT-2's printable bytes, SentencePiece's ▁ and <0xXX>, BERT's ##. */
export function bytesOfTokens(
  vocabulary: readonly (string | undefined)[],
  json: { decoder?: unknown; model: { type?: string | null | undefined } },
  markers: ReadonlyMap<number, { readonly text: string }>,
): ByteMap {
  const style = styleOf(json);
  const known = new Map<number, Uint8Array>();
  const write = style === 'bytes' ? fromPrintable : style === 'words' ? fromWordPiece : fromPiece;
  return {
    dropFirstSpace: style === 'words' || (style === 'pieces' && stripsFirstSpace(json.decoder)),
    of(id) {
      const cached = known.get(id);
      if (cached) return cached;
      const marker = markers.get(id);
      const token = vocabulary[id];
      const bytes = marker ? utf8.encode(marker.text) : token === undefined ? NOTHING : write(token);
      known.set(id, bytes);
      return bytes;
    },
  };
}

function styleOf(json: { decoder?: unknown; model: { type?: string | null | undefined } }): Style {
  const types = decoderTypes(json.decoder);
  if (types.includes('WordPiece') || json.model.type === 'WordPiece') return 'words';
  return types.includes('ByteLevel') ? 'bytes' : 'pieces';
}

type DecoderJson = {
  type?: string;
  decoders?: unknown[];
  content?: string;
  start?: number;
  add_prefix_space?: boolean;
};

function decodersOf(decoder: unknown): DecoderJson[] {
  if (typeof decoder !== 'object' || decoder === null) return [];
  const { decoders } = decoder as DecoderJson;
  return Array.isArray(decoders) ? decoders.flatMap(decodersOf) : [decoder as DecoderJson];
}

const decoderTypes = (decoder: unknown): string[] => decodersOf(decoder).map((one) => one.type ?? '');

const stripsFirstSpace = (decoder: unknown): boolean =>
  decodersOf(decoder).some(
    (one) => (one.type === 'Strip' && one.content === ' ' && (one.start ?? 0) > 0) || one.type === 'Metaspace',
  );

/** GPT-2's table: printable Latin-1 characters map to themselves, the other 68 bytes to U+0100 and up. */
const byteOfCharacter: ReadonlyMap<string, number> = (() => {
  const table = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; ++byte) {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    table.set(String.fromCharCode(printable ? byte : next++), byte);
  }
  return table;
})();

function fromPrintable(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; ++i) {
    const byte = byteOfCharacter.get(token.charAt(i));
    if (byte === undefined) return utf8.encode(token);
    bytes[i] = byte;
  }
  return bytes;
}

function fromPiece(token: string): Uint8Array {
  const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(token);
  return byte ? Uint8Array.of(Number.parseInt(byte[1] ?? '', 16)) : utf8.encode(token.replaceAll('▁', ' '));
}

const fromWordPiece = (token: string): Uint8Array => utf8.encode(token.startsWith('##') ? token.slice(2) : ` ${token}`);
