import { expect, test } from 'vitest';
import { createGenerationMetrics } from '../../../app/engine/process/generation/generation-metrics.ts';
import type { StatsSample } from '../../../app/protocol/index.ts';
import { sparkPoints } from '../../../renderer/chat/stats/sparkline.tsx';
import { figuresOf, seriesOf } from '../../../renderer/stores/chat/speed.ts';

const SECONDS = 120;
const TOKENS_A_SECOND = 100;

/** Two minutes of an answer as the engine measures it and as the page draws it: ten samples a second, each into the
 *  sparkline, the chart and its figures. */
function stream(): number {
  const clock = { ms: 0 };
  const meter = createGenerationMetrics(
    () => 2 ** 30,
    () => clock.ms,
  );
  let samples: StatsSample[] = [];
  for (let token = 0; token < SECONDS * TOKENS_A_SECOND; token++) {
    clock.ms += 1000 / TOKENS_A_SECOND;
    const sample = meter.token(token < 1000 ? 'thinking' : 'answer');
    if (!sample) continue;
    samples = [...samples, sample];
    sparkPoints(samples);
    seriesOf(samples);
    figuresOf({ timings: null, usage: null }, samples);
  }
  return samples.length;
}

test('measuring and drawing the speed takes less than one percent of a processor while an answer is written', () => {
  stream();
  const shares = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    expect(stream()).toBeGreaterThan(SECONDS * 8);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6 / SECONDS;
  });
  const least = Math.min(...shares);
  console.log(`statistics of a streaming answer: ${(100 * least).toFixed(2)} % of one processor`);
  expect(least).toBeLessThan(0.01);
});
