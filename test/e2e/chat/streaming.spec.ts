import type { CDPSession, Page } from '@playwright/test';
import { expect, test } from '../app.ts';

//  A recorded answer of 20,000 tokens comes in at 500 tokens a second. Measured is what the main thread computes: thread
//  time from the trace, so that other work on the machine counts as little as possible.

const P99_MS = 8;
const LONGEST_MS = 50;

type TraceEvent = {
  name: string;
  cat: string;
  ph: string;
  ts: number;
  dur?: number;
  tdur?: number;
  pid: number;
  tid: number;
};

async function startTrace(client: CDPSession): Promise<() => Promise<TraceEvent[]>> {
  const events: TraceEvent[] = [];
  client.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await client.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'blink.user_timing'] },
  });
  return async () => {
    const complete = new Promise((resolve) => client.once('Tracing.tracingComplete', resolve));
    await client.send('Tracing.end');
    await complete;
    return events;
  };
}

async function answered(page: Page, prompt: string): Promise<void> {
  await page.locator('#composer').fill(prompt);
  await page.keyboard.press('Enter');
  await page.waitForFunction(
    (asked) => {
      const messages = [...(window.page.useChat.getState().open?.messages.values() ?? [])];
      const last = messages.at(-1);
      return messages.at(-2)?.text === asked && last?.role === 'assistant' && last.state.status === 'done';
    },
    prompt,
    { timeout: 150_000, polling: 500 },
  );
}

/** Other work on the machine can only add to what is measured: the best of three counts. */
async function measure(page: Page) {
  let best = await measureOnce(page);
  for (let attempt = 1; attempt < 3 && (best.p99 > P99_MS || best.longest > LONGEST_MS); attempt += 1) {
    const again = await measureOnce(page);
    best = { ...again, p99: Math.min(best.p99, again.p99), longest: Math.min(best.longest, again.longest) };
  }
  return best;
}

async function measureOnce(page: Page) {
  await answered(page, 'warm');
  const unmark = await page.evaluateHandle(() =>
    window.page.useChat.subscribe((state, before) => {
      const last = [...(state.open?.messages.values() ?? [])].at(-1);
      const grew = last && last.text !== '' && last.text !== before.open?.messages.get(last.id)?.text;
      if (grew && last.state.status === 'running') performance.mark('commit');
    }),
  );
  const stop = await startTrace(await page.context().newCDPSession(page));
  await answered(page, 'go');
  await unmark.evaluate((end) => end());
  return figures(await stop());
}

function figures(events: TraceEvent[]) {
  const marks = events.filter((event) => event.name === 'commit' && event.cat.includes('user_timing'));
  const [first] = marks;
  if (!first) throw new Error('[trace] no commit was marked');
  const tasks = events.filter(
    (event) =>
      event.pid === first.pid &&
      event.tid === first.tid &&
      event.ph === 'X' &&
      event.name.endsWith('RunTask') &&
      event.ts >= first.ts - 50_000,
  );
  const cost = (event: TraceEvent) => (event.tdur ?? event.dur ?? 0) / 1000;
  const costs = marks
    .flatMap((mark) => tasks.find((task) => task.ts <= mark.ts && mark.ts <= task.ts + (task.dur ?? 0)) ?? [])
    .map(cost)
    .sort((a, b) => a - b);
  const at = (share: number) => costs[Math.floor(costs.length * share)] ?? 0;
  const seconds = ((marks.at(-1)?.ts ?? 0) - first.ts) / 1e6;
  return {
    commits: costs.length,
    perSecond: costs.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    longest: Math.max(...tasks.map(cost)),
  };
}

const maxSlower = (alone: number) => Math.max(alone * 1.2, alone + 0.5);

const cheaper = <T extends { p50: number }>(one: T, other: T): T => ({ ...one, p50: Math.min(one.p50, other.p50) });

/** All 20,000 tokens with `npm run test:soak`; the first 4,000 of them otherwise. */
const short = process.env.LONGHAND_SOAK ? '' : '-short';

test('a long answer: at most 20 commits a second, each small, no long task; after 100,000 tokens no dearer', async ({
  scene,
}) => {
  test.setTimeout(400_000);
  const measureAlone = async () => measure(await scene(`stream${short}`));
  const measureAfter = async () => {
    const page = await scene(`stream${short}-long`);
    await expect(page.locator('#transcript article').last()).toBeAttached();
    return measure(page);
  };
  let alone = await measureAlone();
  let after = await measureAfter();
  // The two are some minutes apart: measured in turns, the cheapest of each is what they cost.
  for (let turn = 1; turn < 3 && after.p50 > maxSlower(alone.p50); turn += 1) {
    alone = cheaper(alone, await measureAlone());
    after = cheaper(after, await measureAfter());
  }
  process.stdout.write(`streaming, ms of thread time: ${JSON.stringify({ alone, after })}\n`);
  for (const found of [alone, after]) {
    expect(found.perSecond).toBeLessThanOrEqual(20.5);
    expect(found.p99).toBeLessThanOrEqual(P99_MS);
    expect(found.longest).toBeLessThanOrEqual(LONGEST_MS);
  }
  expect(after.p50).toBeLessThanOrEqual(maxSlower(alone.p50));
});
