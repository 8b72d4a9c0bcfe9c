// Completes package-lock.json after `npm install`: npm leaves out the optional packages of other platforms when a
// registry does not serve them yet, and `npm ci` then refuses the whole lock. Each missing one is added with the
// version its parent requires and the platform in its name, so that `npm ci` skips it here and installs it there.
import { readFileSync, writeFileSync } from 'node:fs';

const SYSTEMS = ['darwin', 'linux', 'win32', 'android', 'freebsd', 'openharmony', 'netbsd', 'openbsd', 'sunos', 'aix'];
const PROCESSORS = [
  'x64',
  'arm64',
  'arm',
  'ia32',
  'ppc64',
  'riscv64',
  'riscv',
  's390x',
  'loong64',
  'mips64el',
  'wasm32',
];
const ALIASES = {
  armv7: 'arm',
  'arm-gnueabihf': 'arm',
  windows: 'win32',
  amd64: 'x64',
  aarch64: 'arm64',
  universal: undefined,
};

/** The `os` and `cpu` fields of a lock entry, from the package name ("…-darwin-arm64"). */
export function platformOf(name) {
  const words = name.split(/[-/]/).map((word) => ALIASES[word] ?? word);
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : words.some((word) => word.startsWith('gnu'))
      ? ['glibc']
      : [];
  return { ...(os.length && { os }), ...(cpu.length && { cpu }), ...(libc.length && { libc }) };
}

/** Adds every optional dependency that some entry names and no entry provides. Returns their names. */
export function complete(lock) {
  const added = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const known = [`${path}/node_modules/${name}`, `node_modules/${name}`].some((place) => lock.packages[place]);
      const platform = platformOf(name);
      if (known || !/^\d/.test(version) || (!platform.os && !platform.cpu)) continue;
      lock.packages[`node_modules/${name}`] = {
        version,
        ...(entry.dev && { dev: true }),
        optional: true,
        ...platform,
      };
      added.push(name);
    }
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  return added;
}

if (import.meta.filename === process.argv[1]) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const added = complete(lock);
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
  console.log(
    added.length
      ? `package-lock.json: ${added.length} packages of other platforms written down`
      : 'package-lock.json was complete',
  );
}
