import { expect, test } from 'vitest';
import { readMcpJson } from '../../../app/protocol/mcp.ts';

//  The JSON that other programs keep their tool servers in, as people paste it.

const notes = { command: 'notes-server', args: ['--read'], env: { TOKEN: 'x' } };
const read = (value: unknown) => readMcpJson(JSON.stringify(value));

test('the servers of Claude, of VS Code, and without a name around them', () => {
  const expected = [{ name: 'notes', config: notes }];
  expect(read({ mcpServers: { notes } })).toEqual(expected);
  expect(read({ servers: { notes: { type: 'stdio', ...notes } } })).toEqual(expected);
  expect(read({ notes })).toEqual(expected);
  const url = 'https://tools.example/mcp';
  const remote = read({ mcpServers: { a: { url, headers: { authorization: 'x' } }, b: { serverUrl: url } } });
  expect(remote).toMatchObject([
    { name: 'a', config: { url, headers: { authorization: 'x' } } },
    { name: 'b', config: { url } },
  ]);
});

test.each<[unknown, string]>([
  [{}, '"mcpServers" is missing'],
  [[], '"mcpServers" is missing'],
  [[notes], '"mcpServers" is missing'],
  ['notes', '"mcpServers" is missing'],
  [7, '"mcpServers" is missing'],
  [null, '"mcpServers" is missing'],
  [{ mcpServers: {} }, '"mcpServers" is missing'],
  [{ mcpServers: [notes] }, '"mcpServers" is missing'],
  [{ mcpServers: { notes: 'notes-server' } }, '"notes" is no object'],
  [{ mcpServers: { notes: [notes] } }, '"notes" is no object'],
  [{ mcpServers: { notes: null } }, '"notes" is no object'],
  [{ mcpServers: { notes: {} } }, '"notes" needs "command"'],
  [{ mcpServers: { notes: { command: 7 } } }, '"notes" needs "command"'],
])('%j is refused in words', (value, sentence) => {
  expect(() => read(value)).toThrow(sentence);
});

test('what is no JSON says where', () => {
  expect(() => readMcpJson('{"mcpServers": }')).toThrow(/JSON/);
});
