// Programs that npm cannot bring, and how each machine gets them.
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { firstLine, run, works } from './run.mjs';
import { say, sayDone, sayStep } from './say.mjs';

const onMac = process.platform === 'darwin';

/** `found`: whether it is there. `apt`, `brew`: packages that bring it. `why`: what cannot be done without it.
 *  `optional`: installed if that needs no interaction; otherwise the tests that need it are skipped with this reason. */
export const TOOLS = {
  compiler: {
    found: () => (onMac ? works('xcode-select', ['-p']) && works('clang++') : works('c++')),
    apt: ['g++', 'make'],
    mac: 'xcode-select --install',
    why: 'the engine is compiled from source',
  },
  cmake: {
    found: () => atLeast(firstLine('cmake', ['--version']), 3, 22),
    apt: ['cmake'],
    brew: ['cmake'],
    why: 'the engine is compiled from source',
  },
  clang: {
    found: () => onMac || (works('clang-19') && works('ld.lld-19')),
    apt: ['clang-19', 'lld-19'],
    why: 'the tests run the Metal back end on the CPU',
  },
  clangFormat: {
    found: () => onMac || works('clang-format-19'),
    apt: ['clang-format-19'],
    why: 'the tests check the format of C++',
  },
  chromium: {
    found: () => onMac || browserPath() !== null,
    apt: ['chromium'],
    why: 'the end-to-end tests run in a real browser',
  },
  vulkan: {
    found: () => softwareDriver() !== null && existsSync(VALIDATION_LAYER),
    apt: ['mesa-vulkan-drivers', 'libvulkan1', 'vulkan-validationlayers', 'glslc', 'spirv-tools'],
    why: 'the tests run the Vulkan back end on a software driver',
  },
  arm64: {
    optional: true,
    found: () =>
      process.arch === 'arm64' ||
      (works('qemu-aarch64') && works('aarch64-linux-gnu-ld') && existsSync('/usr/aarch64-linux-gnu/include/c++')),
    apt: ['qemu-user', 'binutils-aarch64-linux-gnu', 'libstdc++-12-dev-arm64-cross'],
    why: 'the tests run the NEON loops of the CPU back end under emulation',
  },
  poppler: {
    optional: true,
    found: () => works('pdftoppm', ['-v']),
    apt: ['poppler-utils'],
    why: 'the tests compare drawn PDF pages with those of another reader',
  },
  window: {
    optional: true,
    found: () => ['Xvfb', 'openbox', 'xdotool', 'dunst', 'dbus-daemon', 'xmessage'].every((name) => onPath(name)),
    apt: [
      ...['xvfb', 'openbox', 'xdotool', 'dunst', 'dbus', 'x11-utils', 'libnotify4'],
      ...['libgtk-3-0', 'libnss3', 'libasound2', 'libgbm1'],
    ],
    why: 'the tests run the desktop shell in a window of its own',
  },
  pip: {
    found: () => works('python3', ['-m', 'pip', '--version']),
    apt: ['python3-pip'],
    mac: 'python3 -m ensurepip --user',
    why: 'a real model for the tests comes from PyPI',
  },
};

const BROWSERS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
export const browserPath = () => BROWSERS.find((path) => existsSync(path)) ?? null;

const DRIVERS = '/usr/share/vulkan/icd.d';
const VALIDATION_LAYER = '/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json';
/** Mesa's Vulkan driver for the CPU: lvp_icd.x86_64.json, lvp_icd.aarch64.json, ... */
function softwareDriver() {
  if (!existsSync(DRIVERS)) return null;
  return readdirSync(DRIVERS).find((name) => name.startsWith('lvp_icd')) ?? null;
}

/** For programs that cannot be run harmlessly. */
const onPath = (name) => (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)));

function atLeast(text, major, minor) {
  const version = /(\d+)\.(\d+)/.exec(text ?? '');
  if (!version) return false;
  const [a, b] = [Number(version[1]), Number(version[2])];
  return a > major || (a === major && b >= minor);
}

/** Makes the named tools available, or explains in one line how to install each.
 *  @throws Error with the exact commands */
export async function provide(names, tools = TOOLS, platform = process.platform) {
  const missing = names.filter((name) => !tools[name].found());
  const needed = missing.filter((name) => !tools[name].optional);
  const welcome = missing.filter((name) => tools[name].optional);
  const canInstall = platform === 'linux' && process.getuid?.() === 0 && works('apt-get', ['--version']);
  // One at a time: a package that this system lacks must not prevent the others.
  for (const name of canInstall ? welcome : [])
    await install([name], tools).catch((error) => say(`  ${error.message}`));
  if (needed.length === 0) return;
  if (canInstall) {
    await install(needed, tools);
    if (needed.every((name) => tools[name].found())) return;
  }
  throw new Error(needed.map((name) => advice(name, tools[name], platform)).join('\n'));
}

async function install(names, tools) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const packages = names.flatMap((name) => tools[name].apt ?? []);
  sayStep(`Installing ${packages.join(', ')} (apt-get)`);
  await run('apt-get', ['update', '-q'], { env });
  await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], { env });
  sayDone(`${packages.join(', ')} installed`);
}

function advice(name, tool, platform) {
  const command =
    platform === 'darwin'
      ? (tool.mac ?? `brew install ${(tool.brew ?? tool.apt).join(' ')}`)
      : works('apt-get', ['--version'])
        ? `sudo apt-get install -y ${tool.apt.join(' ')}`
        : `install these with your system's package manager: ${tool.apt.join(' ')}`;
  return `[setup] ${name} is missing: ${tool.why}. Get it with:\n    ${command}`;
}
