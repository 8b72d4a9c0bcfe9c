import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { contentWords } from '../../documents/search/stemming.ts';
import type { WrittenAnswers } from '../deps.ts';

//  Answers that were written for the built-in assistant, with the messages that they answer (resources/assistant). A model of its size
//  knows little for certain and loses its thread. The answer to a message that is nearly the one asked leads it: tokens that go on
//  as it does become likelier (native/engine/decode/exemplars.h), and the model fits them to what is asked.

const Pairs = z.array(z.tuple([z.string(), z.string()]));
/** `facts`: a word that stands in another's place makes another question of it. */
const File = z.object({ facts: Pairs, talk: Pairs });
type Pair = { message: string; answer: string; fact: boolean };
/** `vectors`: [messages, dimensions], two values of four bits to a byte, the first in the low ones; `lengths`: theirs. */
type Memory = { pairs: Pair[]; vectors: Uint8Array; lengths: Float32Array; bytes: number };

/** What is longer is a text to work on. */
const LONGEST = 200;
/** Cosines from which an answer leads, and from which it does so with all its weight. */
const LEADS = { from: 0.57, fully: 0.8 };
const LEADS_LATER = { from: 0.72, fully: 0.92 };
const WEIGHT = 7;
const CANDIDATES = 40;

const NEGATED = /\b(?:not|no|never|nothing|nobody|cannot|cant|dont|isnt|arent|wont|doesnt)\b|n['’]t\b/i;
const SPEAKER = /\b(?:i|me|my|mine|im|we|our|us)\b/i;
const ADDRESSED = /\b(?:you|your|yours|u|ur|youre)\b/i;
const NUMBERS = new Map(
  `two three four five six seven eight nine ten eleven twelve`.split(' ').map((word, at) => [word, `${at + 2}`]),
);
/** An answer that says yes or no says the opposite to the denied question. */
const DECIDES = /^(?:yes|no|right|true|correct|indeed|of course|sure|that's (?:right|true))\b/i;
/** What differences cost, as cosines: "you are" and "you aren't", "my" and "your" are near each other for an encoder. */
const COST_OF_DENIAL = { decided: 0.3, otherwise: 0.04 };
const COST_OF_ANOTHER = 0.3;
const COST_OF_A_PART = 0.05;

/** `folder`: of the assistant. `embed`: vectors of texts by the built-in encoder; none if it cannot be had now. */
export function createWrittenAnswers(
  folder: string,
  embed: (texts: string[]) => Promise<Float32Array[]>,
): WrittenAnswers {
  let reading: Promise<Memory | null> | null = null;
  // Without it the assistant answers by itself.
  const memory = () => {
    reading ??= readMemory(folder).catch(() => null);
    return reading;
  };

  return {
    async like(message, { later = false, given = [] } = {}) {
      if (message.length > LONGEST) return null;
      const known = await memory();
      if (!known) return null;
      const { from, fully } = later ? LEADS_LATER : LEADS;
      const texts = readingsOf(message);
      const queries = await embed(texts).catch(() => []);
      const asked = wordsOf(message);
      const [best] = queries
        .flatMap((query, at) => nearest(known, query, from).map((found) => ({ ...found, text: texts[at] ?? '' })))
        .filter(({ pair }) => !given.includes(pair.answer) && fits(pair, asked, message))
        .map(({ pair, similarity, text }) => ({
          pair,
          similarity: similarity - differences(pair, text, message),
        }))
        .sort((a, b) => b.similarity - a.similarity);
      if (!best || best.similarity <= from) return null;
      return { text: best.pair.answer, weight: WEIGHT * Math.min(1, (best.similarity - from) / (fully - from)) };
    },
  };
}

/** The message, and of several sentences the one that says most. */
function readingsOf(message: string): string[] {
  const sentences = message.split(/(?<=[.!?])\s+/);
  const [fullest = message] = sentences.sort((a, b) => wordsOf(b).size - wordsOf(a).size);
  return fullest === message ? [message] : [message, fullest];
}

async function readMemory(folder: string): Promise<Memory> {
  const { facts, talk } = File.parse(JSON.parse(await readFile(join(folder, 'answers.json'), 'utf8')));
  const vectors = await readFile(join(folder, 'answers.vectors'));
  const pairOf = (fact: boolean) => (pair: [string, string]) => ({ message: pair[0], answer: pair[1], fact });
  const pairs = [...facts.map(pairOf(true)), ...talk.map(pairOf(false))];
  const bytes = vectors.length / pairs.length;
  const lengthOf = (vector: Uint8Array) =>
    Math.sqrt(vector.reduce((sum, both) => sum + low(both) ** 2 + high(both) ** 2, 0));
  const lengths = Float32Array.from(pairs, (_, at) => lengthOf(vectors.subarray(at * bytes, (at + 1) * bytes)));
  return { pairs, vectors, lengths, bytes };
}

function nearest({ pairs, vectors, lengths, bytes }: Memory, query: Float32Array, from: number) {
  if (query.length !== 2 * bytes) return [];
  const products = productsOf(query);
  const found: { pair: Pair; similarity: number }[] = [];
  for (const [at, pair] of pairs.entries()) {
    let sum = 0;
    for (let k = 0, begin = at * bytes; k < bytes; k++) sum += products[256 * k + (vectors[begin + k] ?? 0)] ?? 0;
    const similarity = sum / (lengths[at] ?? 1);
    if (similarity > from) found.push({ pair, similarity });
  }
  return found.sort((a, b) => b.similarity - a.similarity).slice(0, CANDIDATES);
}

/** What each byte of a packed vector adds to its product with `query`: [bytes, 256]. */
function productsOf(query: Float32Array): Float32Array {
  const products = new Float32Array(128 * query.length);
  for (let at = 0; at < query.length; at += 2)
    for (let both = 0; both < 256; both++)
      products[128 * at + both] = low(both) * (query[at] ?? 0) + high(both) * (query[at + 1] ?? 0);
  return products;
}

const low = (both: number) => (both << 28) >> 28;
const high = (both: number) => (both << 24) >> 28;

/** The largest value of four bits. */
const MOST = 7;

/** A vector in four bits a value. Its length is lost, which a cosine does not need. */
export function packedVector(vector: Float32Array): Uint8Array {
  const scale = MOST / Math.max(...vector.map(Math.abs));
  const values = [...vector].map((value) => Math.round(value * scale) & 15);
  return Uint8Array.from(
    { length: values.length / 2 },
    (_, at) => (values[2 * at] ?? 0) | ((values[2 * at + 1] ?? 0) << 4),
  );
}

const wordsOf = (text: string) => new Set(contentWords(text));
const numbersIn = (text: string) =>
  new Set([...wordsOf(text)].map((word) => NUMBERS.get(word) ?? word).filter((word) => /\d/.test(word)));
const without = (some: ReadonlySet<string>, others: ReadonlySet<string>) => [...some].filter((one) => !others.has(one));

/** Whether the answer can hold for what is asked: it repeats no word of its own message that the question lacks, for a fact no word stands in
 *  another's place, and a number in the answer, or of the entries of a list, is for the same numbers. */
function fits({ message, answer, fact }: Pair, asked: ReadonlySet<string>, question: string): boolean {
  const own = wordsOf(message);
  const lacking = without(own, asked);
  if (fact && lacking.length > 0 && without(asked, own).length > 0) return false;
  const counts = fact || answer.includes('\n') || numbersIn(answer).size > 0;
  if (counts && without(numbersIn(message), numbersIn(question)).length > 0) return false;
  const repeated = wordsOf(answer);
  return !lacking.some((word) => repeated.has(word));
}

/** What is between a message that was answered and a part of what is asked. */
function differences({ message, answer }: Pair, text: string, whole: string): number {
  const { decided, otherwise } = COST_OF_DENIAL;
  const denied = NEGATED.test(message) === NEGATED.test(text) ? 0 : DECIDES.test(answer) ? decided : otherwise;
  const another = isOf(message) * isOf(text) < 0 ? COST_OF_ANOTHER : 0;
  return denied + another + (text === whole ? 0 : COST_OF_A_PART);
}

/** 1: of who writes; -1: of the assistant; 0: of both or neither. */
const isOf = (text: string): number => Number(SPEAKER.test(text)) - Number(ADDRESSED.test(text));
