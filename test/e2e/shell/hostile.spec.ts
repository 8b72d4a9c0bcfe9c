import { keepCounts } from '../../attack/counts.ts';
import { attacks } from '../../renderer/page/attacks.ts';
import { expect, test } from '../app.ts';

const FORBIDDEN =
  ':is(script, iframe, object, embed, form, video, audio, link, meta, base, style, img, foreignObject, marquee, details)';

test('text that would do something is only text: nothing runs, nothing is fetched', async ({ page, scene }) => {
  test.slow();
  const foreign: string[] = [];
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (/evil|^javascript|^file/.test(request.url())) foreign.push(request.url());
  });
  await scene('attacks');
  const list = page.locator('#transcript');
  await expect(list.locator('article').first()).toBeAttached();
  const seen = new Set<string>();
  const addresses = new Set<string>();
  for (let end = false; !end; ) {
    const view = await list.evaluate((element, forbidden) => {
      const result = {
        ids: [...element.querySelectorAll<HTMLElement>('[data-message]')].map((one) => one.dataset.message ?? ''),
        elements: element.querySelectorAll(forbidden).length,
        handlers: [...element.querySelectorAll('*')].filter((one) =>
          one.getAttributeNames().some((name) => name.startsWith('on')),
        ).length,
        addresses: [...element.querySelectorAll('a')].map((link) => link.getAttribute('href') ?? ''),
        end: element.scrollTop <= 0,
      };
      element.dispatchEvent(new WheelEvent('wheel'));
      element.scrollTop -= 600;
      return result;
    }, FORBIDDEN);
    expect({ elements: view.elements, handlers: view.handlers }).toEqual({ elements: 0, handlers: 0 });
    for (const id of view.ids) seen.add(id);
    for (const address of view.addresses) addresses.add(address);
    end = view.end;
    await page.waitForTimeout(30);
  }
  expect(attacks.length).toBeGreaterThanOrEqual(120);
  expect(seen.size).toBeGreaterThanOrEqual(attacks.length);
  for (const address of addresses) expect(address).toMatch(/^(https?|mailto):/);
  expect(await page.evaluate(() => 'attacked' in window)).toBe(false);
  expect(foreign).toEqual([]);
  expect(dialogs).toEqual([]);
  keepCounts('markup', 'hostile.spec.ts answers', { tried: attacks.length, refused: attacks.length });
});

const PASTED: Readonly<Record<string, string>> = {
  'a script': '<script>window.attacked=1</script>pasted',
  'a picture that fails': '<img src="https://evil.test/p.png" onerror="window.attacked=1">pasted',
  'a frame': '<iframe src="https://evil.test"></iframe>pasted',
  'a style sheet': '<link rel="stylesheet" href="https://evil.test/s.css"><style>#composer{display:none}</style>pasted',
  'a form': '<form action="https://evil.test"><input autofocus onfocus="window.attacked=1"></form>pasted',
  'an svg': '<svg onload="window.attacked=1"><image href="https://evil.test/i.png"/></svg>pasted',
  'a page with a base': '<base href="https://evil.test/"><img src="x.png">pasted',
  'a table with a background': '<table background="https://evil.test/t.png"><tr><td>pasted</td></tr></table>',
};

test('what is pasted is text, whatever else the clipboard holds', async ({ page, scene }) => {
  const foreign: string[] = [];
  page.on('request', (request) => {
    if (/evil/.test(request.url())) foreign.push(request.url());
  });
  await scene('attacks');
  const field = page.locator('#composer');
  for (const [what, html] of Object.entries(PASTED)) {
    await page.evaluate(async (html) => {
      const item = {
        'text/html': new Blob([html], { type: 'text/html' }),
        'text/plain': new Blob(['plain'], { type: 'text/plain' }),
      };
      await navigator.clipboard.write([new ClipboardItem(item)]);
    }, html);
    await field.fill('');
    await field.focus();
    await page.keyboard.press('Control+v');
    await expect(field, what).toHaveValue('plain');
  }
  expect(await page.evaluate(() => 'attacked' in window)).toBe(false);
  expect(foreign).toEqual([]);
  const tried = Object.keys(PASTED).length;
  keepCounts('markup', 'hostile.spec.ts clipboard', { tried, refused: tried });
});

test('a link asks before it opens, and shows where it goes', async ({ page, scene }) => {
  await scene('links');
  await page.getByRole('link', { name: 'a page' }).click();
  const question = page.getByRole('dialog', { name: 'Open this link?' });
  await expect(question.getByText('https://example.org/path?q=1')).toBeVisible();
  await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(question).toBeHidden();
});

test('a megabyte in one line, deep nesting, thousands of marks and broken formulas stay usable', async ({
  page,
  scene,
}) => {
  await scene('heavy');
  await expect(page.getByText('\\frac{1}{').last()).toBeAttached();
  await page.locator('#composer').fill('still here');
  await expect(page.locator('#composer')).toHaveValue('still here');
});
