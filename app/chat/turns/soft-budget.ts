import type { ModelId, Settings } from '../../protocol/index.ts';
import { thinkingOf } from '../../store/chats/messages.ts';
import type { ChatDeps } from '../deps.ts';

//  Thinking that goes nowhere in ever new words is not a detectable loop. What can be detected is that it takes far longer than
//  this model's thinking usually does: then the user is asked.

/** Used when there are too few answers to know what is usual. */
const DEFAULT_TOKENS = 8192;
const MIN_ANSWERS = 5;
const MIN_TOKENS = 2048;
const MAX_TOKENS = 16_384;
/** Multiple of the 90th percentile of past answers. */
const FACTOR = 4;

/** Tokens after which to ask; null: never. Answers from documents need half as much thinking, and an answer needs room. */
export function softBudgetOf(
  { db, models }: Pick<ChatDeps, 'db' | 'models'>,
  { askLongThinking, thinkingBudget }: Settings,
  modelId: ModelId,
  fromDocuments: boolean,
): number | null {
  if (!askLongThinking || thinkingBudget.tokens !== null || thinkingBudget.seconds !== null) return null;
  const known = thinkingOf(db, models.target(modelId).name).toSorted((a, b) => a - b);
  const usual = known[Math.floor(0.9 * (known.length - 1))] ?? 0;
  const far = known.length < MIN_ANSWERS ? DEFAULT_TOKENS : Math.min(MAX_TOKENS, Math.max(MIN_TOKENS, FACTOR * usual));
  const room = models.contextLengthOf(modelId);
  const asked = fromDocuments ? far / 2 : far;
  return Math.floor(room > 0 ? Math.min(asked, room / 2) : asked);
}
