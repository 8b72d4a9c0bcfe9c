import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  Choosing,
  ErrorCode,
  FinishReason,
  MenuCommand,
  Notice,
  PromptCacheProtection,
} from '../../app/protocol/index.ts';
import english from '../../renderer/strings/en.json' with { type: 'json' };

const root = join(import.meta.dirname, '..', '..');
const sourcesBelow = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name): [string, string] => [`${folder}/${name}`, readFileSync(join(root, folder, name), 'utf8')]);
const pages = sourcesBelow('renderer');
const shell = sourcesBelow('main');

function leaves(value: object, path = ''): [key: string, text: string][] {
  return Object.entries(value).flatMap(([key, inner]): [string, string][] =>
    typeof inner === 'string' ? [[`${path}${key}`, inner]] : leaves(inner as object, `${path}${key}.`),
  );
}
const strings = leaves(english);
const byKey = new Map(strings);
const having = (wrong: (text: string, key: string) => boolean): string[] =>
  strings.filter(([key, text]) => wrong(text, key)).map(([key, text]) => `${key}: ${text}`);

describe('a string for everything', () => {
  test('every failure has a sentence and a way out', () => {
    expect(Object.keys(english.errors).sort()).toEqual([...ErrorCode.options].sort());
    for (const { what, way } of Object.values(english.errors)) {
      expect(what).toMatch(/^[A-Z].*[^.]$/);
      expect(way).toMatch(/^[A-Z].*\.$/);
    }
  });

  test('every end of an answer has a word', () => {
    for (const reason of FinishReason.options) expect(english.reason).toHaveProperty(reason);
  });

  test('everything that is said to no single page has a sentence', () => {
    expect(Object.keys(english.notices).sort()).toEqual([...Notice.shape.code.options].sort());
  });

  test('every way to protect the prompt cache on disk has a sentence, and so has none', () => {
    expect(Object.keys(english.cacheProtection).sort()).toEqual([...PromptCacheProtection.options, 'off'].sort());
    for (const text of Object.values(english.cacheProtection)) expect(text).toMatch(/^[A-Z].*\.$/);
  });

  test('every entry of the native menu and every native dialog has a name', () => {
    for (const name of MenuCommand.options) expect(english.desktop.menu).toHaveProperty(name);
    expect(Object.keys(english.desktop.choose).sort()).toEqual([...Choosing.options].sort());
  });

  test('no string is written for nobody', () => {
    const page = pages.map(([, text]) => text).join('\n');
    const desktop = shell.map(([, text]) => text).join('\n');
    const families = [...page.matchAll(/`([a-zA-Z0-9.]+)\.\$\{/g)].map((match) => `${match[1]}.`);
    const onDesktop = (key: string) => {
      const [group = '', name = ''] = key.slice('desktop.'.length).split('.');
      return [`words.${group}.${name}`, `words.${group}[`, `${name},`, ` ${name} }`].some((use) =>
        desktop.includes(use),
      );
    };
    const unused = [...byKey.keys()].filter((key) => {
      if (key.startsWith('desktop.')) return !onDesktop(key);
      const plain = key.replace(/_(one|other)$/, '');
      return (
        !page.includes(`'${plain}'`) &&
        !families.some((family) => plain.startsWith(family)) &&
        !plain.startsWith('setting.')
      );
    });
    expect(unused).toEqual([]);
  });

  test('one and many have a form each', () => {
    const alone = [...byKey.keys()].filter((key) =>
      key.endsWith('_one')
        ? !byKey.has(key.replace(/_one$/, '_other'))
        : key.endsWith('_other') && !byKey.has(key.replace(/_other$/, '_one')),
    );
    expect(alone).toEqual([]);
    const things =
      /\{\{(\w+)\}\} (tokens|answers|messages|documents|passages|models|sentences|sources|turns|lines|rows)\b/;
    expect(having((text, key) => things.test(text) && !/_(one|other)$/.test(key) && !NEVER_ONE.includes(key))).toEqual(
      [],
    );
  });
});

/** Entries of the Mac's own menus have the names that they have in every app. */
const MAC = /^desktop\.menu\.roles\./;

describe('how they are written', () => {
  test('the voice: no exclamation, no please, no first person', () => {
    expect(
      having((text, key) => /!|\b(please|oops|sorry|we|we're|I'm|AI|smart|magic)\b/i.test(text) && !MAC.test(key)),
    ).toEqual([]);
  });

  test('punctuation is typographic, and nothing is spaced twice', () => {
    expect(having((text) => /['"`]|\.\.\.|--/.test(text.replaceAll('--data', '')))).toEqual([]);
    expect(having((text) => / {2}|^\s|\s$|\s[.,;:?](?!\w)/.test(text))).toEqual([]);
  });

  test('a sentence ends with a period when another one stands beside it', () => {
    expect(having((text) => /[a-z)]\. [A-Z]/.test(text) && !/[.?:]$|\}\}$/.test(text))).toEqual([]);
  });

  test('a value and its unit come together, formatted', () => {
    expect(having((text) => /\}\}\s?\/?(B|kB|MB|GB|ms|s|min|h|tok\/s|%)(?![\w])/.test(text))).toEqual([]);
    const glued = [...pages]
      .filter(([name]) => !name.endsWith('ui/format.ts'))
      .flatMap(([name, text]) =>
        [...text.matchAll(/\}[ \u00a0]?(?:B|kB|MB|GB|ms|s|min|tok\/s)`/g)].map(([found]) => `${name}: ${found}`),
      );
    expect(glued).toEqual([]);
  });

  test('what stands on a button is short', () => {
    const names = pages.flatMap(([, text]) =>
      [...text.matchAll(/<Button\b[^>]*?>\s*\{t\('([\w.-]+)'\)\}/g)].map((match) => match[1] as string),
    );
    expect(names.length).toBeGreaterThan(20);
    const long = names.filter((key) => (byKey.get(key) ?? '').length > 28);
    expect(long).toEqual([]);
  });

  test('the words of the field, and one word for one thing', () => {
    expect(having((text) => RIDDLES.some((riddle) => riddle.test(text)))).toEqual([]);
  });

  test('no visible word stands in a component', () => {
    const found = pages
      .filter(([name]) => name.endsWith('.tsx'))
      .flatMap(([name, text]) =>
        [...text.matchAll(/(?:aria-label|placeholder|title|alt)="([^"{]*[a-z]{3,}[^"]*)"/g)].map(
          (match) => `${name}: ${match[1]}`,
        ),
      );
    expect(found).toEqual([]);
    const said = shell.flatMap(([name, text]) =>
      [...text.matchAll(/\b(?:label|message|detail|body|title): '([A-Z][^']*)'/g)]
        .map((match) => match[1])
        .filter((words) => words !== 'Longhand')
        .map((words) => `${name}: ${words}`),
    );
    expect(said).toEqual([]);
  });
});

/** Always more than a context, or than the fewest that are measured. */
const NEVER_ONE = ['overflow.about', 'performance.dots'];

/** Sentences that had to be read twice, and the turns of phrase they were made of. */
const RIDDLES = [
  /would say less than/i,
  /asks the same five times/i,
  /\basks? \S+ for (it|them)\b/i,
  /from now on/i,
  /set all back/i,
  /\bthey count for\b/i,
  /without a word/i,
  /model of meaning|learning the meaning/i,
  /where do the files go/i,
  /\bfollows here\b/i,
  /leaves the memory/i,
  /the best there is/i,
  /nobody|somebody|whoever/i,
  /handing over/i,
  /what does not run/i,
  /look for its newest/i,
  /\b(fetch|fetched|fetching)\b/i,
  /\bgoes? on\b|\bgoing on\b/i,
  /\bshall\b|\bthat wait\b|\bbegins?\b/i,
  /\bis not there\b|\bnot there\b/i,
  /\bas soon as there is room\b/i,
  /\bmade room\b|\bof its own\b.*\bof its own\b/i,
  /\bcome out\b|\bcame of it\b/i,
  /\bstands? (for|only|in|at)\b/i,
  /\bcannot be (shown|run|written)\b/i,
  /\bcolor\b|\bcustomize\b|\brecogniz|\bsummariz/i,
  /\bencoder model\b|\btokens a second\b/i,
];
