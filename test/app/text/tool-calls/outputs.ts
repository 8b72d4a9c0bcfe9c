//  What models of each family write: calls, several calls, text around them, and decoys. Name, text, what is in it.

type Output = [name: string, text: string, expected: (string | [string, object])[]];

/** The same call in every family: what is called with what. */
const CALLS: [name: string, tool: string, given: Record<string, unknown>][] = [
  ['no arguments', 'now', {}],
  ['one word', 'weather', { city: 'Bern' }],
  ['a number', 'weather', { days: 3 }],
  ['a negative number', 'weather', { factor: -1.5 }],
  ['an exponent', 'weather', { factor: 1e21 }],
  ['true', 'weather', { exact: true }],
  ['false', 'weather', { exact: false }],
  ['nothing', 'weather', { unit: null }],
  ['an object', 'weather', { where: { lat: 46.9, lon: 7.4, near: ['a', 'b'] } }],
  ['a list', 'weather', { list: [1, 'two', [3], { four: 5 }] }],
  ['an empty list', 'weather', { list: [] }],
  ['several', 'weather', { city: 'Zürich', days: 10, exact: false }],
  ['a dot in the name', 'note.add', { text: 'milk' }],
  ['quotes', 'note.add', { text: 'she said "no" and \'yes\'' }],
  ['one quote, then what ends a call', 'note.add', { text: '5" wide }, ) ] and on' }],
  ['line breaks', 'note.add', { text: 'one\ntwo\n\nfour' }],
  ['backslashes', 'note.add', { text: 'C:\\temp\\new' }],
  ['brackets', 'note.add', { text: 'if (a[0] > {b}) { return ]})' }],
  ['markup', 'note.add', { text: '<b>bold</b> & <tool> </parameter' }],
  ['a fence', 'note.add', { text: 'so:\n```js\nf()\n```\nend' }],
  ['signs of other scripts', 'note.add', { text: '日本語 🦊 العربية' }],
  ['the words of a format', 'note.add', { text: '{"name": "now", "arguments": {}} and now()' }],
  ['a long text', 'note.add', { text: 'word '.repeat(40).trim() }],
  ['an empty text', 'note.add', { text: '' }],
  ['a tool that nobody offered', 'launch', { rocket: 'Ariane' }],
];

type Writer = (tool: string, given: Record<string, unknown>) => string;

const json: Writer = (name, given) => JSON.stringify({ name, arguments: given });
const spaced: Writer = (name, given) => `\n${JSON.stringify({ name, arguments: given }, null, 1)}\n`;
const xmlValue = (value: unknown) =>
  typeof value === 'string' ? value : value === null ? 'None' : JSON.stringify(value);
const xml: Writer = (name, given) =>
  `\n<function=${name}>\n${Object.entries(given)
    .map(([key, value]) => `<parameter=${key}>\n${xmlValue(value)}\n</parameter>\n`)
    .join('')}</function>\n`;
const python = (value: unknown): string => {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value as object)
      .map(([key, inner]) => `'${key}': ${python(inner)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
};
const pythonCall: Writer = (name, given) =>
  `${name}(${Object.entries(given)
    .map(([key, value]) => `${key}=${python(value)}`)
    .join(', ')})`;

/** Every call alone, behind text, before text, twice, without its last marker, and shown as code. */
function everyWay(family: string, wrap: (body: string) => string, write: Writer, close: string): Output[] {
  const now = wrap(write('now', {}));
  return CALLS.flatMap(([name, tool, given]) => {
    const call = wrap(write(tool, given));
    const expected: [string, object] = [tool, given];
    return [
      [name, call, [expected]],
      [`${name}, behind text`, `I will look.\n\n${call}`, ['I will look.', expected]],
      [`${name}, then another`, `${call}\n${now}`, [expected, ['now', {}]]],
      ...(close === '' ? [] : ([[`${name}, not closed`, call.slice(0, -close.length), [expected]]] as Output[])),
      ...(call.includes('```')
        ? []
        : ([
            [
              `${name}, shown in a block of ${family}`,
              `Like this:\n\`\`\`\n${call}\n\`\`\`\nDone.`,
              [`Like this:\n\`\`\`\n${call}\n\`\`\`\nDone.`],
            ],
          ] as Output[])),
    ] as Output[];
  });
}

const text = (name: string, said: string): Output => [name, said, said === '' ? [] : [said]];

const decoys = (open: string, close: string): Output[] => [
  text('nothing', ''),
  text('only text', 'The weather is fine.'),
  text('the marker in a sentence, as code', `Write \`${open}\` to call a tool.`),
  text('a marker that is not finished', `Here is ${open.slice(0, -1)}`),
  text('a marker with nothing in it', `${open}${close} done`),
  text('a marker around prose', `${open} I would call a tool ${close}`),
  text('markers in other letters', `${open.toUpperCase().replace('TOOL', 'TOOOL')} x`),
];

const between = (open: string, close: string) => (body: string) => `${open}${body}${close}`;

