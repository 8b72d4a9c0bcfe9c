import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import type { Conditions } from '../protocol/index.ts';

/** Access to the machine; tests pass a fake. */
export type MachineReader = {
  platform: NodeJS.Platform;
  /** Names in a folder; none when it is not there. */
  list(folder: string): string[];
  /** Text of a file; empty when it cannot be read. */
  read(file: string): string;
  /** What a program of the system prints; empty when it fails. */
  ask(program: string, args: string[]): string;
  load(): number;
  processors(): number;
};

const SUPPLIES = '/sys/class/power_supply';
const ZONES = '/sys/class/thermal';
/** Millidegrees Celsius at which current processors begin to throttle. */
const HOT = 90_000;

/** Conditions that make a measurement unreliable: battery power, heat, or other load. */
export function readConditions(machine: MachineReader = thisMachine): Conditions {
  return {
    // More than half of the processors are kept busy by something else.
    busy: machine.load() > machine.processors() / 2,
    ...(machine.platform === 'darwin' ? macPower(machine) : linuxPower(machine)),
  };
}

function macPower({ ask }: MachineReader): Pick<Conditions, 'battery' | 'hot'> {
  const limit = /CPU_Speed_Limit\s*=\s*(\d+)/.exec(ask('pmset', ['-g', 'therm']))?.[1];
  return {
    battery: ask('pmset', ['-g', 'batt']).includes("'Battery Power'"),
    hot: limit !== undefined && Number(limit) < 100,
  };
}

function linuxPower({ list, read }: MachineReader): Pick<Conditions, 'battery' | 'hot'> {
  const supplies = list(SUPPLIES).map((name) => join(SUPPLIES, name));
  const zones = list(ZONES).filter((name) => name.startsWith('thermal_zone'));
  return {
    battery: supplies.some((supply) => read(join(supply, 'status')).trim() === 'Discharging'),
    hot: zones.some((zone) => Number(read(join(ZONES, zone, 'temp'))) >= HOT),
  };
}

const thisMachine: MachineReader = {
  platform: process.platform,
  list: (folder) => quietly(() => readdirSync(folder), []),
  read: (file) => quietly(() => readFileSync(file, 'utf8'), ''),
  ask: (program, args) => quietly(() => execFileSync(program, args, { encoding: 'utf8', timeout: 2000 }), ''),
  load: () => loadavg()[0] ?? 0,
  processors: () => cpus().length,
};

function quietly<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
