// Which loops run is chosen by the processor, or by whoever starts Longhand.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Device } from '../../../native/addon/index.d.ts';
import { repository } from '../../support/addon.ts';

const addon = join(repository, 'build', 'native', 'Release', 'longhand.node');

function cpuWith(env: Record<string, string>): Device | undefined {
  const script = `require(process.argv[1]).devices().then((all) => process.stdout.write(JSON.stringify(all)));`;
  const said = execFileSync(process.execPath, ['-e', script, addon], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return (JSON.parse(said) as Device[]).find(({ id }) => id === 'cpu');
}

test('LONGHAND_CPU_ISA forces an instruction set, as its former name does, and the newer name counts', () => {
  expect(cpuWith({ LONGHAND_CPU_ISA: 'scalar' })?.detail).toContain('scalar');
  expect(cpuWith({ LONGHAND_CPU: 'scalar' })?.detail).toContain('scalar');
  expect(cpuWith({ LONGHAND_CPU_ISA: 'scalar', LONGHAND_CPU: 'abacus' })?.detail).toContain('scalar');
});

test('one that the processor lacks is refused with those that it has', () => {
  const { available, reason } = cpuWith({ LONGHAND_CPU_ISA: 'abacus' }) ?? {};
  expect(available).toBe(false);
  expect(reason).toMatch(/"abacus" is not available; this processor has .*scalar/);
});

test('tiles are chosen where the processor has them, their scalar model never by itself', () => {
  const chosen = cpuWith({ LONGHAND_CPU_ISA: '', LONGHAND_CPU: '' })?.detail.split(',')[0];
  const lacking = cpuWith({ LONGHAND_CPU_ISA: 'abacus' })?.reason ?? '';
  expect(chosen).not.toBe('scalar-tiles');
  if (lacking.includes(' amx')) expect(chosen).toBe('amx');
});
