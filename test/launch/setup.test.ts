import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { lockSetup } from '../../app/launch/lock.mjs';
import { run } from '../../app/launch/run.mjs';
import { GOALS, setUp } from '../../app/launch/setup.mjs';
import { chooseShell, electronBinary, hasDisplay } from '../../app/launch/shells.mjs';
import { hashOf, isStamped, stamp, unstamp } from '../../app/launch/stamps.mjs';
import { provide, TOOLS } from '../../app/launch/tools.mjs';
import { judged } from '../support/runner/skips.mjs';

const root = join(import.meta.dirname, '../..');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function tree(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-launch-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

describe('stamps', () => {
  test('change with content, with names and with words, not with time', () => {
    const folder = tree({ 'a/x': '1', 'a/y': '2' });
    const hash = hashOf(folder, ['a']);
    writeFileSync(join(folder, 'a/x'), '1');
    expect(hashOf(folder, ['a'])).toBe(hash);
    expect(hashOf(folder, ['a'], ['arm64'])).not.toBe(hash);
    writeFileSync(join(folder, 'a/x'), '2');
    expect(hashOf(folder, ['a'])).not.toBe(hash);
    expect(hashOf(tree({ 'a/x': '1', 'a/z': '2' }), ['a'])).not.toBe(hash);
    expect(hashOf(folder, ['nothing'])).toBe(hashOf(folder, []));
  });
  test('are kept and taken back', () => {
    const folder = tree();
    expect(isStamped(folder, 'native', 'h')).toBe(false);
    stamp(folder, 'native', 'h');
    expect(isStamped(folder, 'native', 'h')).toBe(true);
    expect(isStamped(folder, 'native', 'other')).toBe(false);
    unstamp(folder, 'native');
    expect(isStamped(folder, 'native', 'h')).toBe(false);
  });
});

describe('a missing tool', () => {
  const missing = { cmake: { ...TOOLS.cmake, found: () => false } };
  test('ends with the exact command, on Debian and on a Mac', async () => {
    const tools = { cmake: missing.cmake };
    await expect(provide(['cmake'], tools, 'darwin')).rejects.toThrow(
      '[setup] cmake is missing: the engine is compiled from source. Get it with:\n    brew install cmake',
    );
    const asked = {
      clang: { found: () => false, apt: ['clang-19', 'lld-19'], why: 'w', mac: 'xcode-select --install' },
    };
    await expect(provide(['clang'], asked, 'darwin')).rejects.toThrow('xcode-select --install');
  });
  test('that only some tests want stops nobody: they tell it themselves', async () => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const asked = vi.fn(() => false);
    await expect(provide(['arm64'], { arm64: { ...TOOLS.arm64, found: asked } }, 'darwin')).resolves.toBeUndefined();
    expect(asked).toHaveBeenCalled();
    expect(said).not.toHaveBeenCalled();
    said.mockRestore();
  });
  test('that is there is not fetched', async () => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const asked = vi.fn(() => true);
    await provide(['cmake', 'arm64'], {
      cmake: { ...TOOLS.cmake, found: asked },
      arm64: { ...TOOLS.arm64, found: asked },
    });
    expect(asked).toHaveBeenCalledTimes(2);
    expect(said).not.toHaveBeenCalled();
    said.mockRestore();
  });
});

describe('a program', () => {
  test('that fails is named with its exit code', async () => {
    await expect(run(process.execPath, ['-e', 'process.exit(3)'])).rejects.toThrow('-e process.exit(3)] ended with 3');
  });
  test('that is not there is named', async () => {
    await expect(run('no-such-program', [])).rejects.toThrow('[no-such-program] could not be started');
  });
});

describe('setup', () => {
  test('knows only its goals', async () => {
    await expect(setUp('party')).rejects.toThrow('"party" is not a goal, expected one of packages, longhand, start');
    expect(GOALS.start).toContain('native');
  });
  test('runs under the oldest Node it may meet: no syntax and no modules newer than 18', () => {
    for (const name of ['setup', 'start', 'run', 'say', 'stamps', 'tools', 'lock', 'shells']) {
      const text = readFileSync(join(root, 'app/launch', `${name}.mjs`), 'utf8');
      expect(text, name).not.toMatch(
        /import\.meta\.(dirname|filename|main)|Promise\.withResolvers|\.toSorted\(|styleText|node:sqlite/,
      );
      const modules = [...text.matchAll(/from '([^']+)'/g)].map((match) => match[1] ?? '');
      expect(modules.filter((module) => !module.startsWith('node:') && !module.startsWith('./'))).toEqual([]);
    }
  });
  test('of two at once the second waits; a dead owner is not waited for', async () => {
    const folder = tree({ '.cache/setup/lock': '999999999' });
    const release = await lockSetup(folder);
    let second = false;
    const waiting = lockSetup(folder).then((free) => {
      second = true;
      return free;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(second).toBe(false);
    release();
    (await waiting)();
    expect(second).toBe(true);
  });
});

describe('npm start opens', () => {
  const desktop = {
    'dist/main/index.js': '',
    'node_modules/electron/dist/electron': '',
    'node_modules/electron/path.txt': 'electron',
  };
  const pages = { 'app/server/main.ts': '', 'dist/renderer/index.html': '' };
  const linux = (files: Record<string, string>, env = {}) =>
    chooseShell(tree(files), { platform: 'linux', env, args: ['--data', 'd'] });

  test('Electron where it, its shell and a display are', () => {
    expect(linux({ ...desktop, ...pages }, { DISPLAY: ':0' })).toMatchObject({
      shell: 'electron',
      args: [expect.any(String), '--data', 'd'],
    });
  });
  test('the browser without a display, without the binary, without the shell, and says why', () => {
    expect(linux({ ...desktop, ...pages })).toMatchObject({ shell: 'browser', because: 'there is no display' });
    const { 'node_modules/electron/dist/electron': _, ...noBinary } = desktop;
    expect(linux({ ...noBinary, ...pages }, { DISPLAY: ':0' })).toMatchObject({
      shell: 'browser',
      because: 'Electron is not installed',
    });
    expect(linux(pages, { WAYLAND_DISPLAY: 'w' })).toMatchObject({ shell: 'browser' });
  });
  test('the terminal without pages', () => {
    expect(linux({})).toMatchObject({
      shell: 'terminal',
      args: [expect.stringContaining('main.ts'), 'chat', '--data', 'd'],
    });
  });
  test('a display is needed on Linux only, and the binary may be elsewhere', () => {
    expect(hasDisplay({}, 'darwin')).toBe(true);
    expect(hasDisplay({}, 'linux')).toBe(false);
    const folder = tree({ 'dist/electron': '' });
    expect(electronBinary(tree(), { ELECTRON_OVERRIDE_DIST_PATH: join(folder, 'dist') })).toBe(
      process.platform === 'linux' ? join(folder, 'dist/electron') : null,
    );
  });
});

test('a skip is expected only for a known reason, where the reason holds', () => {
  const skips = ['needs a Mac: Vision', 'needs Linux: /proc', 'needs an Apple7 GPU: x', 'flaky', ''].map((reason) => ({
    name: 't',
    reason,
  }));
  const machine = { platform: 'linux' as const, arch: 'x64' as const, root: true };
  expect(judged(skips, machine).map(({ expected }) => expected)).toEqual([true, false, false, false, false]);
});

test('CI runs what everybody runs', () => {
  const text = readFileSync(join(root, '.ci/run'), 'utf8');
  expect(text).toMatch(/exec npm test\n$/);
  expect(spawnSync('test', ['-x', join(root, '.ci/run')]).status).toBe(0);
});
