import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { API } from 'typescript/unstable/sync';
import { afterAll, expect, test } from 'vitest';

//  main/ against the types of the Electron in package.json: what the compiler knows of each name it uses.

const root = resolve(import.meta.dirname, '../..');
const compiler = new API({ cwd: root });
const folder = join(root, '.cache', 'electron-api');
afterAll(() => {
  compiler.close();
  rmSync(folder, { recursive: true, force: true });
});

/** "'{0}' is deprecated", and the same of one signature. */
const DEPRECATED = [6385, 6387];

/** What is wrong in the files of a project that lie in `below`: names that are not there, and names that are to go. */
function complaints(config: string, below: string): string[] {
  const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (!project) throw new Error(`[electron-api] ${config} is no project`);
  const files = project.program.getSourceFileNames().filter((file) => file.startsWith(`${below}/`));
  expect(files.length).toBeGreaterThan(0);
  return files.flatMap((file) =>
    [
      ...project.program.getSemanticDiagnostics(file),
      ...project.program.getSuggestionDiagnostics(file).filter(({ code }) => DEPRECATED.includes(code)),
    ].map(({ text }) => `${file.slice(root.length + 1)}: ${text}`),
  );
}

test('every name of Electron that main/ uses is there, and none is to go', () => {
  expect(complaints(join(root, 'main', 'tsconfig.json'), join(root, 'main'))).toEqual([]);
});

test('a name that is to go, and one that is not there, are noticed', () => {
  mkdirSync(folder, { recursive: true });
  const project = mkdtempSync(join(folder, 'project-'));
  writeFileSync(
    join(project, 'sample.ts'),
    `import { protocol, safeStorage } from 'electron';\nprotocol.registerFileProtocol('x', () => {});\nsafeStorage.neverThere();\n`,
  );
  const options = { module: 'NodeNext', strict: true, skipLibCheck: true, types: ['node'], noEmit: true };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['sample.ts'] }));
  expect(complaints(join(project, 'tsconfig.json'), project)).toEqual([
    expect.stringMatching(/neverThere/),
    expect.stringMatching(/registerFileProtocol.*deprecated/),
  ]);
});

const readme = readFileSync(join(root, 'main', 'README.md'), 'utf8');
const sources = readdirSync(join(root, 'main'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(root, 'main', file), 'utf8') }));

test('every module of Electron that main/ imports has its row in main/README.md', () => {
  const imported = sources.flatMap(({ text }) =>
    [...text.matchAll(/import \{([^}]*)\} from 'electron'/g)].flatMap(([, names = '']) => names.split(',')),
  );
  const modules = new Set(
    imported.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type ')),
  );
  const values = [...modules].filter((name) =>
    sources.some(({ text }) => new RegExp(`\\b${name}[.(]|new ${name}\\b`).test(text)),
  );
  expect(values.length).toBeGreaterThan(15);
  for (const name of values) expect(readme, name).toMatch(new RegExp(`^\\| .*\`${name}\\b`, 'm'));
});

test('the security list names what is in the code', () => {
  const points = [...readme.matchAll(/^\| (\d+) \| [^|]+ \| ([\w./-]+) \| `([^`]+)` \|$/gm)];
  expect(points.map(([, number]) => Number(number))).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  for (const [, , file = '', words = ''] of points) {
    expect(readFileSync(join(root, file), 'utf8'), `${file}: ${words}`).toContain(words);
  }
});

test('nothing of what the list forbids is asked for', () => {
  const forbidden =
    /allowRunningInsecureContent|experimentalFeatures|[eE]nable-?[bB]link-?[fF]eatures|allowpopups|no-sandbox/;
  // Chromium hears of a screen reader from the system; the app neither forces nor forbids it.
  const fromTheSystem = /renderer-accessibility|setAccessibilitySupport/;
  for (const { file, text } of sources) {
    expect(text, file).not.toMatch(forbidden);
    expect(text, file).not.toMatch(fromTheSystem);
  }
});
