import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { enter } from '../../../app/server/one-time-address.ts';
import { newFolder, root } from '../../support/core/core.ts';

test.skipIf(process.platform !== 'linux')(
  'started once more it shows the one that is running in the browser, at an address that works',
  async () => {
    const programs = newFolder();
    const seen = join(programs, 'seen');
    // Stands for the desktop's opener of addresses.
    writeFileSync(
      join(programs, 'xdg-open'),
      `#!/bin/sh\nprintf '%s' "$1" > '${seen}.part'\nmv '${seen}.part' '${seen}'\n`,
    );
    chmodSync(join(programs, 'xdg-open'), 0o755);
    const data = join(newFolder(), 'longhand');
    const start = (...more: string[]) => {
      const child = spawn(process.execPath, [join(root, 'app/server/main.ts'), '--data', data, ...more], {
        env: { ...process.env, DISPLAY: ':99', PATH: `${programs}:${process.env.PATH}` },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    };
    const first = start('--no-open', '--port', '0');
    const [ready] = await once(first.stdout, 'data');
    expect(String(ready)).toContain('is ready');
    expect(await once(start(), 'exit')).toEqual([0, null]);
    await vi.waitFor(() => expect(existsSync(seen)).toBe(true), { timeout: 10_000 });
    expect((await enter(readFileSync(seen, 'utf8'))).secret).toMatch(/^[\w-]{43}$/);
    first.kill('SIGTERM');
    await once(first, 'exit');
  },
  60_000,
);
