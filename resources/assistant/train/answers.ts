// What the app remembers of the written answers: node resources/assistant/train/answers.ts [FOLDER]
// Writes answers.json and answers.vectors (app/chat/prompt/written-answers.ts) into the folder of the assistant, or into another. A minute.
// Texts to work on are left out, and what Longhand's manual answers better.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packedVector } from '../../../app/chat/prompt/written-answers.ts';
import { encoder, root, startEngine } from './engine.ts';

/** Of messages that are written twice the first one counts. */
const FACTS = ['knowledge-a', 'knowledge-b', 'knowledge-c', 'facts', 'knowledge'];
const TALK = [
  'life',
  'life-2',
  'chatter',
  'chatter-2',
  'small-help',
  'small-help-2',
  'itself',
  'smalltalk',
  'talk',
  'turns',
  'instructions',
  'rewriting',
  'letters',
  'writing',
];
const LONGEST = { message: 200, answer: 500 };
const AT_ONCE = 32;

const folder = process.argv[2] ?? join(root, 'resources/assistant');

type Pair = [message: string, answer: string];
const seen = new Set<string>();
function pairsOf(name: string): Pair[] {
  const lines = readFileSync(join(import.meta.dirname, 'data/written', `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return lines.flatMap((line): Pair[] => {
    const [asked, said]: { content: string }[] = JSON.parse(line).messages;
    if (!asked || !said || asked.content.length > LONGEST.message || said.content.length > LONGEST.answer) return [];
    const key = asked.content.toLowerCase().replace(/^[\s?!.]+|[\s?!.]+$/g, '');
    if (seen.has(key)) return [];
    seen.add(key);
    return [[asked.content, said.content]];
  });
}
const facts = FACTS.flatMap(pairsOf);
const talk = TALK.flatMap(pairsOf);

const engine = startEngine();
const packed: Uint8Array[] = [];
const messages = [...facts, ...talk].map(([message]) => message);
while (packed.length < messages.length) {
  const texts = messages.slice(packed.length, packed.length + AT_ONCE);
  const { vectors } = await engine.ask('embed', { target: encoder, texts, kind: 'query', urgent: false });
  packed.push(...vectors.map(packedVector));
}
await engine.close();

const lines = (pairs: readonly Pair[]) => pairs.map((pair) => JSON.stringify(pair)).join(',\n');
writeFileSync(join(folder, 'answers.json'), `{"facts":[\n${lines(facts)}\n],"talk":[\n${lines(talk)}\n]}\n`);
writeFileSync(join(folder, 'answers.vectors'), Buffer.concat(packed));
