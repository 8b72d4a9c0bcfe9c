import { expect, test } from 'vitest';
import { type MachineReader, readConditions } from '../../../app/metrics/machine-conditions.ts';
import { createSpeedCurve } from '../../../app/metrics/speed-curve.ts';

const files: Record<string, string> = {
  '/sys/class/power_supply/AC/status': '',
  '/sys/class/power_supply/BAT0/status': 'Charging\n',
  '/sys/class/thermal/thermal_zone0/temp': '61000\n',
};
const linux = (changed: Record<string, string> = {}, load = 0.2): MachineReader => {
  const all = { ...files, ...changed };
  return {
    platform: 'linux',
    list: (folder) => [
      ...new Set(Object.keys(all).flatMap((path) => path.split(`${folder}/`)[1]?.split('/')[0] ?? [])),
    ],
    read: (file) => all[file] ?? '',
    ask: () => '',
    load: () => load,
    processors: () => 4,
  };
};

test('a quiet machine on the mains is fit to be measured', () => {
  expect(readConditions(linux())).toEqual({ battery: false, hot: false, busy: false });
});

test('a battery that is being used, a hot processor and other work are told', () => {
  expect(readConditions(linux({ '/sys/class/power_supply/BAT0/status': 'Discharging\n' })).battery).toBe(true);
  expect(readConditions(linux({ '/sys/class/thermal/thermal_zone1/temp': '95000\n' })).hot).toBe(true);
  expect(readConditions(linux({}, 2.5)).busy).toBe(true);
  // Half of the processors may be busy, and heat begins where processors slow down.
  expect(readConditions(linux({}, 2)).busy).toBe(false);
  const at = (temperature: string) =>
    readConditions(linux({ '/sys/class/thermal/thermal_zone1/temp': temperature })).hot;
  expect([at('89999\n'), at('90000\n')]).toEqual([false, true]);
});

test('a Mac is asked with pmset; one that says nothing is neither hot nor on its battery', () => {
  const mac = (batt: string, therm: string): MachineReader => ({
    ...linux(),
    platform: 'darwin',
    ask: (_, args) => (args[1] === 'batt' ? batt : therm),
  });
  const onBattery = "Now drawing from 'Battery Power'\n -InternalBattery-0 71%; discharging";
  expect(readConditions(mac(onBattery, 'CPU_Speed_Limit \t= 68'))).toEqual({ battery: true, hot: true, busy: false });
  const cool = { battery: false, hot: false, busy: false };
  expect(readConditions(mac('', ''))).toEqual(cool);
  expect(readConditions(mac("Now drawing from 'AC Power'", 'CPU_Speed_Limit \t= 100'))).toEqual(cool);
});

test('the curve of a run is the speed between arrivals, in at most some 120 points', () => {
  let now = 1000;
  const curve = createSpeedCurve(() => now);
  for (let token = 0; token < 1000; token++) {
    now += 20;
    curve.see({ type: 'delta', text: 'a', kind: 'answer', tokens: 2 });
  }
  const points = curve.points();
  expect(points.length).toBeLessThanOrEqual(121);
  expect(points.every(([, speed]) => Math.abs(speed - 100) < 1)).toBe(true);
  expect(points.at(-1)?.[0]).toBe(20_000);
  expect(createSpeedCurve().points()).toEqual([]);
});

test('the curve of a short run has the speed at each of its tokens', () => {
  let now = 0;
  const curve = createSpeedCurve(() => now);
  for (const pause of [500, 20, 40, 10]) {
    now += pause;
    curve.see({ type: 'delta', text: 'a', kind: 'answer', tokens: 1 });
  }
  expect(curve.points()).toEqual([
    [520, 50],
    [560, 25],
    [570, 100],
  ]);
});
