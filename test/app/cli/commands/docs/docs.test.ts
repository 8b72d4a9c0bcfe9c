import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Document, Grounding, PassageHit } from '../../../../../app/protocol/index.ts';
import { newFolder, root, startCore } from '../../../../support/core/core.ts';
import { makePdf } from '../../../../support/documents/pdf.ts';
import { circling } from '../../../../support/models/circling.ts';
import { tuning } from '../../../documents/evaluation/set.ts';

vi.setConfig({ testTimeout: 180_000 });

const { library } = tuning;

type Said = Omit<Partial<Grounding>, 'quote'> & {
  quote?: (Grounding['quote'] & { text: string; where: string }) | null;
  documents?: Document[];
  hits?: (PassageHit & { name: string; text: string })[];
  answer?: string;
  removed?: string;
  finish_reason?: string;
  loop?: { where: string; copies: number } | null;
  error?: { code: string; message: string };
};

const start = (args: string[]) =>
  spawn(process.execPath, [join(root, 'app/cli/main.ts'), 'docs', ...args], {
    env: { ...process.env, LONGHAND_ROOT: root, npm_lifecycle_event: undefined, INIT_CWD: undefined },
  });

const longhand = (...args: string[]) => longhandWith('', ...args);
function longhandWith(input: string, ...args: string[]): Promise<{ code: number | null; said: Said }> {
  return new Promise((resolve) => {
    const child = start([...args, '--json']);
    child.stdin.end(input);
    let out = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    child.on('close', (code) => resolve({ code, said: JSON.parse(out || '{}') as Said }));
  });
}

test('add, list, search, ask, rm, with the exit codes of what happened', async () => {
  const data = ['--data', newFolder()];
  const folder = newFolder();
  const lease = join(folder, 'lease.md');
  const broken = join(folder, 'broken.pdf');
  writeFileSync(lease, library['lease.md'] ?? '');
  writeFileSync(broken, 'no PDF at all');

  const added = await longhand('add', lease, ...data);
  expect(added).toMatchObject({ code: 0, said: { documents: [{ fileName: 'lease.md', state: { status: 'ready' } }] } });
  expect((await longhand('add', broken, ...data)).code).toBe(1);

  const listed = await longhand('list', '--collection', 'Documents', ...data);
  expect(listed.said.documents?.map(({ fileName }) => fileName).sort()).toEqual(['broken.pdf', 'lease.md']);

  const found = await longhand('search', 'monthly', 'rent', ...data);
  expect(found.code).toBe(0);
  expect(found.said).toMatchObject({ by: 'words' });
  expect(found.said.hits?.[0]?.excerpt).toContain('840 euros');
  // The whole passage, of which the excerpt is a part.
  expect(found.said.hits?.[0]?.name).toMatch(/^Lease of the flat/);
  expect(library['lease.md']).toContain(found.said.hits?.[0]?.text.split('\n').at(-1));
  expect(found.said.hits?.[0]?.text.length).toBeGreaterThan(found.said.hits?.[0]?.excerpt.length ?? 0);
  expect((await longhand('search', 'zeppelin', ...data)).code).toBe(1);

  const answer = await longhand('ask', 'How high is the monthly rent?', ...data);
  expect(answer.code).toBe(0);
  expect(answer.said).toMatchObject({ found: true });
  expect(answer.said.sources?.some(({ text }) => text.includes('840 euros'))).toBe(true);
  expect(answer.said.quote).toMatchObject({ text: 'The monthly rent is 840 euros.' });
  expect(answer.said.quote?.where).toMatch(/^Lease of the flat.*, line 9$/);
  const absent = await longhand('ask', 'Who won the football world cup in 1998?', ...data);
  expect(absent.code).toBe(1);
  expect(absent.said).toMatchObject({ found: false, answer: 'I could not find that in your documents.' });

  expect(await longhand('rm', 'broken.pdf', ...data)).toMatchObject({ code: 0, said: { removed: 'broken.pdf' } });
  expect(await longhand('rm', 'broken.pdf', ...data)).toMatchObject({
    code: 1,
    said: { error: { code: 'not-found' } },
  });
});

test('add waits until the last of several files has been read', async () => {
  const folder = newFolder();
  const files = ['first.md', 'second.md', 'third.md', 'fourth.md'].map((name) => join(folder, name));
  for (const [at, file] of files.entries()) writeFileSync(file, `# Part ${at}\n\n${library['lease.md']}`);
  const { code, said } = await longhand('add', ...files, '--data', newFolder());
  expect(said.documents?.map(({ state }) => state.status)).toEqual(files.map(() => 'ready'));
  expect(code).toBe(0);
});

