import type { AnswerPart, AnswerRequest, Inference, TokenScore } from '../../core/inference.ts';
import { TooBusy } from './problems.ts';

/** Requests that are answered or wait for it. */
export const maxRequests = 64;

export type Whole = {
  thinking: string;
  text: string;
  scores: TokenScore[];
  calls: Extract<AnswerPart, { type: 'call' }>[];
  end: Extract<AnswerPart, { type: 'end' }>;
};

export type Answers = {
  /** @throws TooBusy */
  parts(request: AnswerRequest, signal: AbortSignal): AsyncGenerator<AnswerPart, void>;
  whole(request: AnswerRequest, signal: AbortSignal): Promise<Whole>;
};

export function createAnswers(inference: Pick<Inference, 'answer'>): Answers {
  let running = 0;

  function admit(): void {
    if (running >= maxRequests) throw new TooBusy(`[queue] ${maxRequests} requests wait already; try again soon`);
    running++;
  }

  async function* counted(parts: AsyncGenerator<AnswerPart, void>): AsyncGenerator<AnswerPart, void> {
    try {
      yield* parts;
    } finally {
      running--;
    }
  }

  return {
    parts(request, signal) {
      admit();
      return counted(inference.answer(request, signal));
    },
    async whole(request, signal) {
      admit();
      let thinking = '';
      let text = '';
      const scores: TokenScore[] = [];
      const calls: Whole['calls'] = [];
      for await (const part of counted(inference.answer(request, signal))) {
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
