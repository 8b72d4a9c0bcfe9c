// The text or the tokens that a model is calibrated on.
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCalibration } from '../../../../../app/cli/commands/conversion/calibration.ts';
import type { Context } from '../../../../../app/cli/runtime/command.ts';
import { newFolder } from '../../../../support/core/core.ts';

function reading() {
  const here = newFolder();
  const read = (name: string) => readCalibration({ places: { here } } as Context, name);
  const file = join(here, 'text');
  return {
    file,
    here,
    read,
    of(content: string | Uint8Array) {
      writeFileSync(file, content);
      return read('text');
    },
  };
}

test('lists of token ids, alone or under their name, and everything else as the text that it is', () => {
  const { of } = reading();
  const ids = [Int32Array.of(1, 2), Int32Array.of(3)];
  expect(of('[[1, 2], [3]]')).toEqual({ name: 'text', content: ids });
  expect(of(' {"calibration_batch": [[1, 2], [3]]}').content).toEqual(ids);
  for (const text of [
    'Once upon a time.',
    '[[1, 2], ["a"]]',
    '[[1, "a"]]',
    '[[1.5]]',
    '[]',
    '{"other": 1}',
    '[1]',
    '[note] to self',
  ])
    expect(of(text).content).toBe(text);
});

test('what cannot be used is refused with its path and why', () => {
  const { of, file, here, read } = reading();
  const refused = (what: () => unknown, why: string) =>
    expect(what).toThrow(expect.objectContaining({ code: 'bad-request', message: `[--calibration] ${why}` }));
  refused(() => read('none'), `${join(here, 'none')} is not a file`);
  refused(() => read('.'), `${here} is not a file`);
  refused(() => of(' \n'), `${file} is empty`);
  refused(() => of(Uint8Array.of(0xff, 0xfe, 0)), `${file} is not text: its bytes are not UTF-8`);
  const most = 64 * 1024 * 1024;
  // A file with a hole takes no room.
  truncateSync(file, most + 1);
  refused(() => read('text'), `${file} has ${most + 1} bytes, at most ${most} are allowed`);
});
