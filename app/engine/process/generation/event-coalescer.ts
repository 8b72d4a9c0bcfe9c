import type { TurnEvent } from '../../../protocol/index.ts';
import type { TokenScore, TurnUpdate } from '../../ipc-protocol.ts';

const frameMs = 24;

/** Batches the events of a turn into at most one message per frame and merges deltas of one kind. The
 *  first text, and everything other than text, is sent at once. */
export type EventCoalescer = {
  /** `tokens`: their number, if their ids are unknown. */
  delta(
    kind: 'thinking' | 'answer',
    text: string,
    ids: readonly number[],
    scores?: readonly TokenScore[],
    tokens?: number,
  ): void;
  say(event: TurnEvent, more?: Omit<TurnUpdate, 'event'>): void;
};

export function createEventCoalescer(report: (updates: TurnUpdate[]) => void): EventCoalescer {
  let waiting: TurnUpdate[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lastSent = Number.NEGATIVE_INFINITY;

  function send() {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const updates = waiting;
    waiting = [];
    lastSent = performance.now();
    report(updates);
  }

  function schedule() {
    const rest = lastSent + frameMs - performance.now();
    if (rest <= 0) send();
    else timer ??= setTimeout(send, rest);
  }

  return {
    delta(kind, text, ids, scores = [], tokens = ids.length) {
      const last = waiting.at(-1);
      if (last?.event.type === 'delta' && last.event.kind === kind) {
        last.event = { ...last.event, text: last.event.text + text, tokens: last.event.tokens + tokens };
        last.ids?.push(...ids);
        if (scores.length > 0) last.scores = [...(last.scores ?? []), ...scores];
      } else {
        waiting.push({
          event: { type: 'delta', text, kind, tokens },
          ids: [...ids],
          ...(scores.length > 0 && { scores: [...scores] }),
        });
      }
      schedule();
    },
    say(event, more) {
      waiting.push({ event, ...more });
      if (event.type === 'stats' || event.type === 'progress') schedule();
      else send();
    },
  };
}
