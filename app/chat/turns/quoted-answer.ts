import { type Grounding, type ModelId, quotedIn, STARTER } from '../../protocol/index.ts';
import type { ChatDeps } from '../deps.ts';

/** Below this many parameters, a model mixes up passages. Of 24 questions whose answer was in a given passage,
 *  SmolLM2-135M answered 7 correctly from four passages, 13 from the sentence alone, and 16 when told to quote
 *  that sentence: showing the sentence itself is better. */
const READS_PASSAGES = 3e8;

/** The sentence that was found, if the model would only garble it; null to ask the model. The starter model was trained on
 *  passages. */
export function quotedAnswer(
  { models }: { models: Pick<ChatDeps['models'], 'parametersOf'> },
  modelId: ModelId,
  grounding: Grounding,
): string | null {
  const parameters = models.parametersOf(modelId);
  if (modelId === STARTER || parameters === 0 || parameters >= READS_PASSAGES) return null;
  const quoted = quotedIn(grounding);
  return quoted && `${quoted.text} [${quoted.source.number}]`;
}
