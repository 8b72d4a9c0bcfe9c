import type { Detector } from './run.ts';

//  The detector that others published, for comparison: CUSUM over "this n-gram has been written before in this section"
//  (LoopBench, arXiv 2601.05693; settings from vLLM pull request 52677: 6-grams with an alarm at 15, 8-grams and longer at 20).
//  It has no sorts of text and one degree.

/** What an n-gram adds that was there before, and what a new one takes. */
const SEEN = 1;
const NEW = -0.25;

export function cusum(size: number): Detector {
  const ALARM = size < 8 ? 15 : 20;
  let seen = new Set<string>();
  let recent: number[] = [];
  let sum = 0;
  let alarm = ALARM;
  let place: string | undefined;
  return {
    push(id, text, where) {
      if (where !== place) {
        place = where;
        seen = new Set();
        recent = [];
        sum = 0;
        alarm = ALARM;
      }
      recent.push(id);
      if (recent.length < size) return null;
      if (recent.length > size) recent.shift();
      const gram = recent.join(' ');
      sum = Math.max(0, sum + (seen.has(gram) ? SEEN : NEW));
      if (sum === 0) alarm = ALARM;
      seen.add(gram);
      if (sum < alarm) return null;
      return { degree: 'card', kind: 'exact', repeats: 2, periodTokens: size, text };
    },
    // Let go on: it speaks again when twice as much has been repeated.
    allow() {
      alarm = 2 * Math.max(alarm, sum);
    },
  };
}
