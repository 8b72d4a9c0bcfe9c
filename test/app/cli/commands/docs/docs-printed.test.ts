// What `longhand docs` prints for people; what programs read is tested in docs.test.ts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { longhand } from '../../../../support/core/cli.ts';
import { appWithCommands } from '../../../../support/core/cli-app.ts';
import { newFolder } from '../../../../support/core/core.ts';
import { tuning } from '../../../documents/evaluation/set.ts';

vi.setConfig({ testTimeout: 60_000 });

test('documents that were added, as they are listed, found and removed, each in a line', async () => {
  const { here, run, ran } = await appWithCommands();
  writeFileSync(join(here, 'lease.md'), tuning.library['lease.md'] ?? '');
  writeFileSync(join(here, 'broken.pdf'), 'no PDF');
  const docs = (...args: string[]) => ran('docs', ...args);
  const lease = '  Lease of the flat at 14 Marlow Street  lease.md    markdown  1.6 kB  5 passages\n';
  const why = 'failed: [documents] broken.pdf is damaged or not a PDF: Invalid PDF structure.';
  const broken = `  broken.pdf                             broken.pdf  pdf       6 B     ${why}\n`;

  const added = await run(['docs', 'add', 'lease.md', 'broken.pdf', '--embedding-model', 'none'], true);
  expect([added.code, added.out]).toEqual([1, lease + broken]);
  expect(added.err).toContain(`reading ${'█'.repeat(14)}${'░'.repeat(14)} 50 %`);
  expect(added.err.endsWith('\r\x1b[K')).toBe(true);
  expect(await docs('list')).toEqual([0, `Documents: searched by words\n${lease}${broken}`, '']);

  const [found, hits, by] = await docs('search', 'monthly', 'rent', '--limit', '1');
  expect([found, by]).toEqual([0, 'searched by words only\n']);
  expect(hits).toMatch(/^Lease of the flat at 14 Marlow Street, line 7\n {2}Rent and payment .*840 euros.* …\n$/);

  const removed = 'Lease of the flat at 14 Marlow Street removed; the original file is kept\n';
  expect(await docs('rm', 'lease.md')).toEqual([0, removed, '']);
  const none = '[docs] no document "lease.md"; see longhand docs list\n';
  expect(await docs('rm', 'lease.md', '--collection', 'Documents')).toEqual([1, '', none]);
});

test('what is asked wrongly is said with what there is', async () => {
  const here = newFolder();
  const said = async (...args: string[]) => (await longhand(here, ['docs', ...args])).err;
  expect(await said('fetch')).toBe('[docs] "fetch" is not an action; actions: add, list, search, ask, rm\n');
  for (const action of ['add', 'search', 'ask', 'rm'])
    expect(await said(action)).toBe(`[docs] ${action} needs an argument\n`);
});
