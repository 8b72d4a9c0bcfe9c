import { LoopGuard } from '../../../text/loop/loop-detector.ts';
import type { Generation } from '../../ipc-protocol.ts';
import type { LoadedModel } from '../model/loaded-model.ts';

/** Maximum characters of the question that the detector compares the answer with. */
const LONGEST_QUESTION = 20_000;

/** The loop detector of an answer; null if switched off. */
export function watchFor({ loopGuard, prompt }: Generation, { text }: LoadedModel): LoopGuard | null {
  if (loopGuard === null) return null;
  const question = prompt.messages.findLast(({ role }) => role === 'user')?.text.slice(0, LONGEST_QUESTION) ?? '';
  return new LoopGuard({ ...loopGuard, asked: text.tokenizer.encodeText(question), question });
}
