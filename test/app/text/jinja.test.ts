// What templates come to, as Python and Jinja have it, and what they may cost.
import { expect, onTestFinished, test, vi } from 'vitest';
import { TEMPLATE_LIMITS } from '../../../app/text/jinja/meter.ts';
import { renderJinja } from '../../../app/text/jinja/render.ts';

const variables = {
  word: '  aXbXc  ',
  list: [1, 'two', [3.5, null], { a: true }],
  map: { b: 1, a: 'é', c: [] },
  lines: 'one\n\ntwo',
  nothing: null,
};
const render = (source: string, limits = TEMPLATE_LIMITS) => renderJinja(source, variables, limits);

test.each([
  [
    "{{ ' \\x1c a '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'xxaxx'.lstrip('x') }}|{{ 'xxaxx'.rstrip('x') }}",
    'a|a|axx|xxa',
  ],
  ["{{ '\ufeffa '.strip()|length }}|{{ '   '.strip() }}|{{ ' a '|trim }}", '2||a'],
  ["{{ ', '.join(['a', 1, none]) }}|{{ '-'.join('abc') }}|{{ '-'.join([]) }}", 'a, 1, None|a-b-c|'],
  [
    "{{ 'a b  c'.split() }}|{{ ' a b c'.split(none, 1) }}|{{ 'a,b,c'.split(',', 1) }}|{{ ''.split(',') }}|{{ ''.split() }}",
    "['a', 'b', 'c']|['a', 'b c']|['a', 'b,c']|['']|[]",
  ],
  [
    "{{ 'a,b,c'.split(',', 0) }}|{{ 'a,b,c'.split(',', -1) }}|{{ 'a, b'.split(', ') }}",
    "['a,b,c']|['a', 'b', 'c']|['a', 'b']",
  ],
  [
    "{{ 'a,b,c'.rsplit(',', 1) }}|{{ 'a,b,c'.rsplit(',') }}|{{ 'a,b,c'.rsplit(',', 2) }}|{{ 'a,b,c'.rsplit(',', 0) }}|{{ 'a,b'.rsplit(',', 9) }}",
    "['a,b', 'c']|['a', 'b', 'c']|['a', 'b', 'c']|['a,b,c']|['a', 'b']",
  ],
  [
    "{{ 'banana'.find('an') }}|{{ 'banana'.rfind('an') }}|{{ 'banana'.find('x') }}|{{ 'banana'.index('n') }}|{{ 'banana'.count('an') }}|{{ 'aaa'.count('aa') }}|{{ 'abc'.count('') }}",
    '1|3|-1|2|2|1|4',
  ],
  [
    "{{ 'abc'.removeprefix('a') }}|{{ 'abc'.removeprefix('b') }}|{{ 'abc'.removesuffix('bc') }}|{{ 'abc'.removesuffix('') }}|{{ 'abc'.removesuffix('b') }}",
    'bc|abc|a|abc|abc',
  ],
  [
    "{{ 'a=b=c'.partition('=') }}|{{ 'a=b=c'.rpartition('=') }}|{{ 'a'.partition('=') }}|{{ 'a'.rpartition('=') }}",
    "('a', '=', 'b=c')|('a=b', '=', 'c')|('a', '', '')|('', '', 'a')",
  ],
  ["{{ 'a\\r\\nb\\n\\nc\\n'.splitlines() }}|{{ ''.splitlines() }}", "['a', 'b', '', 'c']|[]"],
  [
    "{{ '12'.isdigit() }}|{{ '1a'.isdigit() }}|{{ 'é'.isalpha() }}|{{ 'a1'.isalpha() }}|{{ ' '.isspace() }}|{{ ''.isspace() }}",
    'True|False|True|False|True|False',
  ],
  ["{{ '{} {}'.format('a', 2) }}|{{ '{1}{0}'.format('a', 'b') }}|{{ '{}'.format() }}", 'a 2|ba|'],
  [
    "{{ 'aaa'.replace('a', 'bb') }}|{{ 'aaa'.replace('a', 'b', 2) }}|{{ 'aaa'.replace('a', 'b', count=1) }}|{{ 'ab'.replace('', '-') }}|{{ 'ab'.replace('', '-', 2) }}|{{ 'ab'.replace('', '-', 3) }}|{{ 'aa'.replace('a', '', 0) }}|{{ 'aa'.replace('a', '', -1) }}",
    'bbbbbb|bba|baa|-a-b-|-a-b|-a-b-|aa|',
  ],
  [
    "{{ 'aaa'|replace('a', 'b') }}|{{ 'aaa'|replace('a', 'b', 2) }}|{{ 'aaa'|replace('a', 'b', count=2) }}|{{ 1|replace('1', '2') }}",
    'bbb|bba|bba|2',
  ],
  [
    "{{ lines|indent }}|{{ lines|indent(2, true) }}|{{ lines|indent(1, blank=true) }}|{{ lines|indent(width='> ', first=true) }}|{{ lines|indent(-1) }}",
    'one\n\n    two|  one\n\n  two|one\n \n two|> one\n\n> two|one\n\ntwo',
  ],
  ["{{ [1, none, 'a']|join(', ') }}|{{ [1, 2]|join }}|{{ [1, 2]|join(d='-') }}", '1, None, a|12|1-2'],
  ['{{ list }}|{{ map }}', "[1, 'two', [3.5, None], {'a': True}]|{'b': 1, 'a': 'é', 'c': []}"],
  ['{{ (1, 2) }}|{{ map.items()|list }}', "(1, 2)|[('b', 1), ('a', 'é'), ('c', [])]"],
  [
    "{{ [\"it's\"] }}|{{ ['\"'] }}|{{ ['\"\\''] }}|{{ ['a\\\\b\\n\\t\\r\\x01'] }}|{{ [undefined] }}",
    "[\"it's\"]|['\"']|['\"\\'']|['a\\\\b\\n\\t\\r\\x01']|[Undefined]",
  ],
  [
    '{{ 2.0 }}|{{ -2.0 }}|{{ 0.5 }}|{{ 0.0001 }}|{{ 0.00001 }}|{{ 1000000000000000.0 }}|{{ 25000000000000000.0 }}',
    '2.0|-2.0|0.5|0.0001|1e-05|1000000000000000.0|2.5e+16',
  ],
  [
    '{{ true == 1 }}|{{ 1 == 1.0 }}|{{ none == 0 }}|{{ none == none }}|{{ [1, [2]] == [1, [2]] }}|{{ [1] == [1, 2] }}|{{ [1, 2] == [1] }}|{{ [1, 2] == (1, 2) }}',
    'True|True|False|True|True|False|False|False',
  ],
  [
    "{{ {'a': 1} == {'a': 1} }}|{{ {'a': 1} == {'b': 1} }}|{{ {'a': 1} == {'a': 1, 'b': 2} }}|{{ {'a': 1} != {'a': 2} }}|{{ 'a' == 'a' }}|{{ 'a' != 'a' }}|{{ 1 == '1' }}",
    'True|False|False|True|True|False|False',
  ],
  [
    '{{ map|tojson }}|{{ list|tojson }}|{{ []|tojson }}|{{ {}|tojson(indent=2) }}',
    '{"b": 1, "a": "é", "c": []}|[1, "two", [3.5, null], {"a": true}]|[]|{}',
  ],
  [
    "{{ map|tojson(ensure_ascii=true) }}|{{ map|tojson(sort_keys=true) }}|{{ map|tojson(separators=(',', ':')) }}|{{ [1, 2]|tojson(none) }}",
    '{"b": 1, "a": "\\u00e9", "c": []}|{"a": "é", "b": 1, "c": []}|{"b":1,"a":"é","c":[]}|[1, 2]',
  ],
  [
    "{{ {'a': [1, {'b': 2}], 'c': 3}|tojson(indent=2) }}|{{ [1, 2]|tojson('\t') }}|{{ [1, 2]|tojson(-1) }}",
    '{\n  "a": [\n    1,\n    {\n      "b": 2\n    }\n  ],\n  "c": 3\n}|[\n\t1,\n\t2\n]|[\n1,\n2\n]',
  ],
  [
    '{{ range(3)|list }}|{{ range(1, 3)|list }}|{{ range(5, 0, -2)|list }}|{{ range(1, 6, 2)|list }}|{{ range(3, 1)|list }}',
    '[0, 1, 2]|[1, 2]|[5, 3, 1]|[1, 3, 5]|[]',
  ],
  [
    '{{ True }}{{ False }}{{ None }}|{{ true }}{{ none }}|{{ undefined_name }}|{{ nothing }}',
    'TrueFalseNone|TrueNone||None',
  ],
  [
    "{{ 'a' ~ 1 ~ none }}|{{ 'a' + 'b' }}|{{ [1] + [2] }}|{{ 1 + 2 }}|{{ true and 'x' }}|{{ false or 'y' }}",
    'a1None|ab|[1, 2]|3|x|y',
  ],
  ["{{ dict(a=1, b='c') }}|{{ dict(map, b=2) }}", "{'a': 1, 'b': 'c'}|{'b': 2, 'a': 'é', 'c': []}"],
  [
    "{{ 'abc'[1:] }}|{{ [1, 2, 3][:2] }}|{{ 'abc'['upper']() }}|{{ list[-1] }}|{{ map['a'] }}",
    "bc|[1, 2]|ABC|{'a': True}|é",
  ],
  [
    '{% for k, v in map.items() %}{{ k }}{{ v }};{% endfor %}|{% for i in [1, 2, 3] if i > 1 %}{{ i }}{% else %}none{% endfor %}|{% for i in [] %}{% else %}none{% endfor %}',
    'b1;aé;c[];|23|none',
  ],
  [
    '{% raw %}{{ a }} "b" {% if %}{% endraw %}|{%- raw -%}  c  {%- endraw -%}  |{% raw %}\nd\n  {% endraw %}|',
    '{{ a }} "b" {% if %}|c|d\n|',
  ],
  ['a\n  {%+ if true %}b{% endif +%}\nc', 'a\n  b\nc'],
  ['{% raw %}a{% endraw %}{% raw %}b{% endraw %}c', 'abc'],
])('%s', (source, expected) => expect(render(source)).toBe(expected));

