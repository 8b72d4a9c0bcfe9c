import { z } from 'zod';
import { Failure } from '../errors.ts';
import { ModelId } from '../ids.ts';

//  Two models side by side: both answer one prompt, one after the other. Nothing is stored.
//
//  each side: waiting ──▶ reading ──▶ writing ──▶ done │ stopped │ failed

export const TrialSide = z.object({
  modelId: ModelId,
  name: z.string(),
  /** `reading`: it is loaded, and reads the prompt. */
  status: z.enum(['waiting', 'reading', 'writing', 'done', 'stopped', 'failed']),
  text: z.string(),
  /** The answer was cut off at the longest length. */
  cut: z.boolean(),
  tokensPerSecond: z.number().nullable(),
  failure: Failure.nullable(),
});
export type TrialSide = z.infer<typeof TrialSide>;

export const Trial = z.object({ prompt: z.string(), sides: z.tuple([TrialSide, TrialSide]) });
export type Trial = z.infer<typeof Trial>;

const call = <Request extends z.ZodType, Response extends z.ZodType>(request: Request, response: Response) => ({
  request,
  response,
});

export const trialCalls = {
  /** Ends the one before. The rest is told by `trial`. */
  'trial.start': call(
    z.object({ modelIds: z.tuple([ModelId, ModelId]), prompt: z.string().trim().min(1).max(20_000) }),
    z.void(),
  ),
  'trial.stop': call(z.void(), z.void()),
} as const;

export const trialEvents = { trial: Trial } as const;
