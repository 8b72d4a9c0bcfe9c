import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ErrorCode, FinishReason, Notice } from '../../app/protocol/index.ts';
import english from '../../renderer/strings/en.json' with { type: 'json' };

const root = join(import.meta.dirname, '..', '..', 'renderer');
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
const sources = new Map(files.map((name) => [name, readFileSync(join(root, name), 'utf8')]));

function leaves(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' ? [`${path}${key}`] : leaves(inner as object, `${path}${key}.`),
  );
}

describe('strings', () => {
  test('every failure has a sentence and a way out', () => {
    for (const code of ErrorCode.options) expect(english.errors).toHaveProperty([code]);
    expect(Object.keys(english.errors).sort()).toEqual([...ErrorCode.options].sort());
  });

  test('every end of an answer has a word', () => {
    for (const reason of FinishReason.options) expect(english.reason).toHaveProperty(reason);
  });

  test('everything that is said to no single page has a sentence', () => {
    expect(Object.keys(english.notices).sort()).toEqual([...Notice.shape.code.options].sort());
  });

  test('no string is written for nobody', () => {
    const all = [...sources.values()].join('\n');
    const families = [...all.matchAll(/`([a-zA-Z.]+)\.\$\{/g)].map((match) => `${match[1]}.`);
    const unused = leaves(english).filter((key) => {
      const plain = key.replace(/_(one|other)$/, '');
      return (
        !all.includes(`'${plain}'`) &&
        !families.some((family) => plain.startsWith(family)) &&
        !plain.startsWith('setting.')
      );
    });
    expect(unused).toEqual([]);
  });

  test('sentences follow the voice: no exclamation, no please, no first person', () => {
    const words = leaves(english).map(
      (key) =>
        key.split('.').reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], english) as string,
    );
    for (const text of words) expect(text).not.toMatch(/!|\b(please|oops|sorry|we|we're|I'm|AI|smart|magic)\b/i);
  });

  test('no visible word stands in a component', () => {
    const found = [...sources]
      .filter(([name]) => name.endsWith('.tsx'))
      .flatMap(([name, text]) =>
        [...text.matchAll(/(?:aria-label|placeholder|title|alt)="([^"{]*[a-z]{3,}[^"]*)"/g)].map(
          (match) => `${name}: ${match[1]}`,
        ),
      );
    expect(found).toEqual([]);
  });
});