test.each([
  ["{{ 'a'.split('') }}", 'empty separator'],
  ["{{ 'a'.index('b') }}", 'substring not found'],
  ["{{ 'a'.join(1) }}", 'join() argument must be a list'],
  ["{{ 'a'.find(1) }}", 'find() argument 1 must be a string'],
  ["{{ 'a'.replace('a', 1) }}", 'replace() argument 2 must be a string'],
  ["{{ 'a'|indent(none) }}", 'indent() width must be a number or a text'],
  ['{{ range(1, 2, 0) }}', 'range() step must not be zero'],
  ['{{ [1]|tojson(65) }}', 'tojson() with an indent of 65, at most 64'],
  ['{{ raise_exception }}{{ range|tojson }}', 'Object of type FunctionValue is not JSON serializable'],
  ["{{ raise_exception('no system ' ~ 1) }}", 'no system 1'],
  ['{{ raise_exception() }}', 'raise_exception'],
])('%s fails: %s', (source, message) => expect(() => render(source)).toThrow(expect.objectContaining({ message })));

test('an indent of 64, a template of a million characters and a message of 2,000 are the most', () => {
  expect(render('{{ [1]|tojson(64) }}')).toHaveLength(69);
  expect(render('a'.repeat(1_000_000))).toHaveLength(1_000_000);
  expect(() => render('a'.repeat(1_000_001))).toThrow('a template of 1000001 characters, at most 1000000 are allowed');
  expect(() => render("{{ raise_exception('a' * 1 ~ long) }}")).toThrow();
  expect(() => renderJinja('{{ raise_exception(long) }}', { long: 'a'.repeat(3000) })).toThrow(/^a{2000}$/);
});

