import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { installed, loops, sound, split } from './index.ts';
import listed from './installed.json' with { type: 'json' };

test('the corpus is the one that was frozen before the detector was tuned', () => {
  const digest = createHash('sha256')
    .update(JSON.stringify([loops(), sound()]))
    .digest('hex');
  expect(digest).toBe('899e5479a537355f5e187f10b7aec56a12807baf81d383a0e0f90bf437adc03e');
});

test('no loop and no sound text has a name twice', () => {
  const names = [...loops(), ...sound(), ...installed().found].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('the hold-out is about half of the loops and of the sound texts', () => {
  for (const items of [loops(), sound(), installed().found]) {
    const held = items.filter(({ name }) => split(name) === 'hold-out').length / items.length;
    expect(held).toBeGreaterThan(0.4);
    expect(held).toBeLessThan(0.6);
  }
});

test('every npm file of the list is there, as the lock file pins it; a package that left the lock leaves the list', () => {
  const names = new Set(installed().found.map(({ name }) => name));
  const npm = listed.filter(({ path }) => path.startsWith('node_modules/'));
  expect(npm.filter(({ path }) => !names.has(path))).toEqual([]);
  expect(npm.length).toBeGreaterThan(90);
});
