// Every limit that app/LIMITS.md names stands in the code as it says.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const rows = [...read('app/LIMITS.md').matchAll(/^\|[^|]*\|[^|]*\| `([^`]+)`[^|]*\| `([^`]+)` \|$/gm)].map(
  ([, code, path]) => ({
    code: code ?? '',
    path: path ?? '',
  }),
);

test('the table names the limits of the code', () => {
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter(({ code, path }) => !read(path).includes(code))).toEqual([]);
});

/** What starts a process or a thread, listens, watches, downloads, parses what came from elsewhere, or writes a file as it comes. */
const OPENS =
  /\b(?:spawn|fork|forkChild)\((?!\.)|\bnew (?:Worker|WebSocketServer)\(|\bcreateAdaptorServer\(|\b(?:watch|createWriteStream|parseJson|createValueCount)\([^)]/;

/** Where the limit of such a file stands, when it is not in the file itself: in the table under this path, or why it needs none. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'app/documents/parse/fork-parser.ts': 'app/documents/parse/parser-client.ts',
  'app/documents/parse/parser-process.ts': 'app/documents/parse/parser-client.ts',
  'app/conversion/process/fork-converter.ts': 'app/models/shrinking/shrinking.ts',
  'app/engine/client/fork-engine.ts': 'app/engine/client/heartbeat.ts',
  'app/text/jinja/template-process.ts': 'app/text/jinja/template-renderer.ts',
  'app/process/fork-child.ts': 'app/process/supervisor.ts',
  'app/process/request-process.ts': 'app/text/jinja/template-renderer.ts',
  'app/documents/import/folder-watcher.ts': 'app/documents/import/collect-files.ts',
  'app/tools/mcp/end-with-us.ts': 'app/tools/mcp/program-transport.ts',
  'main/processes/core-supervisor.ts': 'app/process/supervisor.ts',
  'main/processes/child-processes.ts': 'app/process/supervisor.ts',
  'app/server/web-server.ts': 'app/server/listen.ts',
  'app/server/api/body.ts': 'app/server/api/access-control.ts',
  'app/server/api/openai/openai-body.ts': 'app/protocol/transport/bounded-json.ts',
  'app/text/tool-calls/call-bodies.ts': 'app/protocol/transport/bounded-json.ts',
};
const NONE: Readonly<Record<string, string>> = {
  'app/store/database/database-thread.ts': 'one thread over our own database, ended with it',
  'app/server/main.ts': 'opens the browser of the user with an address of our own',
};

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));

test('whatever starts, listens, watches, downloads or reads what somebody else made has its limit in the table', () => {
  const paths = new Set(rows.map(({ path }) => path));
  // Commands are given by the user at a terminal; what they start has its limits where it is made.
  const opening = [...sources('app'), ...sources('main')].filter(
    (path) => !/^app\/(?:launch|cli)\//.test(path) && OPENS.test(read(path)),
  );
  expect(opening.length).toBeGreaterThan(15);
  const listed = (path: string) => paths.has(path) || paths.has(ELSEWHERE[path] ?? '') || path in NONE;
  expect(opening.filter((path) => !listed(path))).toEqual([]);
  // Nothing is excused that is not there any more.
  const excused = [...Object.keys(ELSEWHERE), ...Object.keys(NONE)];
  expect(excused.filter((path) => !opening.includes(path))).toEqual([]);
});
