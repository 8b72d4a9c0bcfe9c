import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { TEMPLATE_LIMITS } from '../../../app/text/jinja/meter.ts';
import { renderJinja } from '../../../app/text/jinja/render.ts';
import { createTemplateRenderer } from '../../../app/text/jinja/template-renderer.ts';

const golden = join(import.meta.dirname, '../../golden/chat_templates');
const worker = join(import.meta.dirname, '../../../app/text/jinja/template-process.ts');
const renderer = createTemplateRenderer({ worker });
afterAll(() => renderer.close());

type Golden = {
  conversations: Record<string, unknown>;
  tools: unknown;
  cases: { conversation: string; options: Record<string, unknown>; rendered?: string; error?: string }[];
};

describe.each(['big_default_on', 'small_default_off', 'syntax'])('%s', (name) => {
  const template = readFileSync(join(golden, name, 'template.jinja'), 'utf8');
  const { conversations, tools, cases }: Golden = JSON.parse(readFileSync(join(golden, name, 'expected.json'), 'utf8'));

  test('is rendered as transformers renders it, in the worker', async () => {
    expect(cases.length).toBe(65);
    for (const { conversation, options, rendered, error } of cases) {
      const variables = {
        bos_token: '<s>',
        eos_token: '<|im_end|>',
        ...options,
        messages: conversations[conversation],
        ...('tools' in options && { tools }),
      };
      const result = renderer.render(template, variables);
      if (rendered !== undefined) expect(await result, conversation).toBe(rendered);
      else await expect(result).rejects.toThrow(`[template] ${error?.replace('TemplateError: ', '')}`);
    }
  });
});

describe('a template cannot hold or kill the engine', () => {
  // Steps are counted; the clock, which a busy machine could bring forward, is out of the way.
  const patient = createTemplateRenderer({ worker, timeLimitMs: 600_000 });
  afterAll(() => patient.close());
  const fails = (source: string, message: string | RegExp) =>
    expect(patient.render(source, {})).rejects.toThrow(message);

  test('range(10**9)', () => fails('{% for i in range(10**9) %}x{% endfor %}', 'stopped after 1000000 steps'));
  test('loops in loops', () =>
    fails(
      '{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}',
      'stopped after 1000000 steps',
    ));
  test('text that doubles', () =>
    fails(
      "{% set n = namespace(s='xxxxxxxxxxxxxxxx') %}{% for i in range(40) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
      /stopped after|too large/,
    ));
  test('lists that double', () =>
    fails(
      '{% set n = namespace(s=[1,2]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}',
      'stopped after 1000000 steps',
    ));
  test('a macro that calls itself twice', () =>
    fails(
      '{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}',
      'stopped after 1000000 steps',
    ));
  test('lists that hold each other, as JSON', () =>
    fails(
      '{% set n = namespace(s=[1]) %}{% for i in range(40) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s | tojson }}',
      'stopped after 1000000 steps',
    ));
  test('a text that grows by a little is not stopped', () => {
    const template =
      '{% set n = namespace(s="") %}{% for i in range(9000) %}{% set n.s = n.s + "0123456789" ~ i %}{% endfor %}{{ n.s | length }}';
    expect(renderJinja(template, {})).toBe('124890');
  });
  test('an indent without end', () => {
    const nested = JSON.stringify(Array.from({ length: 30 }).reduce((inside) => [inside], 1));
    const pasted = 'x'.repeat(20_000_000);
    // JavaScript has no text of 600 million characters: what is asked for is counted before it is made.
    return expect(patient.render(`{{ ${nested} | tojson(indent=pasted) }}`, { pasted })).rejects.toThrow(
      `stopped after ${TEMPLATE_LIMITS.characters} characters`,
    );
  });
  test('memory without end', async () => {
    const small = createTemplateRenderer({ worker, memoryLimitMb: 32, limits: { steps: 1e12, characters: 1e12 } });
    const greedy = '{% set n = namespace(s=[1,2]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}';
    await expect(small.render(greedy, {})).rejects.toThrow(/^\[template\] used more than \d+ MB$/);
    expect(await small.render('{{ 1 + 1 }}', {})).toBe('2');
    await small.close();
  });
  test('endless recursion', () => fails('{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', '[template] '));
  test('bad syntax', () => fails('{% if %}', '[template] '));
  test('unknown functions', () => fails('{{ open("/etc/passwd") }}', 'not a function'));
  test('the constructor of a function is not reachable', () =>
    fails('{{ raise_exception.constructor("return process")() }}', 'not a function'));

  test('a slow template is stopped by the clock, and the next one is rendered', async () => {
    const impatient = createTemplateRenderer({ worker, timeLimitMs: 1500, limits: { steps: 1e12, characters: 1e9 } });
    const slow = '{% for a in range(999999) %}{% for b in range(999999) %}{% endfor %}{% endfor %}';
    await expect(impatient.render(slow, {})).rejects.toThrow('took longer than 1500 ms');
    expect(await impatient.render('{{ 1 + 1 }}', {})).toBe('2');
    await impatient.close();
  });

  test('the time of one rendering does not end a later one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const patient = createTemplateRenderer({ worker });
    expect(await patient.render('{{ 1 + 1 }}', {})).toBe('2');
    vi.advanceTimersByTime(20_000);
    const later = patient.render('{{ 2 + 2 }}', {});
    await Promise.resolve();
    vi.advanceTimersByTime(15_000);
    expect(await later).toBe('4');
    vi.useRealTimers();
    await patient.close();
  });
});

