import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { manualFor } from '../../../../app/chat/turns/about-longhand.ts';
import { ASSISTANT, type CollectionId, type ModelId, quotedIn } from '../../../../app/protocol/index.ts';
import { collectionPassages } from '../../../../app/store/documents/chunks.ts';
import { newFolder, places } from '../../../support/core/core.ts';
import { openShelf } from '../../../support/documents/documents.ts';
import { meaning } from '../../../support/documents/encoder.ts';

//  A small manual with known questions, and the real encoder with its reader.

vi.setConfig({ testTimeout: 60_000 });

const PAGE = `# The lighthouse

The lamp is lit at dusk and put out at sunrise. Visitors may climb the tower on Sundays. The keeper answers letters within a week.
`;
/** Nothing of it stands in the sentence that answers it. */
const ASKED = 'my aunt wants a view over the bay, when can she come up';
const KNOWN = [
  { quote: null, questions: ['how are you today', 'what a nice day'] },
  { quote: 'Visitors may climb the tower on Sundays.', questions: ['when can my aunt come up for the view'] },
];

function helpWith(known: typeof KNOWN | null, page = PAGE): string {
  const help = join(newFolder(), 'help');
  mkdirSync(help);
  writeFileSync(join(help, '01-lighthouse.md'), page);
  if (known) writeFileSync(join(help, 'questions.json'), JSON.stringify(known));
  return help;
}

async function open(help: string, dataFolder = newFolder()) {
  const { engine, embedders } = await meaning();
  const embedded: string[][] = [];
  const counted: typeof engine = {
    ...engine,
    ask: (name, request) => {
      const asked = name === 'embed' ? (request as { texts: string[]; kind: string; urgent: boolean }) : null;
      if (asked?.kind === 'query' && !asked.urgent) embedded.push(asked.texts);
      return engine.ask(name, request);
    },
  };
  const shelf = await openShelf({ help, dataFolder, meaning: { engine: counted, embedders } });
  const about = await vi.waitFor(
    async () => {
      const found = (await shelf.call('documents.collections', undefined)).find(({ builtIn }) => builtIn);
      expect(found?.embedding?.total).toBeGreaterThan(0);
      expect(found?.embedding?.done).toBe(found?.embedding?.total);
      return found?.id as CollectionId;
    },
    { timeout: 30_000, interval: 50 },
  );
  await shelf.documents.idle();
  const budget = { tokens: 1500, passages: 4, count: async (text: string) => text.length / 4 };
  const ask = async (question: string, known?: number, beside: CollectionId[] = []) => {
    const asked = { question, collectionIds: [about, ...beside], budget, ...(known !== undefined && { known }) };
    const grounding = await shelf.documents.answering.ground(asked);
    return grounding.found ? (quotedIn(grounding)?.text ?? '') : null;
  };
  return { shelf, ask, embedded };
}

test('a question that is like a known one finds the sentence that answers that one, whatever its words', async () => {
  const without = await open(helpWith(null));
  expect(await without.ask(ASKED)).toBeNull();
  const { ask } = await open(helpWith(KNOWN));
  expect(await ask(ASKED)).toBe('Visitors may climb the tower on Sundays.');
  expect(await ask('When is the lamp lit?')).toContain('dusk');
});

test('it is found behind any number of passages that share more with the question', async () => {
  const benches = Array.from({ length: 30 }, (_, at) => {
    const name = `Bench ${at + 1}`;
    return `## ${name}\n\n${name} has a view over the bay. ${name.repeat(60)}\n`;
  });
  const page = `${benches.join('\n')}\n## Tower\n\nVisitors may climb the tower on Sundays.\n`;
  const { ask } = await open(helpWith(KNOWN, page));
  expect(await ask(ASKED)).toContain('Visitors may climb the tower on Sundays.');
});

test('what is like a question that the manual does not answer has no answer there', async () => {
  const asked = 'Do visitors climb the tower today?';
  const [, known] = KNOWN;
  const { ask } = await open(helpWith(known ? [known] : []));
  expect(await ask(asked)).toContain('Sundays');
  const { ask: askElsewhere } = await open(
    helpWith([...(known ? [known] : []), { quote: null, questions: ['do visitors climb the tower today'] }]),
  );
  expect(await askElsewhere(asked)).toBeNull();
});

test('documents beside the manual answer what the manual is known not to', async () => {
  const asked = 'When does the ferry leave?';
  const { shelf, ask } = await open(helpWith([{ quote: null, questions: [asked] }, ...KNOWN]));
  expect(await ask(asked)).toBeNull();
  await shelf.add({ 'ferry.txt': 'The ferry leaves at noon.' });
  await shelf.documents.idle();
  expect(await ask(asked, undefined, [shelf.collection.id])).toBe('The ferry leaves at noon.');
});

