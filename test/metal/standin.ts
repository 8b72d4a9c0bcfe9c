// The Metal stand-in as tests see it: the second addon of the build, which carries the emulated device.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { beforeEach } from 'vitest';
import type { LoadOptions, Model } from '../../native/addon/index.d.ts';

export interface Run {
  source: string;
  /** `__METAL_VERSION__`: 310 when absent. */
  language?: number;
  /** The last kernel of the source when absent. */
  kernel?: string;
  /** Threads in all, and in a threadgroup. */
  grid: number[];
  threads: number[];
  buffers: (ArrayBufferView | undefined)[];
  threadgroupBytes?: number[];
  constants?: Record<number, number>;
}

export interface Counters {
  dispatches: number;
  barriers: number;
  commandBuffers: number;
  mostInFlight: number;
  waits: number;
  archiveHits: number;
  archiveMisses: number;
  /** Made of functions, by whatever way. */
  pipelines: number;
  /** Read from files of compiled libraries. */
  librariesRead: number;
  /** Libraries that wait for `holdCompile` now. */
  heldCompiles: number;
  allocated: number;
  /** Of the heaps that are alive. */
  heapBytes: number;
  /** In residency sets. */
  residentBytes: number;
  /** That are alive: one a back end. */
  queues: number;
  threads: number;
  simdOperations: number;
  matrixOperations: number;
  threadgroupBytes: number;
  compiled: number;
  /** By class of buffer; measured in check mode only. */
  bytes: Record<string, { read: number; written: number }>;
  kernels: Record<string, number>;
  /** Of all dispatches of a kernel. */
  threadgroups: Record<string, number>;
  /** Turns that lanes waited for a bank of threadgroup memory, by kernel; with `banks` only. */
  bankConflicts: Record<string, number>;
}

export interface Standin {
  options(options: {
    check?: boolean;
    /** With `check`: count how often lanes wait for a bank of threadgroup memory. */
    banks?: boolean;
    /** Count dispatches without running them. */
    dry?: boolean;
    order?: 'forward' | 'reverse' | 'random';
    seed?: number;
    workers?: number;
  }): void;
  faults(faults: {
    noDevice?: boolean;
    memoryLimit?: number;
    maxBuffer?: number;
    /** As whose row of the chips' table counts. */
    deviceName?: string;
    /** The newest `MTLGPUFamily` it is of; Apple8 when absent. */
    family?: number;
    compileError?: string;
    /** Libraries with this text in them wait until it changes. */
    holdCompile?: string;
    commandBuffer?: number;
    commandBufferCode?: number;
    pipelineThreads?: number;
    /** After every run of this kernel the word at this argument is one too large. */
    spoilKernel?: string;
    spoilArgument?: number;
  }): void;
  /** What the GPU's clock says: a dispatch takes the nanoseconds of the first rule whose words are all in its description
   *  (kernel, function constants by their bytes, "threads=64"), 1000 without a rule. Without costs: the time it took. */
  clock(clock: { costs?: [words: string[], nanoseconds: number][]; broken?: boolean }): void;
  counters(): Counters;
  reset(): void;
  /** Runs one kernel without a host. `stage` tells where it was refused: '' when it ran to its end. */
  run(run: Run): { stage: '' | 'compile' | 'run'; error: string; bankConflicts?: number };
  mistake(name: string): string;
  /** Every kernel of a text as LLVM's instructions, compiled for these values of its function constants. */
  listing(what: { source: string; macros?: Record<string, string>; constants?: Record<number, number> }): {
    text: string;
    error: string;
  };
  /** The system runs short of memory; everybody who listens has heard it when this returns. */
  pressure(level: 'warning' | 'critical'): void;
}

/** On a Mac the addon itself runs on the GPU; elsewhere the second one runs on the stand-in. */
const onMac = process.platform === 'darwin';
const file = onMac ? 'longhand.node' : 'longhand-metal.node';
const path = resolve(import.meta.dirname, '../../build/native/Release', file);
type Addon = typeof import('../../native/addon/index.d.ts');
export const metalAddon = createRequire(import.meta.url)(path) as Addon & { standin: Standin };
/** Why nothing can be computed here; absent where it can. */
const unusable = onMac ? (await metalAddon.devices()).find(({ backEnd }) => backEnd === 'metal')?.reason : undefined;
if (unusable) beforeEach(({ skip }) => skip(`needs an Apple7 GPU: ${unusable}`));
const nothing = () => {};
/** On a Mac there is none: what only sets it up does nothing, and the tests about it are left out. */
export const standin: Standin = metalAddon.standin ?? {
  options: nothing,
  faults: nothing,
  clock: nothing,
  reset: nothing,
};

/** First line of a file whose tests are about the stand-in itself. */
export function needsStandin(): void {
  beforeEach(({ skip }) => {
    if (onMac) skip('needs Linux: the stand-in');
  });
}

export const loadOnMetal = (folder: string, options: LoadOptions = {}): Promise<Model> =>
  metalAddon.load(folder, { ...options, device: 'metal', standin: !onMac });
