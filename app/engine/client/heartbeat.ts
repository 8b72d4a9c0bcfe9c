import { guarded } from '../../protocol/index.ts';
import type { Pulse } from '../ipc-protocol.ts';

//  Detects a hung engine: one that does not answer, or answers but makes no progress (a driver that waits for ever, a file on a drive
//  that is gone). It is polled while requests are pending.

export type HeartbeatLimits = {
  everyMs: number;
  /** Counted in beats, not milliseconds: none pass while the computer sleeps or this process is blocked. */
  unanswered: number;
  /** Answered beats without progress of the native threads; more are allowed while a model loads. */
  still: number;
  stillLoading: number;
};

/** A minute: the longest that any tokenizer in the attack suite holds the process is 10 s. Five minutes: a layer of the largest
 *  models takes seconds, one that comes from a slow disk a minute. A quarter of an hour: 400 GB of weights from a disk with
 *  500 MB/s, made resident in one step. */
const LIMITS: HeartbeatLimits = { everyMs: 5000, unanswered: 12, still: 60, stillLoading: 180 };

export type Heartbeat = {
  /** Starts or stops polling, as requests are pending or not. */
  needed(is: boolean): void;
  answered(pulse: Pulse): void;
};

/** `ask`: requests a pulse. `hung`: called with the reason; polling has stopped then. */
export function createHeartbeat(
  ask: () => void,
  hung: (seen: string) => void,
  limits: Partial<HeartbeatLimits> = {},
): Heartbeat {
  const { everyMs, unanswered, still, stillLoading } = { ...LIMITS, ...limits };
  let timer: NodeJS.Timeout | null = null;
  let waiting = 0;
  let same = 0;
  let steps = -1;

  function stop() {
    if (timer) clearInterval(timer);
    timer = null;
    waiting = same = 0;
    steps = -1;
  }

  function end(seen: string) {
    stop();
    hung(seen);
  }

  const seconds = (beats: number) => `${Math.round((beats * everyMs) / 1000)} s`;

  function beat() {
    if (waiting >= unanswered) return end(`no answer for ${seconds(waiting)}`);
    waiting++;
    ask();
  }

  return {
    needed(is) {
      if (!is) return stop();
      timer ??= setInterval(guarded(console.error, beat), everyMs);
    },
    answered(pulse) {
      if (!timer) return;
      waiting = 0;
      same = pulse.running > 0 && pulse.steps === steps ? same + 1 : 0;
      steps = pulse.steps;
      if (same >= (pulse.loading ? stillLoading : still)) end(`native work without a step for ${seconds(same)}`);
    },
  };
}
