import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

test('without Electron, and with nowhere to get it from, packaging says so in a sentence and builds nothing', () => {
  const empty = mkdtempSync(join(tmpdir(), 'longhand-package-'));
  onTestFinished(() => rmSync(empty, { recursive: true, force: true }));
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(root, 'app/launch/package.mjs')], {
    encoding: 'utf8',
    env: { ...process.env, ELECTRON_OVERRIDE_DIST_PATH: empty, ELECTRON_MIRROR: 'http://127.0.0.1:9', NO_COLOR: '1' },
  });
  expect(stderr).toMatch(
    /^✗ \[package\] Electron [\d.]+ is not here and could not be fetched from http:\/\/127\.0\.0\.1:9; .*ELECTRON_MIRROR.*\n$/,
  );
  expect(stdout).toBe('');
  expect(status).toBe(1);
});
