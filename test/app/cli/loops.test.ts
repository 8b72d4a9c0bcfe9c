import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTokenizer } from '../../../app/text/tokenizer/tokenizer.ts';
import { starter } from '../../support/models/models.ts';

const root = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'longhand-loops-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Ran = { code: number | null; out: string; err: string };
function loops(args: string[], input = ''): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'app/cli/main.ts'), 'loops', ...args], {
      cwd: folder,
      env: { ...process.env, LONGHAND_ROOT: root, npm_lifecycle_event: undefined, INIT_CWD: undefined },
    });
    const ran: Ran = { code: null, out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      ran.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      ran.err += text;
    });
    child.on('close', (code) => resolve({ ...ran, code }));
    child.stdin.end(input);
  });
}
const found = ({ out }: Ran) =>
  out
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const DOUBT = 'But maybe Cem and Dana could swap, and then the chair beside the door stays empty. ';
const LEAD = 'The plan for the evening is short. Everybody brings one chair and takes it home again.\n';

test('a text from stdin: each finding with its place in tokens and characters, and a quote of one copy', async () => {
  const ran = await loops(['-', '--json'], LEAD + DOUBT.repeat(8));
  const [first] = found(ran);
  expect(ran.code).toBe(0);
  expect(first).toMatchObject({ id: null, kind: 'exact', degree: 'card', where: 'answer' });
  expect(first.repeats).toBeGreaterThanOrEqual(3);
  expect(first.char).toBeGreaterThan(LEAD.length + 2 * DOUBT.length);
  expect(first.char).toBeLessThanOrEqual(LEAD.length + 5 * DOUBT.length);
  const tokenizer = createTokenizer(JSON.parse(readFileSync(join(starter, 'tokenizer.json'), 'utf8')));
  expect(first.token).toBe(tokenizer.encodeText((LEAD + DOUBT.repeat(8)).slice(0, first.char)).length);
  expect(first.quote).toContain('Cem and Dana could swap');
});

test('a list that counts on with what it has says so in words', async () => {
  const list = Array.from({ length: 12 }, (_, at) => `${at + 1}. Blue-eared octopus of the north\n`).join('');
  const { out } = await loops(['-'], list);
  expect(out).toMatch(
    /^quiet, entries, 3 entries already in the list, at token \d+.*\ncard, entries, 6 entries already in the list/,
  );
});

test('a text without a loop prints nothing and ends well', async () => {
  writeFileSync(join(folder, 'plain.txt'), LEAD);
  expect(await loops(['plain.txt', '--json'])).toMatchObject({ code: 0, out: '' });
});

test('--jsonl: a text a line, as text or as tokens, each in its place and under its id', async () => {
  const rows = [
    { id: 'a', text: LEAD },
    { id: 'b', text: LEAD + DOUBT.repeat(8), thinking: true },
    { id: 'c', tokens: [LEAD, ...Array.from({ length: 200 }, () => ['round ', 'and ']).flat()] },
  ];
  writeFileSync(join(folder, 'rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const lines = found(await loops(['rows.jsonl', '--jsonl', '--json']));
  expect(new Set(lines.map(({ id }) => id))).toEqual(new Set(['b', 'c']));
  expect(lines.find(({ id }) => id === 'b')).toMatchObject({ where: 'thinking' });
  expect(lines.find(({ id }) => id === 'c')).toMatchObject({ where: 'answer', kind: 'exact', periodTokens: 2 });
});

test('a line that is no text is named, with what is allowed', async () => {
  const wrong = await loops(['-', '--jsonl'], '{"id": 1}\n');
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('[loops] line 1: either "text" or "tokens" is needed');
  expect((await loops(['-', '--jsonl'], 'plain\n')).err).toContain('[loops] line 1 is not JSON: plain');
});
