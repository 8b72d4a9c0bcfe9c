import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { createTemplateRenderer } from '../../../app/text/jinja/template-renderer.ts';
import { tallyOf } from '../tally.ts';

//  A chat template is an untrusted program that runs as soon as a model is added.

vi.setConfig({ testTimeout: 120_000 });
const worker = join(import.meta.dirname, '../../../app/text/jinja/template-process.ts');
const renderer = createTemplateRenderer({ worker, timeLimitMs: 20_000 });
afterAll(() => renderer.close());

const LIMIT_MB = 400;
const doubling = (first: string, step: string, times = 60) =>
  `{% set n = namespace(s=${first}) %}{% for i in range(${times}) %}{% set n.s = ${step} %}{% endfor %}`;

/** Each requests gigabytes or years. */
const GREEDY: Record<string, string> = {
  'one huge text by replace': doubling("'aaaaaaaa'", "n.s.replace('a', 'aaaaaaaaaaaaaaaa')"),
  'replace by its name in brackets': doubling("'aaaaaaaa'", "n.s['replace']('a', 'aaaaaaaaaaaaaaaa')"),
  'replace under another name': `{% set n = namespace(s='aaaa') %}{% for i in range(60) %}{% set f = n.s.replace %}{% set n.s = f('a', 'aaaaaaaaaaaa') %}{% endfor %}`,
  'replace as a filter': doubling("'aaaaaaaa'", "n.s | replace('a', 'aaaaaaaaaaaaaaaa')"),
  'replace of the empty text': doubling("'aaaaaaaa'", "n.s.replace('', 'aaaaaaaaaaaaaaaa')"),
  'replace with a count': doubling("'aaaaaaaa'", "n.s.replace('a', 'aaaaaaaaaaaaaaaa', 1000000000)"),
  'replace in one step': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(20)}{{ a.replace('x', a) }}`,
  'join with a long separator': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(20)}{{ range(100000) | join(a) }}`,
  'join of a text': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(20)}{{ a.join(a) }}`,
  'format with many places': `{% set a = '{0}' %}${'{% set a = a ~ a %}'.repeat(17)}{{ a.format(a) }}`,
  'indent by a billion': "{{ 'a\\nb' | indent(1000000000) }}",
  'indent of many lines': `{% set a = '\\n' %}${'{% set a = a ~ a %}'.repeat(18)}{{ a | indent(100000, true, true) }}`,
  'indent by a long text': `{% set a = '\\nx' %}${'{% set a = a ~ a %}'.repeat(18)}{{ a | indent(a) }}`,
  'tojson with an indent of a billion': '{{ [1] | tojson(indent=1000000000) }}',
  'tojson with a long indent': `{% set a = ' ' %}${'{% set a = a ~ a %}'.repeat(20)}{{ range(10000) | list | tojson(indent=a) }}`,
  'tojson of lists that hold each other': `${doubling('[1]', '[n.s, n.s]', 40)}{{ n.s | tojson }}`,
  'tojson with long separators': `{% set a = ' ' %}${'{% set a = a ~ a %}'.repeat(20)}{{ range(10000) | list | tojson(separators=[a, a]) }}`,
  'lists that hold each other, written': `${doubling('[1]', '[n.s, n.s]', 40)}{{ n.s }}`,
  'lists that hold each other, as text': `${doubling('[1]', '[n.s, n.s]', 40)}{{ n.s | string | length }}`,
  'lists that hold each other, added to a text': `${doubling('[1]', '[n.s, n.s]', 40)}{{ 'a' + n.s }}`,
  'lists that hold each other, joined to a text': `${doubling('[1]', '[n.s, n.s]', 40)}{{ 'a' ~ n.s }}`,
  'lists that hold each other, compared': `${doubling('[1]', '[n.s, n.s]', 40)}{% set b = namespace(s=[1]) %}{% for i in range(40) %}{% set b.s = [b.s, b.s] %}{% endfor %}{{ n.s == b.s }}`,
  'mappings that hold each other': `${doubling('{}', "{'a': n.s, 'b': n.s}", 40)}{{ n.s }}`,
  'an exception with an endless text': `${doubling('[1]', '[n.s, n.s]', 40)}{{ raise_exception(n.s) }}`,
  'range without end': '{{ range(1000000000) | length }}',
  'many ranges that fit': '{% for i in range(1000) %}{% set a = range(100000) %}{% endfor %}',
  'range with a tiny step': '{{ range(0, 1, 0.0000000001) | length }}',
  'range to infinity': '{{ range(1e400 | int) | length }}',
  'sort again and again': `{% set a = range(50000) | list %}{% for i in range(1000) %}{% set b = a | sort %}{% endfor %}`,
  'sort of long texts': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(20)}{% set l = namespace(s=[a]) %}{% for i in range(12) %}{% set l.s = l.s + l.s %}{% endfor %}{{ l.s | sort | length }}`,
  'reverse again and again': `{% set a = range(50000) | list %}{% for i in range(10000) %}{% set b = a | reverse %}{% endfor %}`,
  'unique again and again': `{% set a = range(50000) | list %}{% for i in range(10000) %}{% set b = a | unique %}{% endfor %}`,
  'slices again and again': `{% set a = range(50000) | list %}{% for i in range(10000) %}{% set b = a[1:] %}{% endfor %}`,
  'slices of a text': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(22)}{% for i in range(10000) %}{% set b = a[1:] %}{% endfor %}`,
  'split into letters': `{% set a = 'x ' %}${'{% set a = a ~ a %}'.repeat(22)}{% for i in range(1000) %}{% set b = a.split(' ') %}{% endfor %}`,
  'split at white space': `{% set a = 'x ' %}${'{% set a = a ~ a %}'.repeat(22)}{{ a.split() | length }}`,
  'lines without end': `{% set a = '\\n' %}${'{% set a = a ~ a %}'.repeat(24)}{{ a.splitlines() | length }}`,
  'upper again and again': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(22)}{% for i in range(10000) %}{% set b = a | upper %}{% endfor %}`,
  'searching again and again': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(22)}{% for i in range(900000) %}{% if 'xy' in a %}{% endif %}{% endfor %}`,
  'counting again and again': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(22)}{% for i in range(900000) %}{% if a.count('xx') %}{% endif %}{% endfor %}`,
  'a list in a list': `{% set a = range(50000) | list %}{% for i in range(900000) %}{% if -1 in a %}{% endif %}{% endfor %}`,
  'unpacking a list again and again': `{% macro m() %}{{ varargs | length }}{% endmacro %}{% set a = range(50000) | list %}{% for i in range(10000) %}{{ m(*a) }}{% endfor %}`,
  'a macro that calls itself': '{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}',
  'a macro that calls itself twice':
    '{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}',
  'a macro whose text doubles':
    '{% macro m(n) %}{% if n > 0 %}{% set x = m(n - 1) %}{{ x }}{{ x }}{% else %}xxxxxxxx{% endif %}{% endmacro %}{{ m(60) }}',
  'a block that is kept and doubles': `{% set a = 'xxxxxxxx' %}${'{% set a %}{{ a }}{{ a }}{% endset %}'.repeat(60)}`,
  'brackets in brackets': `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`,
  'lists in lists, written down': `{{ ${'['.repeat(50_000)}1${']'.repeat(50_000)} }}`,
  'ifs in ifs': '{% if true %}'.repeat(20_000) + '{% endif %}'.repeat(20_000),
  'a template of ten million letters': 'x'.repeat(10_000_000),
  'blocks that are never closed': '{% raw %}'.repeat(100_000),
  'comments that are never closed': '{#'.repeat(300_000),
  'a date written a million times': `{% set a = '%Y%B' %}${'{% set a = a ~ a %}'.repeat(22)}{{ strftime_now(a) }}{{ range(10000000) }}`,
  'powers of powers':
    '{% set n = namespace(s=9) %}{% for i in range(100) %}{% set n.s = n.s ** n.s %}{% endfor %}{{ n.s }}',
  'keys of megabytes': `{% set a = 'x' %}${'{% set a = a ~ a %}'.repeat(22)}{% set n = namespace(s=[]) %}{% for i in range(10000) %}{% set n.s = n.s + [{(a ~ i): (a ~ i)}] %}{% endfor %}{{ n.s | length }}{{ n.s }}`,
  'titles of a long text': `{% set a = 'x ' %}${'{% set a = a ~ a %}'.repeat(22)}{% for i in range(10000) %}{% set b = a | title %}{% endfor %}`,
};

/** Peak memory of the renderer process in MB; null if unknown. */
function maxMemory(): number | null {
  try {
    const [child] = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return null;
  }
}

const tally = tallyOf('templates');

test('a greedy template is stopped, and the process that asked neither grows nor waits', async () => {
  const before = process.memoryUsage.rss() / 2 ** 20;
  for (const [name, source] of Object.entries(GREEDY)) {
    await tally.refused(name, async () => {
      let peak = 0;
      const watch = setInterval(() => {
        peak = Math.max(peak, maxMemory() ?? 0);
      }, 25);
      const answer = await renderer.render(source, {}).then(
        (text) => text.length,
        (error: unknown) => error,
      );
      clearInterval(watch);
      // Cheap ones may be answered.
      if (typeof answer === 'number') expect(answer).toBeLessThan(100);
      else expect(answer).toMatchObject({ code: 'template-failed' });
      expect(process.memoryUsage.rss() / 2 ** 20 - before, 'growth of the process that asked').toBeLessThan(LIMIT_MB);
      expect(peak, 'memory of the process that renders').toBeLessThan(LIMIT_MB);
    });
  }
  // The next one is rendered normally.
  expect(await renderer.render('{{ 1 + 1 }}', {})).toBe('2');
  tally.settle();
});
