import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from '@playwright/test';

//  node test/e2e/design/beside-mock-ups.ts FOLDER: screens beside their mock-ups in FOLDER (the design's own, mock/), in both themes, one
//  picture a screen, in screens/beside-mock-ups/. What the design has no mock-up of is drawn here, in mock-ups/, with its styles.

const PAIRS = [
  { mock: 'server', screen: 'server-request' },
  { mock: 'tools', screen: 'tools' },
] as const;
const THEMES = ['light', 'dark'] as const;

const [design] = process.argv.slice(2);
if (!design) throw new Error('[beside-mock-ups] no folder given; expected the one with the mock-ups of the design');

const screens = join(import.meta.dirname, '../screens');
const out = join(screens, 'beside-mock-ups');
mkdirSync(out, { recursive: true });

const embedded = (png: Buffer): string =>
  `<img height="560" src="data:image/png;base64,${Buffer.from(png).toString('base64')}">`;

async function drawn(page: Page, mock: string, theme: string): Promise<Buffer> {
  if (mock === 'tools') {
    await page.goto(pathToFileURL(join(import.meta.dirname, 'mock-ups', 'tools.html')).href);
    await page.addStyleTag({ path: join(design ?? '', 'longhand.css') });
    await page.evaluate((name) => document.documentElement.setAttribute('data-theme', name), theme);
  } else await page.goto(pathToFileURL(join(design ?? '', `${mock}-${theme}.html`)).href);
  return page.screenshot();
}

const browser = await chromium.launch({
  executablePath: process.env.LONGHAND_BROWSER || '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
for (const { mock, screen } of PAIRS) {
  const rows: string[] = [];
  for (const theme of THEMES) {
    const shot = readFileSync(join(screens, `${screen}-${theme}-1440.png`));
    rows.push(`<div>${embedded(await drawn(page, mock, theme))}${embedded(shot)}</div>`);
  }
  await page.setContent(`<!doctype html>
<style>
  body { margin: 0; width: max-content; background: #888; font: 600 13px sans-serif; color: #fff }
  p { margin: 0; padding: 6px 8px } div { display: flex; gap: 6px; padding: 0 8px 8px }
</style>
<p>${screen}: the mock-up, and beside it the app</p>${rows.join('\n')}`);
  await page.waitForFunction(() => [...document.images].every((image) => image.complete && image.naturalWidth > 0));
  await page.locator('body').screenshot({ path: join(out, `${screen}.jpg`), type: 'jpeg', quality: 70 });
}
await browser.close();