describe("Python's ways", () => {
  test.each([
    ['{{ [1, "a\'b", none, 2.0, (1, 2)] }}', `[1, "a'b", None, 2.0, (1, 2)]`],
    ['{{ 10 ** 20 }}', '100000000000000000000'],
    [
      '{{ [1, [2]] == [1, [2]] }} {{ {"a": 1} != {"a": 2} }} {{ 1 == true }} {{ none == undefined_name }}',
      'True True True False',
    ],
    [
      '{% for k, v in {"a": 1}.items() %}{{ k }}{{ v }}{% endfor %}{% for a, b in [(1, 2)] %}{{ a + b }}{% endfor %}',
      'a13',
    ],
    [
      '{{ "a\u2028<" | tojson }} {{ "é" | tojson(ensure_ascii=true) }} {{ {"b": [], "a": {}} | tojson(indent=1, sort_keys=true) }}',
      '"a\u2028<" "\\u00e9" {\n "a": {},\n "b": []\n}',
    ],
    ['{{ [1, [2, {"a": 3}]] | tojson(indent=2) }}', '[\n  1,\n  [\n    2,\n    {\n      "a": 3\n    }\n  ]\n]'],
    ['{{ "a\n\nb" | indent(2) }}|{{ "a\n\nb" | indent(2, true, true) }}', 'a\n\n  b|  a\n  \n  b'],
    [
      '{{ "abc".replace("", "-") }} {{ "abc".replace("", "-", 2) }} {{ "ab".replace("", "-", 3) }}',
      '-a-b-c- -a-bc -a-b-',
    ],
    ['{{ " x\u00a0".strip() }}|{{ "\ufeffx" | trim }}|{{ "xxaxx".strip("x") }}', 'x|\ufeffx|a'],
    ['{{ "a,b,c".rsplit(",", 1) }} {{ "a=b".partition("=") }}', "['a,b', 'c'] ('a', '=', 'b')"],
    ['{{ ["a", "b"] | join(d="; ") }} {{ ["a", "b"] | join("-") }} {{ ["a", "b"] | join }}', 'a; b a-b ab'],
    ['  {%+ if true %}\n  x\n  {%- endif %}', '    x'],
    ['{% if true +%}\n  {% if true %}\ny{% endif %}{% endif %}', '\ny'],
    ['{%- raw -%}  {{ "x" }} {% y %}\\  {%- endraw -%} ', '{{ "x" }} {% y %}\\'],
  ])('%s', (template, expected) => {
    expect(renderJinja(template, {})).toBe(expected);
  });

  test.each([
    [0, '12:05 AM'],
    [9, '09:05 AM'],
    [12, '12:05 PM'],
    [13, '01:05 PM'],
  ])('a clock of twelve hours shows the time of %i:05', (hour, expected) => {
    vi.useFakeTimers({ now: new Date(2026, 2, 5, hour, 5), toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    expect(renderJinja('{{ strftime_now("%I:%M %p") }}', {})).toBe(expected);
  });
});