test.each([
  [new Date(2031, 2, 7, 0, 5, 9), 'Friday Fri 07 March Mar 03 2031 31 00 12 05 09 AM % %q'],
  [new Date(2009, 11, 20, 15, 45, 0), 'Sunday Sun 20 December Dec 12 2009 09 15 03 45 00 PM % %q'],
  [new Date(2009, 0, 1, 12, 0, 0), 'Thursday Thu 01 January Jan 01 2009 09 12 12 00 00 PM % %q'],
])('a template may ask for the time: %s', (now, expected) => {
  vi.useFakeTimers({ now, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  expect(render("{{ strftime_now('%A %a %d %B %b %m %Y %y %H %I %M %S %p %% %q') }}")).toBe(expected);
});

const big = {
  text: 'a,'.repeat(12_500),
  list: Array.from({ length: 5_000 }, (_, at) => `${at}`),
  map: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`k${at}`, at])),
};
// Each reads or makes something large in a few steps of the template.
test.each([
  ['steps', "{{ text.split(',')|length }}"],
  ['steps', '{{ text.splitlines()|length }}{{ lines.splitlines()|length }}'],
  ['steps', "{{ ' '.join(list)|length }}"],
  ['steps', "{{ text.replace(',', '')|length }}"],
  ['steps', '{{ words.split()|length }}'],
  ['steps', '{{ (list + list)|length }}'],
  ['steps', '{{ range(5000)|length }}'],
  ['steps', '{{ lines|indent|length }}'],
  ['steps', '{{ list == copy }}'],
  ['steps', '{{ list|tojson|length }}'],
  ['steps', '{{ list|string|length }}'],
  ['steps', '{{ list[1:]|length }}'],
  ['steps', '{{ list|sort|length }}'],
  ['steps', '{{ map.items()|length }}'],
  ['steps', '{% for i in list %}{% endfor %}'],
  ['steps', '{% for i in list if false %}{% endfor %}'],
  ['characters', '{{ text }}'],
  ['characters', '{{ text ~ text }}'],
  ['characters', '{% set a = text + text %}'],
  ['characters', "{% set a = ''.join(list) %}"],
  ['characters', "{% set a = list|join(', ') %}"],
  ['characters', "{% set a = text.replace(',', 'longer') %}"],
  ['characters', "{% set a = text.replace('', '-') %}"],
  ['characters', '{% set a = lines|indent(40) %}'],
  ['characters', "{% set a = '{}'.format(text) %}"],
  ['characters', '{% set a = list|string %}'],
  ['characters', '{% set a = map|tojson %}'],
  ['characters', '{% set a = [text]|tojson(2) %}'],
  ['characters', '{% set a = text|upper %}'],
  ['characters', '{% set a = text[1:] %}'],
])('%s are counted for what is large: %s', (what, source) => {
  const given = { ...big, copy: [...big.list], lines: '\n'.repeat(5_000), words: 'a '.repeat(5_000) };
  const run = (limits: Partial<typeof TEMPLATE_LIMITS>) =>
    renderJinja(source, given, { ...TEMPLATE_LIMITS, ...limits });
  expect(() => run({})).not.toThrow();
  expect(() => run({ [what]: 1000 })).toThrow(`stopped after 1000 ${what}`);
});
