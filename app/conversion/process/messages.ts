import { z } from 'zod';
import type { Supervised } from '../../process/supervisor.ts';
import {
  Failure,
  type LatentForm,
  LatentPlan,
  QUALITY_PHASES,
  QualityPlan,
  QualityResult,
  type ShrinkForm,
  Shrinking,
  type ShrinkMethod,
  ShrinkPlan,
} from '../../protocol/index.ts';
import type { Evaluation } from '../../quality/evaluation/evaluate.ts';

//  Messages between the core and the process that makes and evaluates models. One process does one thing.
//
//  plan ──▶ planned │ failed          make ──▶ begun ──▶ progress … ──▶ made │ failed
//  forecast ──▶ forecast │ failed     evaluate ──▶ evaluation … ──▶ evaluated │ failed      wait: held up while it is true
//
//  The core cancels by ending the process, and removes what it left. When the core ends, the process removes that itself.

/** What is made: smaller weights, or a smaller context memory. */
export type Goal =
  | { kind: 'weights'; form: ShrinkForm; method: ShrinkMethod; again: boolean }
  | { kind: 'context'; form: LatentForm };

/** `out`: the folder of the result, or its .gguf file in a folder of its own; `known`: where that will lie in the end, for its card. */
export type Job = { source: string; out: string; known: string; goal: Goal };

export type ToConverter =
  | { plan: { source: string; kind: Goal['kind'] } }
  | { make: Job }
  | { forecast: Evaluation }
  /** `folder`: of the parts that are done. */
  | { evaluate: Evaluation & { folder: string } }
  | { wait: boolean };

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
  z.object({ forecast: QualityPlan }),
  z.object({
    evaluation: z.object({ phase: z.enum(QUALITY_PHASES), share: z.number().min(0).max(1), waiting: z.boolean() }),
  }),
  z.object({ evaluated: QualityResult }),
  z.object({ failed: Failure }),
]);
export type FromConverter = z.infer<typeof FromConverter>;

export type ConverterProcess = Supervised<ToConverter, unknown>;
export type StartConverter = () => Promise<ConverterProcess>;
