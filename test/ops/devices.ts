// Runs single ops of the addon on every device that is here. Nothing in the op tests knows which device it talks to.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { vi } from 'vitest';
import { distinct } from '../support/models/instructions.ts';

export interface Device {
  backEnd: 'cpu' | 'metal' | 'vulkan';
  instructions: string;
  threads: number;
  path: 'exact' | 'fast';
}

export interface WeightInput {
  type: string;
  shape: readonly number[];
  data: Uint8Array;
  bits?: number;
  group?: number;
  scaleType?: string;
  scales?: Uint8Array;
  globalScale?: number;
  biases?: Uint8Array;
}

type Argument = number | string | Float32Array | Int32Array | Uint16Array | readonly WeightInput[] | undefined;
export type Arguments = Readonly<Record<string, Argument>>;
type Output = Float32Array | Int32Array | number;

interface Testing {
  runOp(device: Device, op: string, args: Arguments): Output | Record<string, Output>;
  cpuInstructions(): string[];
}

const addonPath = join(import.meta.dirname, '../../build/native/Release/longhand.node');
if (!existsSync(addonPath)) throw new Error(`${addonPath} is missing: npm run build:native`);
/** The stand-in's switches (test/metal/standin.ts). */
interface Standin {
  options(options: { check?: boolean }): void;
}
type Addon = { testing: Testing; standin?: Standin } & Pick<typeof import('../../native/addon/index.d.ts'), 'devices'>;
const load = (path: string) => createRequire(import.meta.url)(path) as Addon;
const { testing, devices: present } = load(addonPath);
const found = await present();
const has = (backEnd: string) => found.some((device) => device.backEnd === backEnd && device.available);
const hasVulkan = has('vulkan');
const onMac = process.platform === 'darwin';
/** Why the GPU of this Mac computes nothing: its rows are missing then (test/ops/devices.test.ts says so). */
export const withoutMetal =
  onMac && !has('metal') ? (found.find(({ backEnd }) => backEnd === 'metal')?.reason ?? 'no Metal device') : undefined;

// Metal: the GPU itself on a Mac, elsewhere the addon built on the stand-in (test/metal), where clang 19 could build it.
const standinPath = join(import.meta.dirname, '../../build/native/Release/longhand-metal.node');
const metalAddon = onMac || !existsSync(standinPath) ? undefined : load(standinPath);
const metalTesting = withoutMetal ? undefined : onMac ? testing : metalAddon?.testing;
const metal: readonly Device[] = metalTesting
  ? [{ backEnd: 'metal', instructions: '', threads: 1, path: 'exact' }]
  : [];
// Vulkan: whatever device is first; on a machine without a GPU, Mesa's software driver.
const vulkan: readonly Device[] = hasVulkan ? [{ backEnd: 'vulkan', instructions: '', threads: 1, path: 'exact' }] : [];
// A software driver compiles every kernel the first time it meets it: seconds, which its own cache saves from then on.
if (hasVulkan) vi.setConfig({ testTimeout: 120_000 });
const testingOf = (device: Device) => (device.backEnd === 'metal' && metalTesting) || testing;

const onCpu = (instructions: string): Device => ({ backEnd: 'cpu', instructions, threads: 2, path: 'exact' });

/** The specification every other device is compared with. */
export const reference: Device = onCpu('scalar');
/** What sets with tiles of bf16 have to compute of many tokens on the fast path, bit for bit. */
export const tileModel: Device = onCpu('scalar-tiles');
/** Every device of this machine, the reference among them. */
const sets = distinct(testing.cpuInstructions()).filter((name) => name !== tileModel.instructions);
export const devices: readonly Device[] = [...sets.map(onCpu), ...metal, ...vulkan];
/** The model of what `device` computes of so many tokens on the fast path. */
export const modelOf = ({ instructions }: Device, tokens: number): Device =>
  instructions === 'amx' && tokens > 16 ? tileModel : reference;
export const others: readonly Device[] = devices.filter((device) => device.instructions !== 'scalar');
/** The same device with the activations that its kernels like best. */
export const fast = (device: Device): Device => ({ ...device, path: 'fast' });
export const nameOf = (device: Device) => `${device.backEnd} ${device.instructions}`.trimEnd();

/** Runs `work` with every access of a kernel watched (races, bounds, memory nobody wrote) where `device` is the stand-in. */
export function watched<T>(device: Device, work: () => T): T {
  const standin = device.backEnd === 'metal' ? metalAddon?.standin : undefined;
  standin?.options({ check: true });
  try {
    return work();
  } finally {
    standin?.options({});
  }
}

/** An op with one result. */
export function run(device: Device, op: string, args: Arguments): Float32Array {
  const result = testingOf(device).runOp(device, op, args);
  if (!(result instanceof Float32Array)) throw new Error(`${op} has several results`);
  return result;
}

export interface Results {
  floats(name: string): Float32Array;
  ints(name: string): Int32Array;
  number(name: string): number;
}

/** An op with named results. */
export function runMany(device: Device, op: string, args: Arguments): Results {
  const result = testingOf(device).runOp(device, op, args);
  const get = (name: string) => {
    if (typeof result === 'number' || ArrayBuffer.isView(result) || result[name] === undefined)
      throw new Error(`${op} has no result ${name}`);
    return result[name];
  };
  return {
    floats: (name) => get(name) as Float32Array,
    ints: (name) => get(name) as Int32Array,
    number: (name) => get(name) as number,
  };
}
