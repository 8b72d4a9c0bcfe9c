import { renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { formats, temporaryFolder } from '../../support/models/formats.ts';
import { makeSeeingGguf } from '../../support/models/seeing-model.ts';

//  Of several vision towers beside a GGUF model the most exact one that can be read is used, in whatever order the folder lists them.

const notUsed = (path: string) =>
  formats.openCheckpoint(path).notices.map((notice) => /the vision tower "?([^" ]+)"? is not used/.exec(notice)?.[1]);

test('bf16 is tried before f16, and both before the others by name; what cannot be read is said', () => {
  const model = makeSeeingGguf(temporaryFolder({}));
  const beside = dirname(model);
  renameSync(join(beside, 'mmproj-F32.gguf'), join(beside, 'z-mmproj.gguf'));
  const broken = [
    'b-mmproj-bf16.gguf',
    'c-mmproj-BF16.gguf',
    'a-mmproj-f16.gguf',
    'd-MMProj-F16.gguf',
    'a-mmproj.gguf',
    'mmproj-Q8_0.gguf',
  ];
  // Neither backwards nor as they are named is how they are tried.
  for (const name of broken.toReversed()) writeFileSync(join(beside, name), 'no tower');
  writeFileSync(join(beside, 'notes.txt'), 'no tower either');
  expect(notUsed(model)).toEqual(broken);
  renameSync(join(beside, 'z-mmproj.gguf'), join(beside, 'z-mmproj-f16.gguf'));
  expect(notUsed(model)).toEqual(broken.slice(0, 4));
  renameSync(join(beside, 'z-mmproj-f16.gguf'), join(beside, '0-mmproj-bf16.gguf'));
  expect(notUsed(model)).toEqual([]);
});
