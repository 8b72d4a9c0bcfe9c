import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

vi.stubGlobal('window', {});
vi.stubGlobal('navigator', { platform: 'Linux', userAgent: 'Linux' });
const { sends } = await import('../../../../renderer/chat/composer/send-keys.ts');

const none = { key: 'Enter', shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };

test.each([
  ['enter', {}, true],
  ['enter', { ctrlKey: true }, true],
  ['enter', { shiftKey: true }, false],
  ['enter', { altKey: true }, false],
  ['mod-enter', {}, false],
  ['mod-enter', { ctrlKey: true }, true],
  ['mod-enter', { ctrlKey: true, shiftKey: true }, false],
  ['enter', { key: 'a' }, false],
] as const)('with "%s", %j sends: %s', (sendWith, keys, expected) => {
  expect(sends({ ...none, ...keys }, sendWith as Parameters<typeof sends>[1])).toBe(expected);
});

test('every field in which a message is written asks the one setting', () => {
  for (const name of ['chat/composer/composer.tsx', 'chat/transcript/editor.tsx'])
    expect(readFileSync(join(import.meta.dirname, '../../../../renderer', name), 'utf8')).toContain(
      'sends(event, sendWith)',
    );
});
