// Describes this machine. Any figure may be missing; nothing here throws.
import { execFileSync } from 'node:child_process';
import { arch, cpus, release, totalmem, type } from 'node:os';

function ask(command, ...words) {
  try {
    return execFileSync(command, words, {
      encoding: 'utf8',
      timeout: 30_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

/** @returns {Record<string, string | number | null>} */
export function machine() {
  const displays = ask('system_profiler', 'SPDisplaysDataType') ?? '';
  return {
    chip: ask('sysctl', '-n', 'machdep.cpu.brand_string') ?? cpus()[0]?.model ?? 'unknown',
    model: ask('sysctl', '-n', 'hw.model'),
    gpuCores: Number(/Total Number of Cores: (\d+)/.exec(displays)?.[1] ?? 0) || null,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: ask('sw_vers', '-productVersion') ?? `${type()} ${release()}`,
    build: ask('sw_vers', '-buildVersion'),
    architecture: arch(),
    xcode: ask('xcodebuild', '-version')?.replace('\n', ', ') ?? null,
    metal: ask('xcrun', '-sdk', 'macosx', 'metal', '--version')?.split('\n')[0] ?? null,
    clang: ask('c++', '--version')?.split('\n')[0] ?? null,
    node: process.version,
    power: ask('pmset', '-g', 'batt')?.split('\n')[0] ?? null,
    commit: ask('git', 'rev-parse', 'HEAD'),
    changed: (ask('git', 'status', '--porcelain', '--untracked-files=no') ?? '') !== '',
  };
}
