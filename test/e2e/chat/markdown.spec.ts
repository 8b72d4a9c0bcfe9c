import type { Page } from '@playwright/test';
import { expect, test } from '../app.ts';

//  What an answer looks like, in the browser that draws it; and texts that were made to stop it.

/** Puts this text into the answer on screen. */
async function answer(page: Page, text: string, running = false): Promise<void> {
  await page.waitForFunction(() => window.page.useChat.getState().open !== null);
  await page.evaluate(
    ([words, writing]) => {
      const [message] = window.page.useChat.getState().open?.messages.values() ?? [];
      if (!message) throw new Error('[scene] no message');
      const state = writing ? { status: 'running', turnId: 'turn' as never } : { status: 'done', reason: 'stop' };
      window.page.core.emit('message.changed', { ...message, text: words, state: state as never });
    },
    [text, running] as const,
  );
}

const prose = (page: Page) => page.locator('#transcript .prose');

test('a poem, an address and a list by line keep their lines; a long line still wraps', async ({ page, scene }) => {
  await scene('links');
  await answer(
    page,
    'Roses are red,\nviolets **are\nblue**.\n\n> Ada Lovelace  \n> 12 St James’s Square\n\n- one\n  two',
  );
  await expect(prose(page)).toContainText('violets');
  // biome-ignore lint/performance/useDomNodeTextContent: the lines as they are drawn
  const lines = (await prose(page).innerText()).split(/\n+/);
  expect(lines.map((line) => line.trim()).filter(Boolean)).toEqual([
    'Roses are red,',
    'violets are',
    'blue.',
    'Ada Lovelace',
    '12 St James’s Square',
    'one',
    'two',
  ]);
});

test('the numbers of a long list are whole, at its beginning and at its end', async ({ page, scene }) => {
  await scene('links');
  const cutOff = () =>
    prose(page)
      .locator('ol')
      .evaluateAll((lists) => {
        const pen = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
        return lists.map((list) => {
          const style = getComputedStyle(list);
          pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
          const last = (list as HTMLOListElement).start + list.children.length - 1;
          return pen.measureText(`${last}. `).width > Number.parseFloat(style.paddingInlineStart);
        });
      });
  await answer(page, Array.from({ length: 120 }, (_, at) => `${at + 1}. point`).join('\n'));
  await expect(prose(page).locator('li')).toHaveCount(120);
  expect(await cutOff()).toEqual([false]);
  await answer(page, '123456. so\n123457. many');
  await expect(prose(page).locator('li')).toHaveCount(2);
  expect(await cutOff()).toEqual([false]);
});

test('code is drawn letter by letter, in answers and in questions', async ({ page, scene }) => {
  await scene('links');
  await answer(page, '`a != b` and\n\n```js\nif (a !== b && c >= d) e => f\n```');
  for (const code of [prose(page).locator('code').first(), prose(page).locator('.codeblock pre')])
    await expect(code).toHaveCSS('font-variant-ligatures', 'none');
});

test('a formula that is being written has its place; one that never ends is the text it was', async ({
  page,
  scene,
}) => {
  await scene('links');
  await answer(page, 'So\n\n$$\n\\frac{a}{', true);
  await expect(prose(page).locator('.math.open')).toHaveText('\\frac{a}{');
  await expect(prose(page)).not.toContainText('$$');
  await answer(page, 'So\n\n$$\n\\frac{a}{b}\n$$', true);
  await expect(prose(page).locator('.katex-display')).toHaveCount(1);
  await answer(page, 'So\n\n$$\n\\frac{a}{');
  await expect(prose(page)).toContainText('$$');
});

const nest = (times: number, open: string, middle: string, close = '') =>
  open.repeat(times) + middle + close.repeat(times);
const block = (tex: string) => `$$\n${tex}\n$$`;

