import { place, quality, thing } from './prose.ts';
import { type Random, repeat } from './random.ts';

//  Program text repeats itself by nature: same shapes, tables of zeros, one line a case.

const title = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const fence = (language: string, code: string) =>
  `Here it is:\n\n\`\`\`${language}\n${code}\n\`\`\`\n\nRun it once and look at the result.`;

function python(random: Random): string {
  return repeat(28, () => {
    const what = thing(random);
    return `def get_${what}_${random.below(90)}(self, key, default=None):
    """Return the ${quality(random)} ${what} for key."""
    if key not in self._${what}:
        return default
    value = self._${what}[key]
    if not isinstance(value, ${title(what)}):
        raise TypeError("expected ${title(what)}, got %r" % (value,))
    return value
`;
  }).join('\n');
}

function tests(random: Random): string {
  return repeat(40, (index) => {
    const what = thing(random);
    return `test('${what} number ${index} is ${quality(random)}', () => {
  const ${what} = create('${what}', { size: ${random.below(100)}, place: '${place(random)}' });
  expect(${what}.size).toBe(${random.below(100)});
  expect(${what}.place).toBe('${place(random)}');
});
`;
  }).join('\n');
}

function zeros(random: Random): string {
  const columns = random.between(6, 12);
  const rows = random.between(6, 12);
  const row = `  { ${repeat(columns, () => '0').join(', ')} },`;
  return `static const int grid[${rows}][${columns}] = {\n${repeat(rows, () => row).join('\n')}\n};`;
}

function assembly(random: Random): string {
  const registers = ['rax', 'rbx', 'rcx', 'rdx', 'rsi', 'rdi', 'r8', 'r9'];
  return repeat(160, () => {
    const sort = random.below(4);
    if (sort === 0) return `    mov     ${random.pick(registers)}, qword ptr [rsp + ${8 * random.below(20)}]`;
    if (sort === 1) return `    add     ${random.pick(registers)}, ${random.pick(registers)}`;
    if (sort === 2)
      return `    lea     ${random.pick(registers)}, [${random.pick(registers)} + 8*${random.pick(registers)}]`;
    return `    vfmadd231ps zmm${random.below(32)}, zmm${random.below(32)}, zmm${random.below(32)}`;
  }).join('\n');
}

function html(random: Random): string {
  const cells = random.between(3, 5);
  const rows = repeat(
    random.between(6, 14),
    () => `  <tr>\n${repeat(cells, () => '    <td></td>').join('\n')}\n  </tr>`,
  );
  const list = repeat(
    30,
    () =>
      `  <li class="item"><a href="/${thing(random)}/${random.below(999)}">${title(quality(random))} ${thing(random)}</a></li>`,
  );
  return `<table>\n${rows.join('\n')}\n</table>\n<ul>\n${list.join('\n')}\n</ul>`;
}

function sql(random: Random): string {
  return repeat(
    60,
    (index) =>
      `INSERT INTO stock (id, name, place, price) VALUES (${index + 1}, '${quality(random)} ${thing(random)}', '${place(random)}', ${random.below(900)}.50);`,
  ).join('\n');
}

function switches(random: Random): string {
  const cases = repeat(40, (index) => `    case ${index}:\n      return "${quality(random)}_${thing(random)}";`);
  return `const char *label(int code) {\n  switch (code) {\n${cases.join('\n')}\n    default:\n      return "unknown";\n  }\n}`;
}

function css(random: Random): string {
  return repeat(
    36,
    () =>
      `.${thing(random)}-${quality(random)} {\n  margin: 0 0 0 ${random.below(20)}px;\n  padding: 0;\n  color: var(--${quality(random)});\n}`,
  ).join('\n\n');
}

function getters(random: Random): string {
  const body = repeat(30, () => {
    const what = `${quality(random)}${title(thing(random))}`;
    return `    public String get${title(what)}() {\n        return this.${what};\n    }\n\n    public void set${title(what)}(String ${what}) {\n        this.${what} = ${what};\n    }\n`;
  });
  return `public class ${title(thing(random))} {\n${body.join('\n')}}`;
}

function log(random: Random): string {
  return repeat(
    90,
    (index) =>
      `2031-03-${String(1 + (index % 28)).padStart(2, '0')} 08:${String(index % 60).padStart(2, '0')}:07.${random.below(999)} INFO  [worker-${random.below(4)}] Request for /${thing(random)} finished with status 200 in ${random.below(90)} ms`,
  ).join('\n');
}

const languages = {
  python,
  javascript: tests,
  c: zeros,
  asm: assembly,
  html,
  sql,
  cpp: switches,
  css,
  java: getters,
  text: log,
};

export function code(random: Random): string {
  const language = random.pick(Object.keys(languages)) as keyof typeof languages;
  const written = languages[language](random);
  return random.next() < 0.8 ? fence(language, written) : written;
}
