import {
  type Forecast,
  forecast,
  kvBytesPerToken,
  type Machine,
  type ModelDescription,
  type ModelEntry,
  type Response,
  type Settings,
} from '../../../app/protocol/index.ts';
import { nextContextSize } from './context-size.ts';

//  The options for a full context, as plain data.

export type Full = { used: number; draft: number; limit: number };
export type Plan = Response<'context.overflowOptions'>;
export type Way = 'larger' | 'trim' | 'summary' | 'new-chat' | 'search' | 'model' | 'shorten';

export type Larger = {
  size: number;
  /** Additional bytes, and the machine's free memory; null if unknown. */
  more: number;
  free: number | null;
  verdict: Forecast['verdict'] | null;
};

/** The next context size that holds everything, and whether this machine has the memory for it. */
export function largerOf(
  full: Full,
  model: ModelDescription | null,
  machine: Machine | null,
  kvType: Settings['kvType'] = 'f16',
): Larger | null {
  const size = model && nextContextSize(full.used + full.draft, model.contextLength);
  if (!model || !size || size <= full.limit) return null;
  const more = (size - full.limit) * kvBytesPerToken(model, kvType);
  const now = machine && forecast(model, machine, { contextLength: full.limit, kvType });
  const then = machine && forecast(model, machine, { contextLength: size, kvType });
  return {
    size,
    more,
    free: machine && now ? Math.max(0, machine.limitBytes - now.total) : null,
    verdict: then?.verdict ?? null,
  };
}

/** Another model that holds everything, and the context size it needs for that. */
export type OtherModel = { model: ModelEntry; size: number; verdict: Forecast['verdict'] | null };

/** The smallest model that fits this machine. */
export function otherModelFor(
  full: Full,
  current: ModelEntry | null,
  models: readonly ModelEntry[],
  machine: Machine | null,
  kvType: Settings['kvType'] = 'f16',
): OtherModel | null {
  const fitting = models.flatMap((model) => {
    const { description, id, missing, unmounted } = model;
    if (
      !description?.supported ||
      description.encoder ||
      description.reranker ||
      missing ||
      unmounted ||
      id === current?.id
    )
      return [];
    const size = nextContextSize(full.used + full.draft, description.contextLength);
    if (size === null) return [];
    const verdict = machine && forecast(description, machine, { contextLength: size, kvType }).verdict;
    return verdict === 'too-large' ? [] : [{ model, size, verdict, weight: description.weightBytes }];
  });
  const [best] = fitting.sort((a, b) => a.weight - b.weight);
  return best ? { model: best.model, size: best.size, verdict: best.verdict } : null;
}

/** Minimum share of the context for the answer: a message that leaves less fits nowhere. */
const ANSWER_SHARE = 0.1;

/** Whether the message alone leaves room for an answer: only then does a new chat help. */
export const fitsAlone = ({ draft, limit }: Full): boolean => draft <= limit * (1 - ANSWER_SHARE);

/** The options, best first: those that keep everything in view, then those that lose the least. */
export type Possible = {
  larger: Larger | null;
  plan: Plan | null;
  other: OtherModel | null;
  /** A long text that can be searched instead of read whole. */
  searchable: boolean;
  /** True: an answer continues; false: a message is waiting. */
  resumes: boolean;
};

export function bestWay(full: Full, { larger, plan, other, searchable, resumes }: Possible): Way | null {
  if (larger && larger.verdict !== 'too-large') return 'larger';
  if (plan?.trim) return 'trim';
  if (plan?.summary) return 'summary';
  if (resumes) return other ? 'model' : null;
  if (full.used > 0 && fitsAlone(full)) return 'new-chat';
  if (searchable) return 'search';
  return other ? 'model' : 'shorten';
}
