import { describe, expect, test } from 'vitest';
import { caps, type KeyEvent, keysOf, shown } from '../../../renderer/lib/keys.ts';
import { matchOf } from '../../../renderer/lib/word-match.ts';

const press = (key: string, code: string, held: Partial<KeyEvent> = {}): KeyEvent => ({
  key,
  code,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

describe('keys', () => {
  test('Mod is Ctrl here and ⌘ on a Mac', () => {
    expect(keysOf(press('k', 'KeyK', { ctrlKey: true }), false)).toBe('Mod+K');
    expect(keysOf(press('k', 'KeyK', { metaKey: true }), true)).toBe('Mod+K');
    expect(keysOf(press('k', 'KeyK', { ctrlKey: true }), true)).toBe('Ctrl+K');
  });
  test('with Alt or Shift the place of the key counts, not the sign it types', () => {
    expect(keysOf(press('˜', 'KeyN', { altKey: true }), true)).toBe('Alt+N');
    expect(keysOf(press('>', 'Period', { metaKey: true, shiftKey: true }), true)).toBe('Mod+Shift+.');
  });
  test('other letters than Latin ones work by their place', () => {
    expect(keysOf(press('л', 'KeyK', { ctrlKey: true }), false)).toBe('Mod+K');
  });
  test.each([
    ['&', 'Digit1', { shiftKey: true }, 'Shift+1'],
    ['¡', 'Digit1', { altKey: true }, 'Alt+1'],
    ['a', 'KeyQ', {}, 'A'],
    ['A', 'KeyQ', { shiftKey: true }, 'Shift+Q'],
    ['<', 'Comma', { shiftKey: true }, 'Shift+,'],
    ['|', 'Backslash', { shiftKey: true }, 'Shift+\\'],
    ['Enter', 'Enter', { altKey: true, shiftKey: true }, 'Alt+Shift+Enter'],
    ['k', 'KeyK', { ctrlKey: true, metaKey: true }, 'Mod+Meta+K'],
  ] as const)('%s on %s', (key, code, held, keys) => {
    expect(keysOf(press(key, code, held), false)).toBe(keys);
  });
  test('a modifier alone is no key', () => {
    expect(keysOf(press('Shift', 'ShiftLeft', { shiftKey: true }), false)).toBeNull();
  });
  test('are shown in the order of the platform', () => {
    expect(caps('Mod+Shift+T', true)).toEqual(['⇧', '⌘', 'T']);
    expect(shown('Mod+Shift+T', false)).toBe('Ctrl+Shift+T');
    expect(shown('Mod+ArrowUp', true)).toBe('⌘↑');
    expect(caps('Shift+Meta+Mod+ ', false)).toEqual(['Ctrl', 'Super', 'Shift', 'Space']);
    expect(caps('Mod++', true)).toEqual(['⌘', '+']);
    expect(caps('F5', false)).toEqual(['F5']);
  });
});

describe('search of names', () => {
  test('every word begins a word', () => {
    expect(matchOf('Stop thinking and answer now', 'thi now')).toEqual([
      [5, 8],
      [25, 28],
    ]);
    expect(matchOf('Stop thinking', 'ink')).toBeNull();
    expect(matchOf('anything', '')).toEqual([]);
  });
});
