// Whether the engine's certainty tells a loop from a text that ends by itself:
//
//   node test/bench/loops/certainty.ts EXAM smol=SmolLM2.gguf qwen=Qwen2.5-Coder.gguf [--most N]
//
// EXAM is the folder of the examination (test/app/text/loop/README.md): answers that these two models wrote without a guard, as token
// ids. Each is read again by the model that wrote it. Of every round of near-copies the features of the latest copy are told apart by
// outcome: the round goes on until the limit of tokens, or the text ends by itself. Prints the area under the curve of each feature: 0.5 is chance.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { link, noChains } from '../../../app/text/loop/near-duplicates.ts';
import { cut, noText } from '../../../app/text/loop/sentences.ts';
import { type ModelText, modelTextFromGguf } from '../../../app/text/model-text.ts';
import { addon } from '../../support/addon.ts';

type Answer = { prompt: string; raw: boolean; finish: 'stop' | 'length'; ids: number[]; pieces: string[] };
type Certainty = { logprobs: number[]; entropies: number[] };
type Round = { goesOn: boolean; features: Record<string, number> };

const SYSTEM: Record<string, string> = {
  smol: 'You are a helpful AI assistant named SmolLM, trained by Hugging Face',
  qwen: 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.',
};
/** Tokens whose probabilities are read; the rest counts as one more. */
const TOP = 24;
/** Sentences without a copy after which a round is over, and copies that a round must have until the end. */
const APART = 4;
const LEAST = 6;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { most: { type: 'string' } } });
const [folder = '', ...models] = positionals;
const most = Number(values.most ?? Number.POSITIVE_INFINITY);

const mean = (numbers: readonly number[], from = 0, end = numbers.length) => {
  const some = numbers.slice(Math.max(0, from), Math.max(0, end));
  return some.reduce((sum, number) => sum + number, 0) / Math.max(1, some.length);
};

function promptOf(name: string, { tokenizer }: ModelText, { prompt, raw }: Answer): number[] {
  if (raw) return tokenizer.encodeText(prompt);
  const mark = (text: string) => ({ ids: tokenizer.markers.flatMap((one) => (one.text === text ? [one.id] : [])) });
  const turn = (text: string) => [mark('<|im_start|>'), { text }, mark('<|im_end|>'), { text: '\n' }];
  const messages = [...turn(`system\n${SYSTEM[name] ?? ''}`), ...turn(`user\n${prompt}`)];
  return tokenizer.encode([...messages, mark('<|im_start|>'), { text: 'assistant\n' }]);
}

/** Of each token of the answer, and of what could have stood in its place. */
async function certaintyOf(
  session: InstanceType<typeof addon.Session>,
  prompt: number[],
  ids: number[],
): Promise<Certainty> {
  const { logprobs, topLogprobs } = await session.score(Int32Array.from([...prompt, ...ids]), {
    from: prompt.length,
    top: TOP,
  });
  const entropies = ids.map((_, at) => {
    const likely = [...topLogprobs.subarray(at * TOP, (at + 1) * TOP)];
    const rest = Math.max(1e-9, 1 - likely.reduce((sum, value) => sum + Math.exp(value), 0));
    return likely.reduce((sum, value) => sum - Math.exp(value) * value, -rest * Math.log(rest));
  });
  return { logprobs: [...logprobs.subarray(0, ids.length)], entropies };
}

function roundsOf({ pieces, finish }: Answer, { logprobs, entropies }: Certainty): Round[] {
  const [chains, cutter] = [noChains(), noText()];
  const sentences = pieces.flatMap((text, at) =>
    cut(cutter, text, at).map((sentence) => ({ sentence, round: link(chains, sentence) })),
  );
  const lastApart = sentences.findLastIndex((_, at) => {
    const some = sentences.slice(at, at + APART);
    return some.length === APART && some.every(({ round }) => round === null);
  });
  const ends = finish === 'length' && sentences.length - lastApart - 1 >= LEAST ? lastApart : sentences.length;
  return sentences.flatMap(({ sentence: { end }, round }, at) => {
    if (!round) return [];
    const [from, before] = [end - round.period, end - 2 * round.period];
    const entropy = mean(entropies, from, end);
    const features = {
      'log-probability': mean(logprobs, from, end),
      entropy,
      'entropy, against the copy before': entropy - mean(entropies, before, from),
      'entropy, against the text before the round': entropy - mean(entropies, 0, round.first),
    };
    return [{ goesOn: at > ends, features }];
  });
}

/** The probability that a round that goes on has a higher value than one that does not. */
function areaUnderCurve(rounds: readonly Round[], name: string): number {
  const sorted = rounds.toSorted((a, b) => (a.features[name] ?? 0) - (b.features[name] ?? 0));
  const ranks = sorted.flatMap(({ goesOn }, at) => (goesOn ? [at + 1] : []));
  const sum = ranks.reduce((all, rank) => all + rank, 0);
  return (sum - (ranks.length * (ranks.length + 1)) / 2) / (ranks.length * (sorted.length - ranks.length));
}

const rounds: Round[] = [];
for (const [name = '', path = ''] of models.map((one) => one.split('='))) {
  const lines = gunzipSync(readFileSync(join(folder, `gen_${name}.jsonl.gz`)))
    .toString()
    .trim()
    .split('\n');
  const text = modelTextFromGguf(await addon.ggufMetadata(path));
  const model = await addon.load(path);
  const session = model.createSession({ contextLength: 2304 });
  for (const line of lines.slice(0, most)) {
    const answer: Answer = JSON.parse(line);
    rounds.push(...roundsOf(answer, await certaintyOf(session, promptOf(name, text, answer), answer.ids)));
  }
  model.close();
}
const on = rounds.filter(({ goesOn }) => goesOn).length;
process.stdout.write(`${rounds.length} rounds, ${on} go on to the limit\n`);
for (const name of Object.keys(rounds[0]?.features ?? {}))
  process.stdout.write(`${areaUnderCurve(rounds, name).toFixed(2)} ${name}\n`);
