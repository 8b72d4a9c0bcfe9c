import { guarded } from '../../protocol/index.ts';
import type { Pulse } from '../ipc-protocol.ts';

//  An engine that hangs answers nothing, or says that it works and gets nowhere: a driver that waits for ever, a file on a drive
//  that is gone. While somebody waits for it, it is asked how it does.

export type HeartbeatLimits = {
  everyMs: number;
  /** Beats, not milliseconds: while this computer sleeps, or this process itself is held up, none are counted. */
  unanswered: number;
  /** Answered beats without a step of the native threads; more while a model is loaded. */
  still: number;
  stillLoading: number;
};

/** A minute: the longest that any tokenizer in the attack suite holds the process is 10 s. Five minutes: a layer of the largest
 *  models takes seconds, one that comes from a slow disk a minute. A quarter of an hour: 400 GB of weights from a disk with
 *  500 MB/s, made resident in one step. */
const LIMITS: HeartbeatLimits = { everyMs: 5000, unanswered: 12, still: 60, stillLoading: 180 };

export type Heartbeat = {
  /** Somebody waits for an answer, or nobody does any more. */
  needed(is: boolean): void;
  answered(pulse: Pulse): void;
};

/** `ask`: for a pulse. `hung`: with what was seen; then the beats have stopped. */
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
