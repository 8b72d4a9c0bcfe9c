import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { halfOf } from './exam/cases.ts';

//  The runner that reports on texts of others, on two texts of our own.

const runner = join(import.meta.dirname, '../../../bench/loops/exam.ts');
const DOUBT = 'But maybe Cem and Dana could swap, and then the chair beside the door stays empty. ';

test('the runner tells loops found from loops missed, and reads each half alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-exam-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const lead = 'A short lead. ';
  const loop = (id: string) => ({
    id,
    kind: 'wild',
    begin: lead.length,
    cycle: DOUBT.length,
    ends: Array.from({ length: 12 }, (_, copy) => lead.length + (copy + 1) * DOUBT.length),
    parts: [{ where: 'answer', text: lead + DOUBT.repeat(12) }],
  });
  const ids = Array.from({ length: 12 }, (_, at) => `text ${at}`);
  writeFileSync(
    join(folder, 'wild_loops.jsonl.gz'),
    gzipSync(ids.map((id) => `${JSON.stringify(loop(id))}\n`).join('')),
  );
  const sound = ids.map((id) => `${JSON.stringify({ id: `sound ${id}`, kind: 'prose', text: lead })}\n`);
  writeFileSync(join(folder, 'neg_made.jsonl.gz'), gzipSync(sound.join('')));
  for (const half of ['tuning', 'report'] as const) {
    const { table } = JSON.parse(
      execFileSync(process.execPath, [runner, folder, '--half', half, '--json'], { encoding: 'utf8' }),
    );
    const expected = ids.filter((id) => halfOf(id) === half).length;
    expect(expected).toBeGreaterThan(0);
    expect(table.loops).toMatchObject([
      { group: 'exact, real outputs', all: expected, found: expected, inTime: expected },
    ]);
    for (const row of table.sound) expect(row).toMatchObject({ cards: 0, quiet: 0 });
  }
});
