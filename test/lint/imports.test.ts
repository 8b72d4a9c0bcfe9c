import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cycles, importsOf, LAWS, lawOf, misplaced, roomCycles, violations } from './imports.ts';

const root = join(import.meta.dirname, '../..');
const tree = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', 'app', 'main', 'renderer', 'native', 'metal'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => /\.(ts|tsx|cc|h|mm|metal)$/.test(path) && existsSync(join(root, path)))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

describe('the tree', () => {
  test('imports and includes only what section 2 of ARCHITECTURE.md allows', () => {
    expect(tree.length).toBeGreaterThan(100);
    expect(violations(tree)).toEqual([]);
  });
  test('has each of the marked words in its one place', () => {
    expect(misplaced(tree)).toEqual([]);
  });
  test('has no ring of imports', () => {
    expect(cycles(tree)).toEqual([]);
  });
  test('has no ring of rooms in the core and in the page', () => {
    expect(roomCycles(tree)).toEqual([]);
  });
  test('is closed at the top', () => {
    const allowed =
      'package.json package-lock.json electron.vite.config.ts tsconfig.json app main renderer native metal resources test README.md ARCHITECTURE.md CONTRIBUTING.md LICENSE'.split(
        ' ',
      );
    const top = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
      .split('\n')
      .map((path) => path.split('/')[0] ?? '')
      .filter((name) => name !== '' && !name.startsWith('.') && name !== 'node_modules');
    expect([...new Set(top)].filter((name) => !allowed.includes(name))).toEqual([]);
  });
});

describe('the law itself', () => {
  test('sends nobody in a circle, and nothing to test', () => {
    const reaches = (from: string, seen: string[] = []): string[] =>
      (LAWS.find((law) => law.from === from)?.to ?? []).flatMap((to) =>
        seen.includes(to) ? [to] : [to, ...reaches(to, [...seen, to])],
      );
    for (const { from, to } of LAWS.filter((law) => law.from !== 'native/addon/devices.cc')) {
      expect(reaches(from), from).not.toContain(from);
      expect(to.filter((place) => place.startsWith('test'))).toEqual([]);
    }
  });
  test('takes the most exact row', () => {
    expect(lawOf('native/addon/devices.cc')?.to).toContain('native/cpu');
    expect(lawOf('native/addon/model.cc')?.from).toBe('native/addon');
    expect(lawOf('app/textual/x.ts')).toBeUndefined();
  });
});

