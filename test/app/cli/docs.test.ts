import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Document, Grounding, PassageHit } from '../../../app/protocol/index.ts';
import { newFolder, root } from '../../support/core.ts';
import { tuning } from '../documents/evaluation/set.ts';

vi.setConfig({ testTimeout: 180_000 });

const { library } = tuning;

type Said = Omit<Partial<Grounding>, 'quote'> & {
  quote?: (Grounding['quote'] & { text: string; where: string }) | null;
  documents?: Document[];
  hits?: PassageHit[];
  answer?: string;
  removed?: string;
  error?: { code: string; message: string };
};

function longhand(...args: string[]): Promise<{ code: number | null; said: Said }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'app/cli/main.ts'), 'docs', ...args, '--json'], {
      env: { ...process.env, LONGHAND_ROOT: root, npm_lifecycle_event: undefined, INIT_CWD: undefined },
    });
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
  expect(added).toMatchObject({ code: 0, said: { documents: [{ fileName: 'lease.md', state: { at: 'ready' } }] } });
  expect((await longhand('add', broken, ...data)).code).toBe(1);

  const listed = await longhand('list', '--collection', 'Documents', ...data);
  expect(listed.said.documents?.map(({ fileName }) => fileName).sort()).toEqual(['broken.pdf', 'lease.md']);

  const found = await longhand('search', 'monthly', 'rent', ...data);
  expect(found.code).toBe(0);
  expect(found.said).toMatchObject({ by: 'words' });
  expect(found.said.hits?.[0]?.excerpt).toContain('840 euros');
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

test('what is asked wrongly ends with 2, what is not there with 1', async () => {
  const data = ['--data', newFolder()];
  expect(await longhand('fetch', ...data)).toMatchObject({ code: 2, said: { error: { code: 'bad-request' } } });
  expect((await longhand('ask', ...data)).code).toBe(2);
  const elsewhere = await longhand('search', 'x', '--collection', 'Elsewhere', ...data);
  expect(elsewhere).toMatchObject({ code: 1, said: { error: { code: 'not-found' } } });
});
