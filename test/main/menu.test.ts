import type { MenuItemConstructorOptions } from 'electron';
import { describe, expect, test, vi } from 'vitest';
import { words } from '../../main/strings.ts';

vi.mock('electron', () => import('../support/fakes/electron.ts'));
const { menuTemplate } = await import('../../main/menu.ts');

const all = (items: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions[] =>
  items.flatMap((item) => [item, ...all(Array.isArray(item.submenu) ? item.submenu : [])]);

describe.each(['darwin', 'linux', 'win32'] as const)('the menu on %s', (platform) => {
  const actions = { platform, send: () => {}, newWindow: () => {}, openChat: vi.fn() };
  const template = menuTemplate(actions, []);

  test('every entry has its words from the strings file: a role alone would show Electron’s English', () => {
    const { roles } = words.menu;
    const known = [...Object.values(words.menu), ...Object.values(roles), 'Longhand'];
    for (const { type, role, label } of all(template)) {
      if (type === 'separator') continue;
      expect(known, `${role ?? 'entry'}`).toContain(label);
      if (role && role in roles) expect(label).toBe(roles[role as keyof typeof roles]);
    }
  });

  test('no menu is left to Electron to fill', () => {
    const filled = template.filter(({ role }) => role && /menu$/i.test(role));
    expect(filled.length).toBeGreaterThan(0);
    for (const { submenu } of filled) expect(submenu).toBeInstanceOf(Array);
  });
});