test('the assistant looks up whatever is asked, where the app is not named only what is known; other models what names it', async () => {
  const { shelf, ask } = await open(helpWith(KNOWN));
  const lookup = (model: ModelId, question: string) => manualFor(shelf.db, model, question);
  const other = 'qwen' as ModelId;
  expect(lookup(ASSISTANT, 'Is Longhand free?')).toMatchObject({ question: 'Is it free?' });
  expect(lookup(ASSISTANT, 'Is Longhand free?')).not.toHaveProperty('known');
  expect(lookup(ASSISTANT, 'Are you free?')).not.toHaveProperty('known');
  expect(lookup(other, 'Is Longhand free?')).not.toBeNull();
  expect(lookup(other, 'Are you free?')).toBeNull();
  expect(lookup(other, ASKED)).toBeNull();
  // Answered by the page, but nobody is known to ask it.
  const unknown = lookup(ASSISTANT, 'When is the lamp lit?');
  expect(await ask(unknown?.question ?? '', unknown?.known)).toBeNull();
  const known = lookup(ASSISTANT, ASKED);
  expect(await ask(known?.question ?? '', known?.known)).toContain('Sundays');
});

test('where only a known question counts, one that is merely answered has no answer', async () => {
  const { ask } = await open(helpWith(KNOWN));
  expect(await ask('When is the lamp lit?', 0.75)).toBeNull();
  expect(await ask('when can my aunt come up for the view?', 0.75)).toContain('Sundays');
});

test('the questions are embedded once, and again when the file is another', async () => {
  const dataFolder = newFolder();
  // More than are embedded at once.
  const many = { quote: null, questions: Array.from({ length: 40 }, (_, at) => `what is ${at} times ${at}`) };
  const help = helpWith([many, ...KNOWN]);
  const first = await open(help, dataFolder);
  expect(first.embedded.flat()).toEqual([many, ...KNOWN].flatMap(({ questions }) => questions));
  expect(await first.ask(ASKED)).toContain('Sundays');
  await first.shelf.close();
  const second = await open(help, dataFolder);
  // All collections are gone through when there is something new.
  await second.shelf.add({ 'note.txt': 'The ferry leaves at noon.' });
  await second.shelf.documents.idle();
  expect(second.embedded).toEqual([]);
  expect(await second.ask(ASKED)).toContain('Sundays');
  await second.shelf.close();
  const other = [{ quote: 'The keeper answers letters within a week.', questions: [ASKED] }];
  writeFileSync(join(help, 'questions.json'), JSON.stringify(other));
  const third = await open(help, dataFolder);
  // It begins some time after the start.
  await vi.waitFor(async () => expect(await third.ask(ASKED)).toContain('within a week'), 20_000);
  expect(third.embedded.flat()).toEqual([ASKED]);
});

test('a document that comes while they are embedded has its vectors first, and none of them is embedded twice', async () => {
  const many = { quote: null, questions: Array.from({ length: 100 }, (_, at) => `what is ${at} times ${at}`) };
  const note = 'The ferry leaves at noon.';
  const { engine, embedders } = await meaning();
  const asked: string[][] = [];
  let added: Promise<unknown> | undefined;
  const addNote = async () => {
    added = shelf.add({ 'ferry.txt': note });
    await vi.waitFor(async () => {
      const [document] = await shelf.call('documents.list', { collectionId: shelf.collection.id });
      expect(document?.state.status).toBe('ready');
    });
  };
  const watched: typeof engine = {
    ...engine,
    ask: async (name, request) => {
      const { texts, kind } = request as { texts: string[]; kind?: string };
      asked.push(texts);
      if (kind === 'query' && !added) await addNote();
      return engine.ask(name, request);
    },
  };
  const shelf = await openShelf({ help: helpWith([many]), meaning: { engine: watched, embedders } });
  const known = () => asked.flat().filter((text) => many.questions.includes(text));
  await vi.waitFor(() => expect(new Set(known()).size).toBe(many.questions.length), { timeout: 30_000, interval: 50 });
  const first = asked.findIndex((texts) => texts.includes(note));
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(asked.findLastIndex((texts) => texts.some((text) => many.questions.includes(text))));
  await shelf.documents.idle();
  expect(known().toSorted()).toEqual(many.questions.toSorted());
});

test.each([
  ['no list', '{"quote": 1}'],
  ['cut off', '[{"quote": null, "que'],
])('a file of questions that is damaged (%s) leaves the answers of the manual as they are', async (_, text) => {
  const help = helpWith(null);
  writeFileSync(join(help, 'questions.json'), text);
  const { ask } = await open(help);
  expect(await ask('When is the lamp lit?')).toContain('dusk');
});

test('each sentence with known questions stands in the manual as it is', async () => {
  const help = join(places.resources, 'help');
  const shelf = await openShelf({ help });
  const pages = readdirSync(help).filter((name) => name.endsWith('.md'));
  const about = await vi.waitFor(
    async () => {
      const found = (await shelf.call('documents.collections', undefined)).find(({ builtIn }) => builtIn);
      const read = found ? await shelf.call('documents.list', { collectionId: found.id }) : [];
      expect(read.filter(({ state }) => state.status === 'ready')).toHaveLength(pages.length);
      return found?.id as CollectionId;
    },
    { timeout: 30_000, interval: 100 },
  );
  const passages = (await collectionPassages(shelf.db, [about], 1_000_000)) ?? [];
  const texts = passages.map(({ text }) => text.replace(/\s+/g, ' '));
  const known: { quote: string | null; questions: string[] }[] = JSON.parse(
    readFileSync(join(help, 'questions.json'), 'utf8'),
  );
  const strangers = known.filter(({ quote }) => quote !== null && !texts.some((text) => text.includes(quote)));
  expect(strangers).toEqual([]);
  expect(known.length).toBeGreaterThan(400);
});
