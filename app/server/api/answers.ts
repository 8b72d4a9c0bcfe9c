import type { AnswerPart, AnswerRequest, Inference, TokenScore } from '../../core/inference.ts';
import { giveUp } from './hang-up.ts';
import { TooBusy } from './problems.ts';

/** Maximum running and waiting requests. */
export const maxRequests = 64;

export type Whole = {
  thinking: string;
  text: string;
  scores: TokenScore[];
  calls: Extract<AnswerPart, { type: 'call' }>[];
  end: Extract<AnswerPart, { type: 'end' }>;
};

export type Answers = {
  /** @throws TooBusy on the first iteration */
  parts(request: AnswerRequest, signal: AbortSignal): AsyncGenerator<AnswerPart, void>;
  /** @throws TooBusy */
  whole(request: AnswerRequest, signal: AbortSignal): Promise<Whole>;
};

export function createAnswers(inference: Pick<Inference, 'answer'>): Answers {
  let running = 0;

  function admit(): void {
    if (running >= maxRequests) throw new TooBusy(`[queue] ${maxRequests} requests wait already; try again soon`);
    running++;
  }

  // Admitted on the first iteration: a generator that is never started would never release its place.
  async function* parts(request: AnswerRequest, signal: AbortSignal): AsyncGenerator<AnswerPart, void> {
    admit();
    try {
      yield* inference.answer(request, signal);
    } finally {
      running--;
    }
  }

  return {
    parts,
    async whole(request, signal) {
      let thinking = '';
      let text = '';
      const scores: TokenScore[] = [];
      const calls: Whole['calls'] = [];
      for await (const part of parts(request, signal)) {
        if (part.type === 'end') return { thinking: thinking.trim(), text, scores, calls, end: part };
        if (part.type === 'call') calls.push(part);
        if (part.type !== 'text') continue;
        if (part.kind === 'thinking') thinking += part.text;
        else text += part.text;
        scores.push(...(part.scores ?? []));
      }
      throw new Error('[api] an answer without an end');
    },
  };
}

/** A failure cancels the others, whose results would be discarded. It is told once their places are free. */
export async function allOrNone(
  requests: readonly AnswerRequest[],
  answers: Answers,
  hungUp: AbortController,
): Promise<Whole[]> {
  const written = requests.map((request) => answers.whole(request, hungUp.signal));
  try {
    return await Promise.all(written);
  } catch (error) {
    giveUp(hungUp);
    await Promise.allSettled(written);
    throw error;
  }
}

/** Merges the parts of several answers as they arrive, each with its index. Leaving the iteration leaves all of them; a failure of one
 *  cancels the others, which may still wait for their turn. */
export async function* merged(
  requests: readonly AnswerRequest[],
  answers: Answers,
  hungUp: AbortController,
): AsyncGenerator<{ index: number; value: AnswerPart }, void> {
  const sources = requests.map((request) => answers.parts(request, hungUp.signal));
  const next = (index: number) => sources[index]?.next().then((result) => ({ index, result }));
  const waiting = new Map(sources.map((_, index) => [index, next(index)]));
  try {
    while (waiting.size > 0) {
      const came = await Promise.race(waiting.values());
      if (!came) return;
      const { index, result } = came;
      if (result.done) waiting.delete(index);
      else {
        waiting.set(index, next(index));
        yield { index, value: result.value };
      }
    }
  } catch (error) {
    giveUp(hungUp);
    throw error;
  } finally {
    await Promise.allSettled([...waiting.values(), ...sources.map((source) => source.return())]);
  }
}
