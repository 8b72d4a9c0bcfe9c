// What another user of the computer sees of a running Longhand: node test/attack/files/view.ts [--write]
// As root, on Linux. With --write it goes into the README beside this.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { asNobody, isRoot } from '../../support/second-user.ts';

const root = resolve(import.meta.dirname, '../../..');
if (!isRoot || process.platform !== 'linux') {
  process.stderr.write('This becomes another user to look, which takes root, and reads the processes of Linux.\n');
  process.exit(1);
}
const home = mkdtempSync(join(tmpdir(), 'longhand-view-'));
// Like a home directory: only the data folder is private.
chmodSync(home, 0o755);
const data = join(home, 'Longhand');
mkdirSync(data);

/** Starts it with the usual umask, and with a browser stand-in that keeps running. */
async function start(): Promise<ChildProcess> {
  const opener = join(home, 'xdg-open');
  writeFileSync(opener, '#!/bin/sh\nsleep 30\n', { mode: 0o755 });
  const child = spawn(
    'sh',
    ['-c', 'umask 022; exec "$0" "$@"', process.execPath, 'app/server/main.ts', '--data', data],
    {
      cwd: root,
      env: { ...process.env, PATH: `${home}:${process.env.PATH}`, DISPLAY: ':99' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  for await (const said of child.stdout ?? []) if (/is ready/.test(String(said))) return child;
  throw new Error('it did not start');
}

const short = (text: string) =>
  text
    .replaceAll(data, '~/Longhand')
    .replaceAll(home, '~')
    .replaceAll(process.execPath, 'node')
    .replaceAll(`${root}/`, '')
    .replaceAll(/(once=.{4})\S*/g, '$1…');

const child = await start();
try {
  // By then the model is loaded and all files are created.
  await new Promise((go) => setTimeout(go, 15_000));
  const looked = (script: string) => {
    const { stdout, stderr } = asNobody(script, [data]);
    return short(stdout || (/Error: (.*)/.exec(stderr)?.[1] ?? stderr)).trim();
  };
  const list = execFileSync('find', [data, '-maxdepth', '1', '-printf', '%M %P\n'], { encoding: 'utf8' });
  const processes = looked(`
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const all = execFileSync('ps', ['-eo', 'ppid=,pid=,args='], { encoding: 'utf8' }).split('\\n').map((line) => line.trim().split(/ +/));
    const below = (pid) => all.filter(([parent]) => parent === pid).flatMap((one) => [one, ...below(one[1])]);
    const own = all.filter(([, pid]) => pid === '${child.pid}');
    console.log([...own, ...below('${child.pid}')].map(([, , ...args]) => args.join(' ')).join('\\n'));`);
  const text = [
    'The data folder, to its owner:',
    '```',
    short(list)
      .trim()
      .split('\n')
      .sort((a, b) => a.slice(11).localeCompare(b.slice(11)))
      .join('\n'),
    '```',
    'The same to another user, who asks for the list of it and for the chats:',
    '```',
    looked(`console.log(process.getBuiltinModule('node:fs').readdirSync(process.argv[1]))`),
    looked(`console.log(process.getBuiltinModule('node:fs').readFileSync(process.argv[1] + '/longhand.db'))`),
    '```',
    'The processes, as every user sees them while a browser is opened. What stands behind `once` works once, and for its owner alone:\n`other-users.test.ts` tries it as another user.',
    '```',
    processes,
    '```',
  ].join('\n');
  process.stdout.write(`${text}\n`);
  if (process.argv.includes('--write')) {
    const file = join(import.meta.dirname, '../README.md');
    const readme = readFileSync(file, 'utf8');
    const [from, to] = ['<!-- view -->', '<!-- /view -->'];
    const [begins, ends] = [readme.indexOf(from), readme.indexOf(to)];
    if (begins < 0 || ends < begins) throw new Error(`no place for it in ${file}`);
    writeFileSync(file, `${readme.slice(0, begins + from.length)}\n${text}\n${readme.slice(ends)}`);
  }
} finally {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  rmSync(home, { recursive: true, force: true });
}
