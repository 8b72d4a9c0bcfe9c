import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createWrittenAnswers, packedVector } from '../../../../app/chat/prompt/written-answers.ts';
import { newFolder, places } from '../../../support/core/core.ts';
import { messageEncoder, type Pairs, writeAnswers } from '../../../support/documents/written-answers.ts';

//  The encoder in the box, and a few answers or those that ship.

vi.setConfig({ testTimeout: 60_000 });

const shipped = join(places.resources, 'assistant');

const FACTS: Pairs = [
  ['What is the capital of Portugal?', 'It is Lisbon.'],
  ['how many legs has a spider', 'A spider has eight legs.'],
  ['who painted the Mona Lisa', 'Leonardo da Vinci painted the Mona Lisa.'],
];
const TALK: Pairs = [
  ['good morning', 'Good morning! What would you like to do?'],
  ['my dog died this morning', "I'm so sorry about your dog. What was he like?"],
  ["What's your favourite food?", "I'm a program, so I don't eat. What is yours?"],
  ["you're not ChatGPT, right?", "Right, I'm not ChatGPT."],
  ['List six things to pack for the beach', 'Towel\nHat\nBook\nWater\nSandals\nSunscreen'],
  ['set an alarm for 7', "I can't set alarms."],
  ['how old is a child of six', 'About 6 years.'],
];

async function remembering(facts = FACTS, talk = TALK) {
  const folder = newFolder();
  const embed = messageEncoder();
  await writeAnswers(folder, { facts, talk }, embed);
  const { like } = createWrittenAnswers(folder, embed);
  return { folder, embed, like, text: async (message: string) => (await like(message))?.text ?? null };
}

test('a message in other words is led by the answer to the one it is like, the more so the liker it is', async () => {
  const { like, text } = await remembering();
  expect(await like('Good morning!')).toEqual({ text: 'Good morning! What would you like to do?', weight: 7 });
  expect(await text('capital city of Portugal, please?')).toBe('It is Lisbon.');
  expect(await text('Who was it that painted the Mona Lisa?')).toContain('Leonardo');
  const near = await like('we had to say goodbye to our dog today');
  expect(near?.text).toContain('sorry about your dog');
  expect(near?.weight).toBeGreaterThan(0);
  expect(near?.weight).toBeLessThan(7);
  expect(await text('Explain how a heat pump works')).toBeNull();
});

test('of several sentences the one that says most is enough, and counts for a little less', async () => {
  const { like } = await remembering();
  const alone = await like('My dog died this morning.');
  const told = await like('Hello. My dog died this morning. It is so quiet here now.');
  expect(told?.text).toBe(alone?.text);
  expect(told?.weight).toBe(7);
  // What is half like a message is less like it as a part.
  const half = await like('Remember when my dog died?');
  const inside = await like('Oh my, oh my. Remember when my dog died?');
  expect(inside?.weight).toBeCloseTo((half?.weight ?? 0) - (7 * 0.05) / 0.23, 3);
});

test('what is true of another thing leads nobody: another country, another animal, another number, a person, a "not"', async () => {
  const { text } = await remembering();
  expect(await text('What is the capital of Spain?')).toBeNull();
  expect(await text('how many legs has an ant')).toBeNull();
  expect(await text('my cat died this morning')).toBeNull();
  expect(await text('List seven things to pack for the beach')).toBeNull();
  expect(await text('List 6 things to pack for the beach')).toContain('Towel');
  expect(await text('how old is a child of nine')).toBeNull();
  expect(await text('how old is a child of 6')).toBe('About 6 years.');
  // Where the answer does not depend on it, any number will do.
  expect(await text('set an alarm for half past 8')).toBe("I can't set alarms.");
  const { like } = await remembering();
  const yours = await like("What's your favourite food?");
  const mine = await like("What's my favourite food?");
  expect(mine?.weight ?? 0).toBeLessThan((yours?.weight ?? 0) - 2);
  const denied = await like("you're not ChatGPT, right?");
  const said = await like("you're ChatGPT, right?");
  expect(said?.weight ?? 0).toBeLessThan((denied?.weight ?? 0) - 2);
});

test('who asks again is led by another answer, and in the middle of a conversation it takes more to be led', async () => {
  const { like } = await remembering(FACTS, [...TALK, ['good morning to you', 'Good morning! How can I help?']]);
  const first = await like('good morning');
  const second = await like('good morning', { given: [first?.text ?? ''] });
  expect(second?.text).toBe('Good morning! How can I help?');
  const begins = await like('we had to say goodbye to our dog today');
  expect((await like('we had to say goodbye to our dog today', { later: true }))?.weight ?? 0).toBeLessThan(
    begins?.weight ?? 0,
  );
  expect((await like('good morning', { later: true }))?.weight).toBe(7);
});

test('a text to work on is not looked up, and without its files, with damaged ones or without an encoder nothing leads', async () => {
  const { folder, embed, like } = await remembering();
  expect(await like('good morning '.repeat(20))).toBeNull();
  expect(await like(`Good morning. ${'ah. '.repeat(60)}`)).toBeNull();
  const known = readFileSync(join(folder, 'answers.json'));
  const damaged = [
    (at: string) => writeFileSync(join(at, 'answers.json'), known.subarray(0, 100)),
    (at: string) => writeFileSync(join(at, 'answers.json'), '{"facts":[["a"]],"talk":[]}'),
    (at: string) =>
      writeFileSync(join(at, 'answers.vectors'), readFileSync(join(folder, 'answers.vectors')).subarray(0, 999)),
  ];
  for (const damage of damaged) {
    const other = join(newFolder(), 'assistant');
    mkdirSync(other);
    for (const name of ['answers.json', 'answers.vectors']) copyFileSync(join(folder, name), join(other, name));
    damage(other);
    expect(await createWrittenAnswers(other, embed).like('good morning')).toBeNull();
  }
  expect(await createWrittenAnswers(join(folder, 'none'), embed).like('good morning')).toBeNull();
  expect(await createWrittenAnswers(folder, async () => []).like('good morning')).toBeNull();
  const broken = createWrittenAnswers(folder, () => Promise.reject(new Error('the engine is gone')));
  expect(await broken.like('good morning')).toBeNull();
});

test('of the answers that ship every vector is that of its message, and each message finds an answer of its own', async () => {
  const embed = messageEncoder();
  const { facts, talk }: { facts: Pairs; talk: Pairs } = JSON.parse(
    readFileSync(join(shipped, 'answers.json'), 'utf8'),
  );
  const vectors = readFileSync(join(shipped, 'answers.vectors'));
  const pairs = [...facts, ...talk];
  const bytes = vectors.length / pairs.length;
  expect(pairs.length).toBeGreaterThan(10_000);
  const some = Array.from({ length: 96 }, (_, k) => Math.floor((k * (pairs.length - 1)) / 95));
  const embedded = await embed(some.map((at) => pairs[at]?.[0] ?? ''));
  const { like } = createWrittenAnswers(shipped, embed);
  for (const [k, at] of some.entries()) {
    const packed = packedVector(embedded[k] ?? new Float32Array());
    const stored = vectors.subarray(at * bytes, (at + 1) * bytes);
    // Rounding may differ by one between processors.
    const apart = packed.filter((both, i) => both !== stored[i]).length;
    expect(apart, pairs[at]?.[0]).toBeLessThan(bytes / 8);
    expect(await like(pairs[at]?.[0] ?? ''), pairs[at]?.[0]).not.toBeNull();
  }
});