test('what is asked wrongly ends with 2, what is not there with 1', async () => {
  const data = ['--data', newFolder()];
  expect(await longhand('fetch', ...data)).toMatchObject({ code: 2, said: { error: { code: 'bad-request' } } });
  expect((await longhand('ask', ...data)).code).toBe(2);
  const elsewhere = await longhand('search', 'x', '--collection', 'Elsewhere', ...data);
  expect(elsewhere).toMatchObject({ code: 1, said: { error: { code: 'not-found' } } });
});

test('the same question has the same answer', async () => {
  const data = ['--data', newFolder()];
  const lease = join(newFolder(), 'lease.md');
  writeFileSync(lease, library['lease.md'] ?? '');
  await longhand('add', lease, ...data);
  const question = 'How high is the monthly rent?';
  const answers = [];
  for (let time = 0; time < 3; time += 1) answers.push((await longhand('ask', question, ...data)).said.answer);
  expect(answers[0]).not.toBe('');
  expect(new Set(answers).size).toBe(1);
  const drawn = await longhand('ask', question, '--temperature', '1.5', '--seed', '7', ...data);
  expect(drawn.said.answer).not.toBe(answers[0]);
});

/** A data folder whose answers go in circles. Whoever waited for the card would wait ten minutes. */
async function circlingFolder(guard: { sensitivity: 'balanced' | 'off'; inAnswers: boolean }): Promise<string> {
  const { client, host, dataFolder } = await startCore();
  const loopGuard = { ...guard, action: 'ask' as const, waitSeconds: 600 };
  await client.call('settings.set', { loopGuard, sampling: circling, onboarded: true });
  await host.close();
  const mill = join(newFolder(), 'mill.md');
  writeFileSync(mill, `# The mill\n\n${'The old mill stood by the river. '.repeat(6)}\n`);
  await longhand('add', mill, '--data', dataFolder);
  return dataFolder;
}

test('an answer that goes in circles ends without waiting for somebody', async () => {
  const dataFolder = await circlingFolder({ sensitivity: 'balanced', inAnswers: true });
  const { code, said } = await longhand('ask', 'Summarise my documents.', '--data', dataFolder);
  expect(said).toMatchObject({ finish_reason: 'loop', loop: { where: 'answer' } });
  expect(code).toBe(0);
});

test('Ctrl-C ends an answer with exit code 130, and its chat is gone', async () => {
  const dataFolder = await circlingFolder({ sensitivity: 'off', inAnswers: false });
  const child = start(['ask', 'Summarise my documents.', '--data', dataFolder]);
  let note = '';
  child.stderr.on('data', (text) => {
    note += text;
  });
  child.stdout.once('data', () => child.kill('SIGINT'));
  const [code] = await once(child, 'close');
  expect(note).toContain('[docs] stopped');
  expect(code).toBe(130);
  const { client: later } = await startCore({ dataFolder });
  expect(await later.call('chats.list', {})).toEqual([]);
});

test('ask --no-model gives the quote and its sources alone, the same each time, and asks no model', async () => {
  const data = ['--data', newFolder()];
  const lease = join(newFolder(), 'lease.md');
  writeFileSync(lease, library['lease.md'] ?? '');
  await longhand('add', lease, ...data);
  const first = await longhand('ask', '--no-model', 'How high is the monthly rent?', ...data);
  expect(first).toMatchObject({ code: 0, said: { found: true, quote: { text: 'The monthly rent is 840 euros.' } } });
  expect(first.said).not.toHaveProperty('answer');
  expect(await longhand('ask', '--no-model', 'How high is the monthly rent?', ...data)).toEqual(first);
  const absent = await longhand('ask', '--no-model', 'Who won the football world cup in 1998?', ...data);
  expect(absent).toMatchObject({ code: 1, said: { found: false, quote: null } });
  expect((await longhand('ask', '--no-model', '--temperature', '1', 'How high?', ...data)).code).toBe(2);
  // No chat was made for it.
  const { client } = await startCore({ dataFolder: data[1] as string });
  expect(await client.call('chats.list', {})).toEqual([]);
});

test('add --password opens what is protected, also from stdin; a wrong one leaves it closed', async () => {
  const data = ['--data', newFolder()];
  const locked = join(newFolder(), 'locked.pdf');
  const texts = [{ text: 'The code of the safe is 4711.', x: 72, y: 700 }];
  writeFileSync(locked, makePdf({ pages: [{ texts }], password: 'sesame' }));
  const wrong = await longhand('add', locked, '--password', 'tower', ...data);
  expect(wrong).toMatchObject({ code: 1, said: { documents: [{ state: { status: 'failed', remedy: 'unlock' } }] } });
  const opened = await longhandWith('sesame\n', 'add', locked, '--password', '-', ...data);
  expect(opened).toMatchObject({ code: 0, said: { documents: [{ state: { status: 'ready' } }] } });
  expect((await longhand('ask', '--no-model', 'What is the code of the safe?', ...data)).said.quote?.text).toContain(
    '4711',
  );
});
