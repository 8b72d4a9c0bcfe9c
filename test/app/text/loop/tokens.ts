import { readFileSync } from 'node:fs';
import { Tokenizer } from '@huggingface/tokenizers';
import { hash } from './corpus/random.ts';

//  A text as a model would have written it: ids, each with the characters it adds. Two vocabularies: the starter's, which is
//  small, byte-level and splits digits, and whole words, as vocabularies of 150,000 nearly do.

export interface Piece {
  readonly id: number;
  readonly text: string;
}
export type Vocabulary = 'starter' | 'words';

const folder = new URL('../../../../resources/starter-model/', import.meta.url);
const parse = (file: string) => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
let starter: Tokenizer | undefined;

function byBytes(text: string): Piece[] {
  starter ??= new Tokenizer(parse('tokenizer.json'), parse('tokenizer_config.json'));
  const { ids, tokens } = starter.encode(text, { add_special_tokens: false });
  const decoder = new TextDecoder('utf-8');
  return ids.map((id: number, at: number) => ({
    id,
    text: decoder.decode(bytesOf(tokens[at] ?? ''), { stream: true }),
  }));
}

/** Byte-level vocabularies spell the 256 bytes with printable characters (GPT-2, bytes_to_unicode). */
const bytes = new Map<string, number>();
for (let byte = 0, spare = 256; byte < 256; byte++) {
  const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  bytes.set(String.fromCodePoint(printable ? byte : spare++), byte);
}
const bytesOf = (token: string) => Uint8Array.from(token, (letter) => bytes.get(letter) ?? 63);

function byWords(text: string): Piece[] {
  const words = text.match(/ ?[\p{L}\p{M}]{1,12}| ?\p{N}| ?[^\s\p{L}\p{M}\p{N}]{1,4}|\n+|\s+?(?=\S|$)|\s+/gu) ?? [];
  return words.map((word) => ({ id: hash(word) % 150_000, text: word }));
}

export const tokens = (text: string, vocabulary: Vocabulary): Piece[] =>
  vocabulary === 'starter' ? byBytes(text) : byWords(text);