describe('the check finds', () => {
  const file = (path: string, text: string) => ({ path, text });
  test.each([
    ['a service in a page', 'renderer/chat/a.tsx', "import { x } from '../../app/store/store.ts';"],
    ['a type-only import', 'app/text/a.ts', "import type { X } from '../chat/turn.ts';"],
    ['a re-export', 'app/protocol/a.ts', "export * from '../store/store.ts';"],
    ['an import at run time', 'app/store/a.ts', "const x = await import('../chat/turn.ts');"],
    ['an import over lines', 'app/store/a.ts', "import {\n  x,\n} from\n  '../chat/turn.ts';"],
    ['test in the app', 'app/text/a.ts', "import '../../test/support/addon.ts';"],
    ['a back end in the engine', 'native/engine/a.cc', '#include "cpu/backend.h"'],
    ['the engine in a back end', 'native/metal/a.mm', '#import "engine/session.h"'],
    ['the host in a shader', 'metal/a.metal', '#include "ops/backend.h"'],
    ['a way around', 'native/cpu/a.cc', '#include "../engine/session.h"'],
    ['a folder nobody named', 'app/misc/a.ts', ''],
  ])('%s', (_, path, text) => {
    expect(violations([file(path, text)])).toHaveLength(1);
  });
  test('nothing in comments, strings of other kinds, packages and allowed imports', () => {
    const text =
      "// import '../chat/a.ts'\n/* from '../chat/b.ts' */\nimport { z } from 'zod';\nimport { y } from '../protocol/ids.ts';";
    expect(violations([file('app/store/a.ts', text)])).toEqual([]);
    expect(
      importsOf(file('metal/a.metal', '#include "blocks.h"\n#include <metal_stdlib>\n#include "ops/params.h"')),
    ).toEqual(['metal/blocks.h', 'native/ops/params.h']);
    expect(violations([file('metal/a.metal', '#include "ops/params.h"\n#include "blocks.h"')])).toEqual([]);
  });
  test('words out of their place', () => {
    expect(misplaced([file('app/core/core.ts', "import { DatabaseSync } from 'node:sqlite';")])).toHaveLength(1);
    expect(misplaced([file('app/store/database/database.ts', "import { DatabaseSync } from 'node:sqlite';")])).toEqual(
      [],
    );
    expect(misplaced([file('native/engine/a.cc', '#include <napi.h>')])).toHaveLength(1);
    for (const old of [
      'const MOST_BYTES = 1;',
      "type S = { at: 'idle' } | { at: 'busy' };",
      "z.discriminatedUnion('at', [])",
    ]) {
      expect(misplaced([file('app/chat/a.ts', old)]), old).toHaveLength(1);
    }
    for (const sql of [
      'SELECT id FROM chats',
      'INSERT OR REPLACE INTO chats',
      'UPDATE chats SET',
      'DELETE FROM chats',
    ]) {
      expect(misplaced([file('app/chat/a.ts', `db.run('${sql} ...')`)]), sql).toHaveLength(1);
      expect(misplaced([file('app/store/a.ts', `db.run('${sql} ...')`)])).toEqual([]);
    }
    expect(
      misplaced([file('renderer/chat/a.ts', 'new WebSocket(url)'), file('renderer/bridge.ts', 'new WebSocket(url)')]),
    ).toHaveLength(1);
    expect(misplaced([file('app/core/core.ts', '// node:sqlite\nconst ipc = 1;')])).toEqual([]);
  });
  test('rings', () => {
    const ring = [
      file('app/a.ts', "import './b.ts'"),
      file('app/b.ts', "import './c.ts'"),
      file('app/c.ts', "import './a.ts'"),
    ];
    expect(cycles(ring)).toEqual([['app/a.ts', 'app/b.ts', 'app/c.ts', 'app/a.ts']]);
    expect(cycles(ring.slice(0, 2))).toEqual([]);
  });
  test('rings of rooms, although no file is in one', () => {
    const both = [
      file('app/models/storage/a.ts', "import '../sources/b.ts'"),
      file('app/models/sources/b.ts', ''),
      file('app/models/sources/deep/c.ts', "import '../../storage/d.ts'"),
      file('app/models/storage/d.ts', "import '../service.ts'"),
      file('app/models/service.ts', ''),
    ];
    expect(cycles(both)).toEqual([]);
    expect(roomCycles(both)).toEqual([['app/models/storage', 'app/models/sources', 'app/models/storage']]);
    expect(roomCycles(both.slice(1))).toEqual([]);
  });
  test('rings of folders in the page, of which one may lie in the other', () => {
    const page = [
      file('renderer/chat/page.tsx', "import './composer/a.tsx'"),
      file('renderer/chat/composer/a.tsx', "import '../focus.ts'"),
      file('renderer/chat/focus.ts', ''),
      file('renderer/app.tsx', "import './chat/page.tsx'"),
    ];
    expect(cycles(page)).toEqual([]);
    expect(roomCycles(page)).toEqual([['renderer/chat', 'renderer/chat/composer', 'renderer/chat']]);
    expect(roomCycles(page.filter(({ path }) => !path.endsWith('page.tsx')))).toEqual([]);
  });
  test('one page in another, and the frame in a page', () => {
    for (const target of ['../documents/page.tsx', '../shell/sidebar.tsx']) {
      expect(violations([file('renderer/chat/page.tsx', `import '${target}'`)]), target).toHaveLength(1);
      expect(violations([file('renderer/app.tsx', `import './${target.slice(3)}'`)]), target).toEqual([]);
    }
    expect(violations([file('renderer/shell/a.tsx', "import '../chat/page.tsx'")])).toEqual([]);
    expect(violations([file('renderer/stores/a.ts', "import '../commands/commands.ts'")])).toHaveLength(1);
  });
});
