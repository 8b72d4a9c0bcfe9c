import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { expect, test } from 'vitest';
import { breaks } from '../../../../renderer/ui/markdown/breaks.ts';
import { isPlainLine } from '../../../../renderer/ui/markdown/inline.ts';
import { InlineMarkdown } from '../../../../renderer/ui/markdown/inline-markdown.tsx';
import { references } from '../../../../renderer/ui/markdown/references.ts';
import { randomFrom } from '../../../support/models/grammar.ts';

//  What needs no Markdown library looks as the library would have it.

const byLibrary = (children: string) =>
  renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm, breaks, references], children }));
const shown = (source: string) => renderToStaticMarkup(createElement(InlineMarkdown, { source }));

test('cells of tables as models write them are plain', () => {
  for (const cell of ['5.00', '20480', 'Größe 12', '3.5 %', 'Yes (since 2019)', 'São Paulo', '東京', 'a + b', '12 °C'])
    expect(isPlainLine(cell), cell).toBe(true);
});

test('what would be a list, a link, code, a formula, a reference or a break is not', () => {
  for (const source of [
    '1. one',
    '2) two',
    '7.',
    '- a',
    '+ a',
    '*a*',
    'a_b_',
    '`a`',
    'a [1]',
    '$a$',
    'a\\(b',
    'see www.a.org',
  ]) {
    expect(isPlainLine(source), source).toBe(false);
  }
  for (const source of [
    'a\nb',
    'a & b',
    'a@b.org',
    'https://a.org',
    '<b>',
    'a | b',
    '',
    ' a',
    '~~a~~',
    '# a',
    'a  \nb',
  ])
    expect(isPlainLine(source), source).toBe(false);
});

test('8,000 lines of allowed and other characters: what counts as plain looks the same', () => {
  const random = randomFrom(7);
  const roll = (count: number) => Math.floor(random() * count);
  const parts = ['a', 'Z', 'é', '9', '1', '12', ' ', '  ', ',', '.', '%', '(', ')', '’', '“', '–', '+', '-', '--', '°'];
  const others = [
    '*',
    '_',
    '`',
    '[',
    ']',
    '&amp;',
    '<',
    '\n',
    'www',
    'www.',
    '://',
    '@',
    ':',
    '|',
    '~',
    '\\',
    '#',
    '$',
  ];
  let plain = 0;
  for (let line = 0; line < 8000; line++) {
    const length = 1 + roll(10);
    const source = Array.from({ length }, () =>
      roll(14) === 0 ? others[roll(others.length)] : parts[roll(parts.length)],
    ).join('');
    if (!isPlainLine(source)) continue;
    plain++;
    expect(shown(source), JSON.stringify(source)).toBe(byLibrary(source));
  }
  expect(plain).toBeGreaterThan(1200);
});
