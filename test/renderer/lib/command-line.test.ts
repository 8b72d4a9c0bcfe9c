import { expect, test } from 'vitest';
import { readMcpJson } from '../../../app/protocol/index.ts';
import { configOf, secretsIn, wordsOf } from '../../../renderer/lib/command-line.ts';

test('a command line is cut at its spaces, and quotes keep them', () => {
  expect(wordsOf(`npx -y "my server" '' a"b c"d`)).toEqual(['npx', '-y', 'my server', '', 'ab cd']);
  expect([wordsOf('say "no end'), wordsOf('   ')]).toEqual([null, []]);
});

test('secrets are lines of names and values', () => {
  expect(secretsIn('API_KEY=a=b \n\nX-Token: x y')).toEqual({ API_KEY: 'a=b', 'X-Token': 'x y' });
  expect(secretsIn('no value')).toBeNull();
});

test('what is typed is a program or an address', () => {
  expect(configOf('node server.js', 'A=1')).toEqual({ command: 'node', args: ['server.js'], env: { A: '1' } });
  expect(configOf('https://x.example/mcp', 'Authorization: Bearer k')).toEqual({
    url: 'https://x.example/mcp',
    headers: { Authorization: 'Bearer k' },
  });
  expect([configOf('', ''), configOf('http://', ''), configOf('node', 'nonsense')]).toEqual([null, null, null]);
});

test.each([
  [
    'Claude Desktop, Cursor',
    '{"mcpServers":{"files":{"command":"npx","args":["-y","x"],"env":{"K":"v"}},"web":{"url":"https://a.example/mcp","headers":{"H":"1"}}}}',
  ],
  [
    'VS Code',
    '{"servers":{"files":{"type":"stdio","command":"npx","args":["-y","x"],"env":{"K":"v"}},"web":{"type":"http","url":"https://a.example/mcp","headers":{"H":"1"}}}}',
  ],
  [
    'the inner part, Windsurf',
    '{"files":{"command":"npx","args":["-y","x"],"env":{"K":"v"},"disabled":false},"web":{"serverUrl":"https://a.example/mcp","headers":{"H":"1"}}}',
  ],
])('JSON of %s', (_, json) => {
  expect(readMcpJson(json)).toEqual([
    { name: 'files', config: { command: 'npx', args: ['-y', 'x'], env: { K: 'v' } } },
    { name: 'web', config: { url: 'https://a.example/mcp', headers: { H: '1' } } },
  ]);
});

test.each([
  ['{', /JSON/],
  ['[]', /"mcpServers" is missing/],
  ['{"mcpServers":{}}', /"mcpServers" is missing/],
  ['{"mcpServers":{"a":1}}', /"a" is no object/],
  ['{"mcpServers":{"a":{"args":[]}}}', /"a" needs "command"/],
  ['{"mcpServers":{"a":{"url":"file:///etc/passwd"}}}', /"a" needs "command"/],
])('%s is refused with what is wrong', (json, reason) => {
  expect(() => readMcpJson(json)).toThrow(reason);
});
