import { LoopGuard } from '../../../text/loop/loop-detector.ts';
import type { Generation } from '../../ipc-protocol.ts';
import type { LoadedModel } from '../model/loaded-model.ts';

/** Characters of the question in which the guard looks for what the answer repeats. */
const LONGEST_QUESTION = 20_000;

/** The loop guard of an answer; null where it is switched off. */
export function watchFor({ loopGuard, prompt }: Generation, { text }: LoadedModel): LoopGuard | null {
  if (loopGuard === null) return null;
  const question = prompt.messages.findLast(({ role }) => role === 'user')?.text.slice(0, LONGEST_QUESTION) ?? '';
  return new LoopGuard({ ...loopGuard, asked: text.tokenizer.encodeText(question), question });
}
