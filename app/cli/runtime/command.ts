import type { Terminal } from './terminal.ts';

/** Usage error: exit code 2. */
export class UsageError extends Error {}

export type Flag = {
  readonly kind: 'text' | 'number' | 'count' | 'ids' | 'yes' | 'texts';
  readonly help: string;
  /** The word shown for the value. */
  readonly value?: string;
  readonly oneOf?: readonly string[];
  /** Its name in older versions, which is still understood. */
  readonly was?: string;
};
export type Flags = Readonly<Record<string, Flag>>;

export type ValueOf<F extends Flag> = F['kind'] extends 'text'
  ? string
  : F['kind'] extends 'number' | 'count'
    ? number
    : F['kind'] extends 'yes'
      ? boolean
      : F['kind'] extends 'texts'
        ? string[]
        : number[];
export type Values<F extends Flags> = { readonly [Name in keyof F]?: ValueOf<F[Name]> };

/** Paths of the parts of Longhand, and the user's directory. */
export type Places = {
  readonly addon: string;
  /** The addon with the Metal emulator, for tests; on a Mac the addon itself. */
  readonly standin: string;
  readonly worker: string;
  readonly pictureWorker: string;
  /** Entry files of the document parser process and of its thread. */
  readonly documentParser: string;
  readonly documentWorker: string;
  /** What the core needs: the engine process and the database migrations. */
  readonly engine: string;
  readonly migrations: string;
  readonly resources: string;
  readonly here: string;
};

export type Context = {
  readonly terminal: Terminal;
  readonly places: Places;
  readonly json: boolean;
  /** Set by Ctrl-C. */
  readonly signal: AbortSignal;
};

export type Command<F extends Flags = Flags> = {
  readonly name: string;
  /** Its old name, still accepted. */
  readonly was?: string;
  readonly summary: string;
  /** What follows the name in the usage line. */
  readonly usage: string;
  readonly flags: F;
  /** Minimum and maximum number of positional arguments. */
  readonly words?: readonly [number, number];
  /** @returns the exit code, 0 when it returns nothing */
  run(context: Context, values: Values<F>, words: readonly string[]): Promise<number | undefined>;
};

/** Infers the types of the flags. */
export const command = <const F extends Flags>(definition: Command<F>): Command => definition as unknown as Command;

export const MODEL_FLAGS = {
  model: { kind: 'text', value: 'PATH', help: 'safetensors folder, .gguf file, "assistant" (default) or "starter"' },
  device: { kind: 'text', value: 'ID', help: 'device, as listed by `longhand devices` (default: the best)' },
  vision: {
    kind: 'text',
    value: 'FILE',
    help: 'the vision tower (mmproj) of a .gguf file (default: the one beside it)',
  },
  threads: { kind: 'count', value: 'N', help: 'CPU threads' },
  'metal-emulator': { kind: 'yes', was: 'standin', help: 'run the Metal kernels on the CPU (tests)' },
} as const satisfies Flags;

export const PRECISION_FLAG = {
  precision: {
    kind: 'text',
    was: 'path',
    value: 'exact|fast',
    oneOf: ['exact', 'fast'],
    help: 'arithmetic: exact (fp32) or fast (8-bit activations)',
  },
} as const satisfies Flags;

/** The value of --precision; undefined leaves it to the engine. */
export function numericPath(value: string | undefined): 'exact' | 'fast' | undefined {
  return value === 'exact' || value === 'fast' ? value : undefined;
}
