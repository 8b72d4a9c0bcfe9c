import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from '@playwright/test';

//  node test/e2e/design/contact-sheets.ts COMMIT: ten screens as they were drawn at a commit above what LONGHAND_SCREENS drew now, in both
//  themes and at three widths. One picture a screen, in screens/before-after/.

const NAMES = 'chat onboarding not-found loop speed models models-catalogue documents-list performance overflow'.split(
  ' ',
);
const THEMES = ['light', 'dark'];
const WIDTHS = [1440, 1024, 720];
const HEIGHT = 400;

const [commit] = process.argv.slice(2);
if (!commit) throw new Error('[contact-sheets] no commit given; expected one whose test/e2e/screens has pictures');

const folder = join(import.meta.dirname, '../screens');
const out = join(folder, 'before-after');
mkdirSync(out, { recursive: true });

type Picture = (name: string) => Buffer;
const before: Picture = (name) =>
  execFileSync('git', ['show', `${commit}:test/e2e/screens/${name}`], { maxBuffer: 2 ** 26 });
const after: Picture = (name) => readFileSync(join(folder, name));

const row = (name: string, theme: string, picture: Picture): string =>
  WIDTHS.map((width) => picture(`${name}-${theme}-${width}.png`))
    .map((png) => `<img height="${HEIGHT}" src="data:image/png;base64,${png.toString('base64')}">`)
    .join('');
const sheet = (name: string): string => `<!doctype html>
<style>
  body { margin: 0; width: max-content; background: #888; font: 600 13px sans-serif; color: #fff }
  p { margin: 0; padding: 6px 8px } div { display: flex; gap: 6px; padding: 0 8px 8px }
</style>
${THEMES.map(
  (theme) => `<p>${name}, before</p><div>${row(name, theme, before)}</div>
<p>${name}, after</p><div>${row(name, theme, after)}</div>`,
).join('\n')}`;

const browser = await chromium.launch({
  executablePath: process.env.LONGHAND_BROWSER || '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const page = await browser.newPage({ viewport: { width: 1800, height: 1800 } });
for (const name of NAMES) {
  await page.setContent(sheet(name));
  await page.waitForFunction(() => [...document.images].every((image) => image.complete && image.naturalWidth > 0));
  await page.locator('body').screenshot({ path: join(out, `${name}.jpg`), type: 'jpeg', quality: 60 });
}
await browser.close();
