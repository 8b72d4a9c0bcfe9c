import { expect, test, vi } from 'vitest';
import { PARSER_LIMITS } from '../../../app/documents/parse/parser-client.ts';
import { openShelf, type Shelf } from '../../support/documents/documents.ts';
import { ARCHIVES } from '../../support/documents/hostile-archives.ts';
import { type Hostile, LIBRARY, PICTURES, textsOf } from '../../support/documents/hostile-documents.ts';
import { PDFS } from '../../support/documents/hostile-pdfs.ts';
import { soaking } from '../../support/soak.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';

//  Hostile documents. Each is refused, or parsed as far as it is harmless: the core grows little and never
//  stalls, the parser process stays within its limits, and the next document is parsed normally.

vi.setConfig({ testTimeout: soaking ? 3_600_000 : 300_000 });

const tally = tallyOf('documents');

const MAX_GROWTH = 400e6;
/** The parser's memory limit, plus its growth between two checks. */
const MAX_READER = (PARSER_LIMITS.memoryMb + 512) * 1024 * 1024;
/** Maximum processor time of the core's thread between two turns of its event loop. */
const MAX_STALL_MS = 100;

async function attack(shelf: Shelf, { name, make, becomes, says }: Hostile) {
  const made = make();
  const stop = observe();
  const [document] = await shelf.add({ [name]: made });
  const { grown, stall, reader } = stop();
  expect(grown).toBeLessThan(MAX_GROWTH);
  expect(stall).toBeLessThan(MAX_STALL_MS);
  expect(reader).toBeLessThan(MAX_READER);
  const { status } = document?.state ?? {};
  if (becomes) expect(document?.state).toMatchObject({ status: becomes });
  else expect(['ready', 'failed']).toContain(status);
  if (says) expect(document?.notices).toContainEqual(says);
  // A failed document has no searchable passages.
  if (status === 'failed') expect(document?.passages).toBe(0);
}

async function attackWith(all: readonly Hostile[]) {
  const shelf = await openShelf();
  for (const one of all.filter(({ slow }) => soaking || !slow)) await tally.refused(one.name, () => attack(shelf, one));
  await tally.refused('what comes after them', async () => {
    const [sound] = await shelf.add({ 'sound.txt': 'A sound text after all of them.' });
    expect(sound?.state).toEqual({ status: 'ready' });
  });
  tally.settle();
}

test('PDF: filters that unpack to gigabytes, rings, trees without end, drawing without end', () => attackWith(PDFS));

test('archives: bombs, sizes that lie, the same part a hundred thousand times, depth', () => attackWith(ARCHIVES));

test('pictures that say they are larger than memory', () => attackWith(PICTURES));

test('texts of every kind that patterns and splitters take the square of', () =>
  attackWith([...textsOf(soaking ? 8e6 : 100_000), LIBRARY]));

test('ordinary text in megabytes is read in time that grows as it does', async () => {
  const shelf = await openShelf();
  const ordinary = ['abbreviations.txt', 'one-line.txt', 'mail-base64.eml', 'html-paragraphs-in-a-cell.html'];
  const texts = textsOf(soaking ? 10e6 : 2e6).filter(({ name }) => ordinary.includes(name));
  expect(texts).toHaveLength(ordinary.length);
  for (const one of texts) {
    await tally.refused(`${one.name}, large`, () => attack(shelf, { ...one, becomes: 'ready' }));
  }
  tally.settle();
});
