import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Settings } from '../../../app/protocol/index.ts';

test('the style sheet knows every choice of motion by the name it has in the settings', () => {
  const css = readFileSync(join(import.meta.dirname, '../../../renderer/ui/base.css'), 'utf8');
  const choices = Settings.shape.motion.unwrap().options.filter((choice) => choice !== 'system');
  const known = [...css.matchAll(/\[data-motion="([\w-]+)"\]/g)].map(([, choice]) => choice);
  expect(choices).not.toEqual([]);
  expect([...new Set(known)]).toEqual(choices);
});
