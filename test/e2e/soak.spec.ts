import type { Browser, Page } from '@playwright/test';
import { cpuSeconds, memoryBytes } from '../support/processes.ts';
import { slopeOf } from '../support/slope.ts';
import { soaking } from '../support/soak.ts';
import { type App, answers, ask, begin, expect, neverEnd, rows, test } from './app.ts';

//  Answer after answer by the built-in model, several in each chat and chat after chat, for an hour (npm run test:soak --
//  e2e/soak --minutes=N for another time) or for 6,000 tokens (npm test): what the core and the page take meanwhile. It may
//  run beside other work: pauses keep it at a quarter of a processor.

const linux = process.platform === 'linux';
const MINUTES = Number(process.env.LONGHAND_SOAK_MINUTES ?? 60);
const SHORT_TOKENS = 6000;
const MAX_MB = 350;
const SHARE = 0.25;
const ANSWERS_A_CHAT = 4;
/** So that they fit into the context of the built-in model. */
const LONGEST_ANSWER = 1500;
const MINUTE = 60_000;
/** An answer on a machine that has much else to do. */
const LONGEST_WAIT = (soaking ? 30 : 5) * MINUTE;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const say = (figures: object) => process.stdout.write(`figures: ${JSON.stringify(figures)}\n`);
const round = (value: number) => Math.round(value * 10) / 10;

/** The largest renderer process: that of the page. */
async function rendererOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as {
    processInfo: { type: string; id: number }[];
  };
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  return renderers.sort((a, b) => memoryBytes(b) - memoryBytes(a))[0] as number;
}

type Sample = { minute: number; coreMB: number; pageMB: number; engineMB: number; tokens: number };

function sample(app: App, renderer: number, since: number, tokens: number): Sample {
  const mb = (pid: number) => round(memoryBytes(pid) / 2 ** 20);
  const minute = round((performance.now() - since) / MINUTE);
  return { minute, coreMB: mb(app.host()), pageMB: mb(renderer), engineMB: mb(app.engine()), tokens };
}

/** Asks, waits for the end, and says how many tokens were written. Of a long chat only what is in sight is drawn. */
async function answer(page: Page, question: string): Promise<number> {
  const last = answers(page).last();
  const before = (await last.count()) > 0 ? await last.getAttribute('data-message') : null;
  await ask(page, question);
  if (before) await expect(last).not.toHaveAttribute('data-message', before, { timeout: LONGEST_WAIT });
  // However it ended: only then the answer can be tried again.
  await expect(last.getByRole('button', { name: 'Try again' })).toBeVisible({ timeout: LONGEST_WAIT });
  const speed = last.getByRole('button', { name: /^Speed of this answer/ });
  await speed.click();
  const figures = (await last.getByRole('region', { name: 'Speed' }).locator('dl').textContent()) ?? '';
  await speed.click();
  const written = /Tokens written([\d,]+)/.exec(figures)?.[1];
  if (!written) throw new Error(`[soak] no count of tokens in "${figures}"`);
  return Number(written.replaceAll(',', ''));
}

test('while answers stream for an hour, core and page take less than 350 MB', async ({ page, app, browser }) => {
  test.skip(!linux, 'needs Linux: memory is read from /proc');
  test.setTimeout(soaking ? MINUTES * MINUTE + LONGEST_WAIT : 10 * MINUTE);
  await begin(page, app);
  await neverEnd(page, LONGEST_ANSWER);
  const since = performance.now();
  const renderer = await rendererOf(browser);
  const pids = [app.host(), app.engine(), renderer];
  const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid) * 1000, 0);
  const usedBefore = used();
  const samples: Sample[] = [];
  let tokens = 0;
  const over = () => (soaking ? performance.now() - since >= MINUTES * MINUTE : tokens >= SHORT_TOKENS);
  while (!over()) {
    await page.keyboard.press('Alt+n');
    await expect(answers(page)).toHaveCount(0);
    for (let at = 0; at < ANSWERS_A_CHAT && !over(); at++) {
      tokens += await answer(page, 'Go on for ever.');
      const pause = soaking ? (used() - usedBefore) / SHARE - (performance.now() - since) : 0;
      if (pause > 0) await wait(pause);
      if (performance.now() - since < samples.length * MINUTE) continue;
      samples.push(sample(app, renderer, since, tokens));
      if (soaking) say(samples.at(-1) ?? {});
    }
    // An earlier chat is read from the disk again.
    await rows(page).last().click();
    await expect(answers(page).first()).toBeVisible();
  }
  expect(tokens).toBeGreaterThan(0);
  const last = sample(app, renderer, since, tokens);
  const sums = [...samples, last].map(({ minute, coreMB, pageMB }): [number, number] => [minute / 60, coreMB + pageMB]);
  const settled = sums.slice(Math.floor(sums.length / 4));
  const maxMB = Math.max(...sums.map(([, mb]) => mb));
  const share = round((used() - usedBefore) / (performance.now() - since));
  say({ ...last, maxMB, mbAnHour: soaking ? round(slopeOf(settled)) : null, share, chats: await rows(page).count() });
  expect(last.coreMB + last.pageMB).toBeLessThan(MAX_MB);
});
