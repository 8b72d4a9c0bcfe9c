import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type CollectionId, quotedIn } from '../../../../app/protocol/index.ts';
import { newFolder } from '../../../support/core/core.ts';
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

function helpWith(known: typeof KNOWN | null): string {
  const help = join(newFolder(), 'help');
  mkdirSync(help);
  writeFileSync(join(help, '01-lighthouse.md'), PAGE);
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
  const ask = async (question: string, known?: number) => {
    const asked = { question, collectionIds: [about], budget, ...(known !== undefined && { known }) };
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

test('where only a known question counts, one that is merely answered has no answer', async () => {
  const { ask } = await open(helpWith(KNOWN));
  expect(await ask('When is the lamp lit?', 0.75)).toBeNull();
  expect(await ask('when can my aunt come up for the view?', 0.75)).toContain('Sundays');
});

test('the questions are embedded once, and again when the file is another', async () => {
  const dataFolder = newFolder();
  const help = helpWith(KNOWN);
  const first = await open(help, dataFolder);
  expect(first.embedded.flat()).toEqual(KNOWN.flatMap(({ questions }) => questions));
  await first.shelf.close();
  const second = await open(help, dataFolder);
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
