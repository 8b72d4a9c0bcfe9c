// Where a result is written: beside its place first, never over anything, and what is said when it cannot be.
import { existsSync, mkdirSync, readdirSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyCompanions } from '../../../app/conversion/companions.ts';
import { manual } from '../../../app/conversion/making/manual.ts';
import { writeCard } from '../../../app/conversion/making/quality-card.ts';
import { checkFree, checkRoom, whole } from '../../../app/conversion/output.ts';
import { LonghandError } from '../../../app/protocol/index.ts';
import { temporaryFolder } from '../../support/models/formats.ts';

const written = async (part: string) => {
  mkdirSync(part);
  for (const name of ['model.gguf', 'quality.json', 'scratch']) await writeFile(join(part, name), name);
  return 7;
};

test('a folder appears whole in its place; of a file in a folder only what is asked for does', async () => {
  const here = temporaryFolder();
  expect(await whole(join(here, 'made'), written)).toBe(7);
  expect(readdirSync(join(here, 'made')).sort()).toEqual(['model.gguf', 'quality.json', 'scratch']);
  const file = join(here, 'b.gguf');
  const files = { 'model.gguf': file, 'quality.json': join(here, 'b.quality.json') };
  expect(await whole(file, written, files)).toBe(7);
  expect(readdirSync(here).sort()).toEqual(['b.gguf', 'b.quality.json', 'made']);
  expect(readFileSync(file, 'utf8')).toBe('model.gguf');
});

test('nothing is overwritten, neither what is there before nor what comes while it is written', async () => {
  const here = temporaryFolder({ taken: 'mine' });
  const taken = join(here, 'taken');
  const refused = { code: 'bad-request', message: `[--out] ${taken} already exists; choose another name` };
  let begun = false;
  const begins = async () => (begun = true);
  await expect(whole(taken, begins)).rejects.toMatchObject(refused);
  await expect(whole(join(here, 'free'), begins, { a: join(here, 'free'), b: taken })).rejects.toMatchObject(refused);
  expect(begun).toBe(false);
  expect(() => checkFree(join(here, 'nowhere', 'b'))).toThrow(`the folder ${join(here, 'nowhere')} does not exist`);
  const late = join(here, 'late');
  await expect(
    whole(late, async (part) => {
      await written(part);
      writeFileSync(late, 'somebody else');
    }),
  ).rejects.toThrow(`${late} already exists`);
  expect(readFileSync(late, 'utf8')).toBe('somebody else');
  expect(readdirSync(here).sort()).toEqual(['late', 'taken']);
});

test.each([
  ['ENOSPC', 'disk-full', 'the disk is full'],
  ['EDQUOT', 'disk-full', 'the disk space that this user may take is used up'],
  ['EFBIG', 'disk-full', 'takes no file of this size'],
  ['EACCES', 'permission', 'this user may not write there'],
  ['EROFS', 'read-only', 'the disk is read-only'],
])('%s while it is written: nothing of it is left, and that is said', async (code, as, why) => {
  const here = temporaryFolder();
  const failing = async (part: string) => {
    await written(part);
    throw Object.assign(new Error('write'), { code });
  };
  const out = join(here, 'made');
  const expected = new RegExp(`^\\[--out\\] ${out} cannot be written: .*${why}; nothing of it was kept$`);
  await expect(whole(out, failing)).rejects.toMatchObject({ code: as, message: expect.stringMatching(expected) });
  expect(readdirSync(here)).toEqual([]);
});

test('what fails for another reason is said as it is', async () => {
  const out = join(temporaryFolder(), 'made');
  for (const error of [new Error('torn'), new LonghandError('model-broken', 'it is broken')])
    await expect(whole(out, () => Promise.reject(error))).rejects.toBe(error);
});

test('what a killed run left is removed, unless it can be gone on from; what others write is left alone', async () => {
  const here = temporaryFolder();
  const dead = 2 ** 22 + 1;
  const left = [
    `made.${dead}.part`,
    `made.${dead + 1}.part`,
    `made.${process.ppid}.part`,
    `other.${dead}.part`,
    `made.x.part`,
  ];
  for (const name of left) mkdirSync(join(here, name));
  const progress = { key: 'k', tensors: ['a'], error: 0, energy: 1 };
  writeFileSync(join(here, `made.${dead + 1}.part`, 'progress.json'), JSON.stringify(progress));
  const adopted = await whole(join(here, 'made'), async (part, leftovers) => {
    expect(existsSync(join(here, `made.${dead}.part`))).toBe(false);
    return leftovers.adopt('k', part);
  });
  expect(adopted).toEqual(progress);
  expect(readdirSync(here).sort()).toEqual(
    ['made', `made.${process.ppid}.part`, 'made.x.part', `other.${dead}.part`].sort(),
  );
});

test('a disk without room is refused before anything is written, with what is free and what it takes', async () => {
  const here = temporaryFolder();
  const { bavail, bsize } = statfsSync(here);
  const out = join(here, 'made');
  await checkRoom(out, (bavail * bsize) / 2);
  const error: Error = await checkRoom(out, 5.26e18).then(
    () => new Error('it fits'),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ code: 'disk-full', message: expect.stringMatching(/ are needed$/) });
  const [, free = '', unit = '', needed] = /has ([\d.]+) (MB|GB) free, but (.*) are needed/.exec(error.message) ?? [];
  expect(needed).toBe('5260000000 GB');
  const bytes = Number(free) * (unit === 'GB' ? 1e9 : 1e6);
  expect(bytes / (bavail * bsize)).toBeGreaterThan(0.8);
  expect(bytes / (bavail * bsize)).toBeLessThan(1.2);
});

test('tokenizer, template and licence go with the weights; nothing else does', async () => {
  const companions = [
    'tokenizer.json',
    'tokenizer_config.json',
    'chat_template.jinja',
    'LICENSE',
    'merges.txt',
    'preprocessor_config.json',
  ];
  const others = [
    'config.json',
    'model.safetensors',
    'README.md',
    'vocab.safetensors',
    'tokenizer.gguf',
    'my-tokenizer.json',
  ];
  const from = temporaryFolder(Object.fromEntries([...companions, ...others].map((name) => [name, name])));
  const to = temporaryFolder();
  await copyCompanions(from, to);
  expect(readdirSync(to).sort()).toEqual(companions.sort());
  expect(readFileSync(join(to, 'LICENSE'), 'utf8')).toBe('LICENSE');
});

test('the card beside a model tells how large its weights are, with the command that made it', async () => {
  const part = temporaryFolder({ 'a.safetensors': 'abc', 'b.gguf': 'de', 'config.json': 'a long configuration' });
  const card = await writeCard({ command: 'longhand quantize' } as never, part, { method: 'rtn' } as never);
  expect(card).toEqual({ method: 'rtn', command: 'longhand quantize', bytes: 5 });
  expect(JSON.parse(readFileSync(join(part, 'quality.json'), 'utf8'))).toEqual(card);
});

test.each([
  [3, '1 2', '3'],
  [4, '1 2 3', '4'],
  [6, '1 2 3 4', '5 6'],
])('of %d pages of the manual the last third is kept for measuring', (count, calibrate, measure) => {
  const pages = Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at + 1}.md`, `${at + 1}`]));
  const folder = temporaryFolder({ ...pages, 'notes.txt': 'not a page' });
  const read = (which: 'calibrate' | 'measure') => manual(folder, which).split('\n').join(' ');
  expect([read('calibrate'), read('measure')]).toEqual([calibrate, measure]);
});
