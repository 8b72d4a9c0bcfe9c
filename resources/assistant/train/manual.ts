// What the app knows of questions about Longhand: node resources/assistant/train/manual.ts QUESTIONS KNOWN [PASSAGES]
// QUESTIONS: a line of JSON each, {"question", "quote", "answer"}, without the last two where the manual does not say it.
// KNOWN: the questions by the sentence that answers them, as it stands in a passage, and those that none answers, as
// are the first messages of chats about other things: resources/help/questions.json.
// PASSAGES: what the app would give for each question, to train with: all passages of the manual once, and of each question the places
// of four in that list, one of them with the quote if there is one. Some minutes.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { withoutTheApp } from '../../../app/chat/turns/about-longhand.ts';
import { locationOfPassage } from '../../../app/documents/chunk/location.ts';
import { parserByFork } from '../../../app/documents/parse/fork-parser.ts';
import { createDocuments } from '../../../app/documents/service.ts';
import type { ModelId } from '../../../app/protocol/index.ts';
import { collectionPassages, type StoredPassage } from '../../../app/store/documents/chunks.ts';
import { listCollections } from '../../../app/store/documents/collections.ts';
import { openStore } from '../../../app/store/store.ts';
import { whereOf } from '../../../app/text/location.ts';
import { encoder, root, startEngine } from './engine.ts';

const PASSAGES = 4;
const ENOUGH = 1_000_000;
/** What people say to an assistant that is not about Longhand: all of the first, every sixth of the others. */
const SMALL_TALK = ['smalltalk', 'talk'];
const OTHERS = ['facts', 'knowledge', 'instructions', 'rewriting', 'letters', 'turns', 'writing'];
const EACH = 6;
const LONGEST = 120;
const OF_ITSELF = /\b(?:program|model|assistant|longhand|offline|computer|chats?|can't|cannot)\b/i;

const [from, known, out] = process.argv.slice(2);
if (from === undefined || known === undefined)
  throw new Error('[manual] say what to read and where to write: manual.ts QUESTIONS KNOWN [PASSAGES]');

type Question = { question: string; quote?: string; answer?: string };
const questions = readFileSync(from, 'utf8')
  .trim()
  .split('\n')
  .map((line): Question => JSON.parse(line));

const folder = mkdtempSync(join(tmpdir(), 'longhand-manual-'));
const engine = startEngine();
const store = await openStore({ folder, migrations: join(root, 'app/store/database/migrations') });
const documents = createDocuments({
  db: store.db,
  engine,
  embedders: {
    find: () => ({ target: encoder, name: 'all-MiniLM-L6-v2' }),
    preset: 'minilm' as ModelId,
    reranker: () => null,
    qaReranker: join(root, 'resources/reader'),
  },
  emit: () => {},
  dataFolder: folder,
  startParser: parserByFork({
    documentParser: join(root, 'app/documents/parse/parser-process.ts'),
    documentWorker: join(root, 'app/documents/parse/parser-worker.ts'),
  }),
  help: join(root, 'resources/help'),
  now: Date.now,
});
// The manual is read some seconds after the start.
const builtIn = () => listCollections(store.db).find((one) => one.builtIn);
while (!builtIn()) await setTimeout(500);
await documents.idle();
const found = builtIn();
if (!found) throw new Error('[manual] the manual is gone');
const manual = found;
const all = (await collectionPassages(store.db, [manual.id], ENOUGH)) ?? [];

const plain = (text: string) =>
  text
    .replace(/^\|\s*|\s*\|$/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();
const shown = (passage: StoredPassage) => ({
  place: whereOf({ name: passage.name, location: locationOfPassage(passage) }),
  text: passage.text,
});

/** First messages of chats about other things than Longhand and its assistant. */
function messagesOf(name: string): string[] {
  const chats = readFileSync(join(import.meta.dirname, 'data/written', `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  return chats.flatMap((line) => {
    const [asked, said]: { content: string }[] = JSON.parse(line).messages;
    const about = `${asked?.content}\n${said?.content}`;
    return asked && asked.content.length < LONGEST && !OF_ITSELF.test(about) ? [asked.content] : [];
  });
}

const others = OTHERS.flatMap(messagesOf).filter((_, at) => at % EACH === 0);
const elsewhere = [...SMALL_TALK.flatMap(messagesOf), ...others];
const asked = new Map<string | null, string[]>([[null, elsewhere]]);
const answered = questions.filter(({ question, quote }) => {
  const wanted = quote === undefined ? null : plain(quote);
  if (wanted !== null && !all.some(({ text }) => plain(text).includes(wanted))) {
    console.error(`[manual] no passage holds "${quote}"`);
    return false;
  }
  asked.set(wanted, [...(asked.get(wanted) ?? []), withoutTheApp(question)]);
  return true;
});
const bySentence = [...asked].map(([quote, some]) => JSON.stringify({ quote, questions: [...new Set(some)] }));
writeFileSync(known, `[\n${bySentence.join(',\n')}\n]\n`);

/** The places in `all` of four passages that are found, one of them with the quote. */
async function placesOf({ question, quote }: Question): Promise<number[]> {
  const { statements } = await documents.answering.score(withoutTheApp(question), [manual.id]);
  const found = [...new Map(statements.map(({ passage }) => [passage.id, passage])).values()].slice(0, PASSAGES);
  const holds = ({ text }: StoredPassage) => quote !== undefined && plain(text).includes(plain(quote));
  const right = found.find(holds) ?? all.find(holds);
  if (right && !found.includes(right)) found.splice(PASSAGES - 1, 1, right);
  return found.map((passage) => all.findIndex(({ id }) => id === passage.id));
}

if (out !== undefined) {
  const lines: string[] = [];
  for (const one of answered) {
    const { question, quote, answer } = one;
    const row = { question, quote: quote && plain(quote), answer, passages: await placesOf(one) };
    lines.push(JSON.stringify(row));
  }
  const quoted = all.map(shown).map((passage) => JSON.stringify(passage));
  writeFileSync(out, `{"passages":[\n${quoted.join(',\n')}\n],"questions":[\n${lines.join(',\n')}\n]}\n`);
}
await documents.close();
store.close();
await engine.close();
rmSync(folder, { recursive: true, force: true });