/** Small for what they ask of a page. Each is followed by words that have to come. */
const bombs: Record<string, string> = {
  'fractions in fractions': block(nest(250, '\\frac{', 'x', '}{y}')),
  'roots in roots': block(nest(400, '\\sqrt{', 'x', '}')),
  'powers of powers': block(nest(900, 'x^{', 'x', '}')),
  'brackets in brackets': block(nest(300, '\\left(', 'x', '\\right)')),
  'boxes in boxes': block(nest(150, '\\boxed{\\cancel{', 'x', '}}')),
  'arrows in arrows': block(nest(150, '\\xrightarrow{', 'x', '}')),
  'matrices in matrices': block(nest(80, '\\begin{matrix}', 'x', '\\end{matrix}')),
  'a macro of 4,000 letters, 400 times': block(`\\def\\a{${'x'.repeat(3500)}}${'\\a'.repeat(400)}`),
  'macros that double': block(
    [
      '\\def\\a{xx}',
      ...'bcdefghijk'.split('').map((name, at) => `\\def\\${name}{\\${'abcdefghijk'[at]}\\${'abcdefghijk'[at]}}`),
      '\\k',
    ].join(''),
  ),
  'a macro for every level': block(
    `${Array.from({ length: 150 }, (_, at) => `\\gdef\\q${letters(at)}{\\sqrt{\\q${letters(at + 1)}}}`).join('')}\\qaa`,
  ),
  'cells without end': block(`\\begin{matrix}${'&'.repeat(2400)}\\end{matrix}`),
  'half a million strokes': block(`x${"'".repeat(4900)}`),
  'inline roots': `so $${nest(400, '\\sqrt{', 'x', '}')}$ it is`,
  '100,000 quotes': `${'>'.repeat(100_000)} deep`,
  '100,000 quotes with spaces': `${'> '.repeat(100_000)}deep`,
  '100,000 lists in one line': `${'* - '.repeat(50_000)}deep`,
  '100,000 points': '- a\n'.repeat(100_000),
  '100,000 headings': '# a\n'.repeat(100_000),
  '100,000 paragraphs': 'a\n\n'.repeat(100_000),
  '100,000 rules': '---\n\n'.repeat(100_000),
  'a table of ten million cells': `${'|a'.repeat(1000)}|\n${'|-'.repeat(1000)}|\n${'|\n'.repeat(10_000)}`,
  'a table of 100,000 columns': `${'|a'.repeat(100_000)}|\n${'|-'.repeat(100_000)}|\n`,
  '10,000 formulas that never end': '\\[ a\n'.repeat(10_000),
  'a fence with a megabyte of spaces': `\`\`\`${' '.repeat(1_000_000)}\``,
  'a table line with a megabyte of spaces': `a|b\n-|-${' '.repeat(1_000_000)}x`,
  'emphasis in emphasis': nest(700, '*a **b ', 'c'),
  'a thousand brackets of links': nest(700, '[', 'a', '](b)'),
  'quotes, lists and code in turn': nest(400, '> - ', '```\nx'),
};

function letters(at: number): string {
  return String.fromCharCode(97 + Math.floor(at / 26), 97 + (at % 26));
}

test('texts made to stop the page do not: each is drawn, and the page answers at once', async ({ page, scene }) => {
  test.setTimeout(240_000);
  await scene('links');
  let crashed = false;
  page.on('crash', () => {
    crashed = true;
  });
  for (const [name, text] of Object.entries(bombs)) {
    const begun = Date.now();
    await answer(page, `${text}\n\nEnd of ${name}.`);
    await expect(page.locator('#transcript'), name).toContainText(`End of ${name}`);
    await page.locator('#composer').fill(name);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(crashed, name).toBe(false);
    expect(Date.now() - begun, `${name}: ms`).toBeLessThan(8000);
  }
});

test('formulas that people write are drawn', async ({ page, scene }) => {
  await scene('links');
  const formulas = [
    nest(8, '\\frac{1}{1+', 'x', '}'),
    nest(6, '\\sqrt{2+', '2', '}'),
    '\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}^{-1} = \\frac{1}{ad-bc} \\begin{pmatrix} d & -b \\\\ -c & a \\end{pmatrix}',
    '\\left( \\sum_{k=1}^{n} \\left\\{ \\int_0^1 x^{2^{k}} \\, dx \\right\\} \\right)',
    '\\begin{aligned} a &= b \\\\ &= c \\end{aligned}',
    '\\underbrace{x + \\cdots + x}_{n \\text{ times}}',
  ];
  await answer(page, formulas.map(block).join('\n\n'));
  await expect(prose(page).locator('.katex-display')).toHaveCount(formulas.length);
});
