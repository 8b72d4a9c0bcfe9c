import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../../../support/core/core.ts';
import { openShelf, type Shelf } from '../../../support/documents/documents.ts';

//  What is said more than once is one answer; what only names where something is said is none.

const ROOM = { tokens: 2000, passages: 4, count: async (text: string) => Math.ceil(text.length / 4) };

async function ask(shelf: Shelf, question: string) {
  const grounding = await shelf.documents.answering.ground({
    question,
    collectionIds: [shelf.collection.id],
    budget: { ...ROOM, tokens: 60 },
  });
  const source = grounding.sources.find(({ number }) => number === grounding.quote?.source);
  return { ...grounding, source, said: source?.text.slice(grounding.quote?.start, grounding.quote?.end) ?? '' };
}

const lease = (rent: string) => `# Lease of the flat in Mill Lane

## Rent

The monthly rent of the flat is ${rent} pounds, due on the third day of every month.

## Pets

Cats may be kept in the flat. Dogs need the written consent of the landlord.

## Notice

Either side may end the lease with three months' notice in writing.`;

async function twoVersions(): Promise<Shelf> {
  const shelf = await openShelf();
  const folder = newFolder();
  // The newer one comes first in the alphabet and is added last: neither decides.
  const versions = [
    { name: 'b-lease-2029.md', text: lease('840'), at: new Date('2029-02-01') },
    { name: 'a-lease-2031.md', text: lease('910'), at: new Date('2031-02-01') },
  ];
  for (const { name, text, at } of versions) {
    writeFileSync(join(folder, name), text);
    utimesSync(join(folder, name), at, at);
    const files = [{ path: join(folder, name), name }];
    await shelf.call('documents.add', { collectionId: shelf.collection.id, files });
  }
  await shelf.documents.idle();
  return shelf;
}

test('a sentence that stands in two versions of a lease is one answer, from the newest, and names the other', async () => {
  const shelf = await twoVersions();
  const answer = await ask(shelf, 'Who must consent to dogs in the flat?');
  expect(answer.found).toBe(true);
  expect(answer.said).toContain('written consent of the landlord');
  expect(answer.quote?.alsoIn).toEqual(['b-lease-2029.md']);
});

test('where the versions differ in a number, the newest answers', async () => {
  const answer = await ask(await twoVersions(), 'What is the monthly rent of the flat?');
  expect(answer.found).toBe(true);
  expect(answer.said).toContain('910 pounds');
  expect(answer.quote?.alsoIn).toEqual(['b-lease-2029.md']);
});

test('a sentence is looked at once, however often a document repeats it', async () => {
  const shelf = await openShelf();
  const notice = 'The warranty of the kettle lasts thirty months from the day of purchase.';
  const chapters = Array.from(
    { length: 12 },
    (_, at) => `## Chapter ${at + 1}\n\n${'Words fill it. '.repeat(30)}\n\n${notice}`,
  );
  await shelf.add({ 'kettle.md': `# Kettle\n\n${chapters.join('\n\n')}` });
  const { statements } = await shelf.documents.answering.score('How long does the warranty of the kettle last?', [
    shelf.collection.id,
  ]);
  const said = statements.filter(({ passage, statement }) => passage.text.slice(...statement) === notice);
  expect(said).toHaveLength(1);
});

const FAQ = `# Questions about the printer

1 How do I clear a paper jam? . . . . . . . . . . . . . . . . . . 3

2 How do I clean the nozzles? . . . . . . . . . . . . . . . . . . 4

3 How do I align the print head? . . . . . . . . . . . . . . . . 5

## 1 How do I clear a paper jam?

Open the rear cover, press both green levers and pull the sheet out slowly.

## 2 How do I clean the nozzles?

Run this command and wait a minute:

\`\`\`
inkctl --clean --deep
\`\`\`

## 3 How do I align the print head?

Print the test page and choose the sharpest of the seven bars.`;

test('a question of an FAQ is answered by what stands below it, not by itself or by the contents', async () => {
  const shelf = await openShelf();
  await shelf.add({ 'printer.md': FAQ });
  expect((await ask(shelf, 'How do I clear a paper jam?')).said).toContain('green levers');
});

test('a sentence that ends in a colon is quoted with what it leads to', async () => {
  const shelf = await openShelf();
  await shelf.add({ 'printer.md': FAQ });
  expect((await ask(shelf, 'Which command do I run to clean the nozzles?')).said).toContain('inkctl --clean --deep');
});

test('a row of a table is quoted whole, whatever ends its cells', async () => {
  const shelf = await openShelf();
  const rows = [
    'Part | Price | Supplier',
    'Rotor blade, approx. 2 m | 410.50 euros | Windhaus Inc.',
    'Tail boom | 99 euros | Kern Ltd.',
  ];
  const table = rows.map((row) => `| ${row} |`);
  await shelf.add({ 'parts.md': `# Parts\n\n${[table[0], '|---|---|---|', ...table.slice(1)].join('\n')}` });
  const { said } = await ask(shelf, 'What does the rotor blade cost?');
  expect(said).toBe('Rotor blade, approx. 2 m | 410.50 euros | Windhaus Inc.');
});