export const OUTPUTS: Record<string, Output[]> = {
  hermes: [
    ...everyWay('hermes', between('<tool_call>\n', '\n</tool_call>'), json, '\n</tool_call>'),
    ...everyWay('hermes', between('<tool_call>', '</tool_call>'), spaced, '</tool_call>').map(
      ([name, ...rest]): Output => [`${name}, spaced`, ...rest],
    ),
    ...decoys('<tool_call>', '</tool_call>'),
    ['arguments as a string', '<tool_call>{"name":"now","arguments":"{\\"a\\":1}"}</tool_call>', [['now', { a: 1 }]]],
    [
      'the closing marker in a value',
      '<tool_call>{"name":"note.add","arguments":{"text":"</tool_call>"}}</tool_call>',
      [['note.add', { text: '</tool_call>' }]],
    ],
    text('JSON that breaks off', '<tool_call>{"name": "now", "arguments": {'),
    [
      'a second one behind a comma, without a list',
      '<tool_call>{"name":"now","arguments":{}}, {"name":"now","arguments":{}}</tool_call>',
      [['now', {}], ', {"name":"now","arguments":{}}</tool_call>'],
    ],
    text('JSON with a mistake', '<tool_call>{"name": now}</tool_call> sorry'),
    text('no name', '<tool_call>{"arguments": {}}</tool_call>'),
    ['text after a call', '<tool_call>{"name":"now"}</tool_call>Done.', [['now', {}], 'Done.']],
  ],
  qwen3_5: [
    ...everyWay('qwen3_5', between('<tool_call>', '</tool_call>'), xml, '\n</tool_call>'),
    ...decoys('<tool_call>', '</tool_call>'),
    [
      'the end of a parameter in a value',
      '<tool_call>\n<function=note.add>\n<parameter=text>\na </parameter> b\n</parameter>\n</function>\n</tool_call>',
      [['note.add', { text: 'a </parameter> b' }]],
    ],
    ['JSON in the place of XML', '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>', [['now', {}]]],
    [
      'a word of Python',
      '<tool_call>\n<function=weather>\n<parameter=exact>\nTrue\n</parameter>\n</function>\n</tool_call>',
      [['weather', { exact: true }]],
    ],
    text('a function that breaks off', '<tool_call>\n<function=now>\n'),
  ],
  lfm2: [
    ...everyWay('lfm2', between('<|tool_call_start|>[', ']<|tool_call_end|>'), pythonCall, '<|tool_call_end|>'),
    ...decoys('<|tool_call_start|>', '<|tool_call_end|>').filter(([name]) => name !== 'a marker around prose'),
    [
      'two in one list',
      '<|tool_call_start|>[now(), weather(city="Bern")]<|tool_call_end|>',
      [
        ['now', {}],
        ['weather', { city: 'Bern' }],
      ],
    ],
    [
      'without a list',
      '<|tool_call_start|>weather(city="Bern", days=3)<|tool_call_end|>',
      [['weather', { city: 'Bern', days: 3 }]],
    ],
    [
      'arguments without names',
      '<|tool_call_start|>[weather("Bern", 3)]<|tool_call_end|>',
      [['weather', { city: 'Bern', days: 3 }]],
    ],
    [
      'single quotes',
      "<|tool_call_start|>[note.add(text='it\\'s')]<|tool_call_end|>",
      [['note.add', { text: "it's" }]],
    ],
    [
      'three quotes',
      '<|tool_call_start|>[note.add(text="""a "b" c""")]<|tool_call_end|>',
      [['note.add', { text: 'a "b" c' }]],
    ],
    [
      'three quotes around one',
      '<|tool_call_start|>[weather(days=3, city="""5", wide) ]""")]<|tool_call_end|>',
      [['weather', { days: 3, city: '5", wide) ]' }]],
    ],
    [
      'a second one behind a comma, without a list',
      '<|tool_call_start|>now(), now()<|tool_call_end|>',
      [['now', {}], ', now()<|tool_call_end|>'],
    ],
    [
      'as a block of code',
      '<|tool_call_start|>\n```python\nweather(city="Bern")\n```\n<|tool_call_end|>',
      [['weather', { city: 'Bern' }]],
    ],
    [
      'JSON in the place of Python',
      '<|tool_call_start|>[{"name": "now", "arguments": {}}]<|tool_call_end|>',
      [['now', {}]],
    ],
    text('an expression, which nobody computes', '<|tool_call_start|>[weather(days=1+1)]<|tool_call_end|>'),
    text('a call in a call', '<|tool_call_start|>[weather(city=now())]<|tool_call_end|>'),
  ],
  minicpm4: everyWay(
    'minicpm4',
    between('<|tool_call_start|>\n```python\n', '\n```\n<|tool_call_end|>'),
    pythonCall,
    '<|tool_call_end|>',
  ),
  mistral: [
    ...everyWay('mistral', between('[TOOL_CALLS] [', ']'), json, ''),
    ...decoys('[TOOL_CALLS]', ''),
    [
      'two in one list',
      '[TOOL_CALLS][{"name":"now"},{"name":"weather","arguments":{"city":"Bern"}}]',
      [
        ['now', {}],
        ['weather', { city: 'Bern' }],
      ],
    ],
  ],
  llama3: [
    ...CALLS.filter(([, tool]) => tool !== 'launch').map(
      ([name, tool, given]): Output => [name, JSON.stringify({ name: tool, parameters: given }), [[tool, given]]],
    ),
    ['arguments in the place of parameters', '{"name": "now", "arguments": {}}', [['now', {}]]],
    ['as a function', '{"type": "function", "function": {"name": "now", "parameters": {}}}', [['now', {}]]],
    text('JSON that was asked for', '{"city": "Bern", "days": 3}'),
    text('a tool that nobody offered', '{"name": "launch", "parameters": {"rocket": "Ariane"}}'),
    text('JSON behind text', 'Here: {"name": "now", "parameters": {}}'),
    text('JSON that breaks off', '{"name": "now", "para'),
    text('only text', 'The weather is fine.'),
    text('nothing', ''),
  ],
};
