import { z } from 'zod';
import type { Supervised } from '../../process/supervisor.ts';
import {
  Failure,
  type LatentForm,
  LatentPlan,
  type ShrinkForm,
  Shrinking,
  type ShrinkMethod,
  ShrinkPlan,
} from '../../protocol/index.ts';

//  Messages between the core and the process that makes models. One process does one thing: it plans, or it makes.
//
//  plan ──▶ planned │ failed          make ──▶ begun ──▶ progress … ──▶ made │ failed
//
//  The core cancels by ending the process, and removes what it left. When the core ends, the process removes that itself.

/** What is made: smaller weights, or a smaller context memory. */
export type Goal =
  | { kind: 'weights'; form: ShrinkForm; method: ShrinkMethod; again: boolean }
  | { kind: 'context'; form: LatentForm };

/** `out`: the folder of the result, or its .gguf file in a folder of its own; `known`: where that will lie in the end, for its card. */
export type Job = { source: string; out: string; known: string; goal: Goal };

export type ToConverter = { plan: { source: string; kind: Goal['kind'] } } | { make: Job };

const [running] = Shrinking.options;

/** It opens files of others, so its messages are validated. */
export const FromConverter = z.union([
  z.object({ planned: ShrinkPlan.omit({ modelId: true, free: true }) }),
  z.object({ latent: LatentPlan.omit({ modelId: true, free: true }) }),
  /** Everything was checked, and the work begins. */
  z.object({ begun: z.literal(true) }),
  z.object({ progress: z.object({ phase: running.shape.phase, share: z.number().min(0).max(1) }) }),
  /** Names are relative to the folder of the result. */
  z.object({ made: z.array(z.object({ name: z.string(), size: z.number(), sha256: z.string() })) }),
  z.object({ failed: Failure }),
]);
export type FromConverter = z.infer<typeof FromConverter>;

export type ConverterProcess = Supervised<ToConverter, unknown>;
export type StartConverter = () => Promise<ConverterProcess>;
