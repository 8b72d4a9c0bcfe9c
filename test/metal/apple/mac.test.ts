// npm run mac, as far as it goes without one: what cannot be had is a step that failed, and the next one runs.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { SCRIPTS } from '../../bench/mac/speed.mjs';
import { repository } from '../../support/addon.ts';
import { readCase } from '../../support/models/golden.ts';
import { needsStandin } from '../standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000 });

const folder = mkdtempSync(join(tmpdir(), 'longhand-mac-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A folder with an `xcrun` that does this. */
function xcrun(script: string): string {
  const path = mkdtempSync(join(folder, 'bin-'));
  writeFileSync(join(path, 'xcrun'), `#!/bin/sh\n${script}`);
  chmodSync(join(path, 'xcrun'), 0o755);
  return path;
}

interface Step {
  name: string;
  state: string;
  table?: string[][];
  failures?: { name: string; message: string }[];
  pipelines?: Record<string, { kernel: string; threads: number; limit: number; found: boolean }[]>;
}

/** The command with these words: how it ended, and both files of its report. */
async function session(words: string[], path = '') {
  const out = mkdtempSync(join(folder, 'out-'));
  const run = join(repository, 'test/bench/mac/run.mjs');
  const env = { ...process.env, PATH: [path, process.env.PATH].filter(Boolean).join(delimiter) };
  const code = await new Promise((resolve) =>
    execFile(process.execPath, [run, '--out', out, ...words], { env }, (error) => resolve(error?.code ?? 0)),
  );
  const read = (ending: string) => {
    const name = readdirSync(out).find((each) => each.startsWith('report-') && each.endsWith(ending));
    return name ? readFileSync(join(out, name), 'utf8') : '';
  };
  return { code, page: read('.md'), steps: (JSON.parse(read('.json')) as { steps: Step[] }).steps };
}

describe('npm run mac', () => {
  test('a machine without Xcode: the step fails, the next one is done, the page has both', async () => {
    const model = readCase('qwen3_5/dense_tied').folder;
    const words = ['--quick', '--only', 'system,pipelines', '--shapes', model];
    const { code, page, steps } = await session(
      words,
      xcrun('echo "xcrun: error: unable to find utility" >&2; exit 72\n'),
    );
    expect(code).toBe(1);
    expect(steps.map(({ name, state }) => `${name} ${state}`)).toEqual(['system failed', 'pipelines ok']);
    expect(page).toContain('unable to find utility');
    expect(page).toContain('| pipelines | ok |');
    const made = Object.values(steps[1]?.pipelines ?? {})[0] ?? [];
    expect(made.map(({ kernel }) => kernel)).toContain('gated_delta_step_4');
    expect(made.filter(({ found, threads, limit }) => found || limit < threads)).toEqual([]);
    // A second start finds in the archive what the first one kept.
    expect(steps[1]?.table?.[1]?.[4]).toBe(`${made.length} of ${made.length}`);
  });

  test("one text that Apple's compiler refuses is named with its message, and the others are compiled", async () => {
    const path = xcrun('case "$*" in *-DLAYOUT=Q6K*) echo "line 7: no" >&2; exit 1 ;; esac\n');
    const { code, page, steps } = await session(['--only', 'xcode'], path);
    expect(code).toBe(1);
    expect(steps[0]?.failures?.map(({ name }) => name)).toEqual(expect.arrayContaining(['linear Q6K', 'matmul Q6K']));
    expect(steps[0]?.failures?.every(({ message }) => message.includes('line 7: no'))).toBe(true);
    expect(page).toMatch(/\d{2,} of \d{2,} libraries/);
  });

  test('every script that a step starts is there', () => {
    expect(Object.values(SCRIPTS).filter((script) => !existsSync(script))).toEqual([]);
  });

  test('a step that does not exist is refused with the ones that do', async () => {
    const run = join(repository, 'test/bench/mac/run.mjs');
    const said = await new Promise((resolve) =>
      execFile(process.execPath, [run, '--only', 'xcode,nothing'], (error, _, stderr) =>
        resolve(`${error?.code} ${stderr}`),
      ),
    );
    expect(said).toMatch(/^2 \[mac\] --only nothing: the steps are build, xcode/);
  });
});
