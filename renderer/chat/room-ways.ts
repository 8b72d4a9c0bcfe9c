import {
  type Forecast,
  forecast,
  type Machine,
  type ModelDescription,
  type Response,
} from '../../app/protocol/index.ts';
import { nextContextSize } from './context-size.ts';

//  What can be done about a full context, as plain data.

export type Full = { used: number; draft: number; limit: number };
export type Plan = Response<'context.plan'>;
export type Way = 'larger' | 'aside' | 'summary' | 'new-chat';

export type Larger = {
  size: number;
  /** Bytes more than now, and what the machine has left; null while that is not known. */
  more: number;
  free: number | null;
  verdict: Forecast['verdict'] | null;
};

/** The next context size that holds everything, and whether this machine has the memory for it. */
export function largerOf(full: Full, model: ModelDescription | null, machine: Machine | null): Larger | null {
  const size = model && nextContextSize(full.used + full.draft, model.contextLength);
  if (!model || !size || size <= full.limit) return null;
  const more = (size - full.limit) * model.contextBytesPerToken;
  const now = machine && forecast(model, machine, { contextLength: full.limit });
  const then = machine && forecast(model, machine, { contextLength: size });
  return {
    size,
    more,
    free: machine && now ? Math.max(0, machine.limitBytes - now.total) : null,
    verdict: then?.verdict ?? null,
  };
}

/** The best one comes first among those that are possible: nothing leaves the view, then as little as may be. */
export function bestWay(larger: Larger | null, plan: Plan | null): Way {
  if (larger && larger.verdict !== 'too-large') return 'larger';
  if (plan?.aside) return 'aside';
  return plan?.summary ? 'summary' : 'new-chat';
}
