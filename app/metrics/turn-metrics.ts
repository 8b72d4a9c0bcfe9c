import type { FinishReason, Timings, TurnEvent, Usage } from '../protocol/index.ts';
import { LonghandError } from '../protocol/index.ts';

/** Collects speed figures from the events of a turn as they pass. */
export type TurnMetrics = {
  see(event: TurnEvent): void;
  backEnd(): string;
  memoryBytes(): number | null;
};

export function createTurnMetrics(): TurnMetrics {
  let backEnd = '';
  let memory: number | null = null;
  return {
    see(event) {
      if (event.type === 'started') backEnd = event.backEnd;
      if (event.type !== 'stats') return;
      const { memoryBytes } = event.sample;
      if (memoryBytes !== null) memory = Math.max(memory ?? 0, memoryBytes);
    },
    backEnd: () => backEnd,
    memoryBytes: () => memory,
  };
}

export type Ended = { reason: FinishReason; usage: Usage; timings: Timings };

/** The end of an unattended turn. @throws LonghandError if it failed */
export function endOf(event: TurnEvent): Ended | null {
  if (event.type === 'failed') throw new LonghandError(event.failure.code, event.failure.message);
  return event.type === 'finished' ? event : null;
}
