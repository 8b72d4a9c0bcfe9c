import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ExternalModel } from '../../protocol/index.ts';
import { readRegular } from '../../store/folder/open-regular.ts';

/** A manifest lists a dozen layers in a few KB; the name of a commit has 40 letters. */
const MAX_MANIFEST = 1024 * 1024;
const MAX_REF = 4096;

export type UserFolders = { home: string; env: Record<string, string | undefined> };

/** Scans the folders where other programs keep models; results can be linked: their files are used in
 *  place, never changed, never deleted. Reads names, sizes and Ollama's manifests only.
 *  Yields results as they are found. */
export async function* findExternalModels(folders: UserFolders): AsyncGenerator<ExternalModel> {
  const seen = new Set<string>();
  for (const scan of [huggingFace, mlx, lmStudio, ollama, jan, gpt4all]) {
    for await (const found of scan(folders)) {
      const real = await realpath(found.path).catch(() => null);
      if (real === null || seen.has(real)) continue;
      seen.add(real);
      yield found;
    }
  }
}

async function* huggingFace({ home, env }: UserFolders): AsyncGenerator<ExternalModel> {
  const hub =
    env.HF_HUB_CACHE ?? join(env.HF_HOME ?? join(env.XDG_CACHE_HOME ?? join(home, '.cache'), 'huggingface'), 'hub');
  for (const repository of await folders(hub)) {
    const match = /^models--(.+?)--(.+)$/.exec(repository.name);
    if (!match) continue;
    const snapshots = join(hub, repository.name, 'snapshots');
    const commits = await folders(snapshots);
    const current = await readRegular(join(hub, repository.name, 'refs', 'main'), MAX_REF).catch(() => '');
    const commit = commits.find((entry) => entry.name === String(current).trim()) ?? commits.at(-1);
    if (commit) yield* modelsIn('Hugging Face cache', `${match[1]}/${match[2]}`, join(snapshots, commit.name));
  }
}

/** Download folders of MLX apps (the Swift hub client), and the default output of `mlx_lm.convert`. */
async function* mlx({ home }: UserFolders): AsyncGenerator<ExternalModel> {
  yield* modelsIn('MLX', 'mlx_model', join(home, 'mlx_model'));
  const root = join(home, 'Documents', 'huggingface', 'models');
  for (const publisher of await folders(root)) {
    for (const { name } of await folders(join(root, publisher.name))) {
      yield* modelsIn('MLX', `${publisher.name}/${name}`, join(root, publisher.name, name));
    }
  }
}

async function* lmStudio({ home }: UserFolders): AsyncGenerator<ExternalModel> {
  for (const root of [join(home, '.lmstudio', 'models'), join(home, '.cache', 'lm-studio', 'models')]) {
    for (const publisher of await folders(root)) {
      for (const repository of await folders(join(root, publisher.name))) {
        yield* modelsIn(
          'LM Studio',
          `${publisher.name}/${repository.name}`,
          join(root, publisher.name, repository.name),
        );
      }
    }
  }
}

/** Manifests name layers by digest; the model layer is a GGUF file among the blobs. */
async function* ollama({ home, env }: UserFolders): AsyncGenerator<ExternalModel> {
  const roots = [env.OLLAMA_MODELS ?? join(home, '.ollama', 'models'), '/usr/share/ollama/.ollama/models'];
  for (const root of roots) {
    const manifests = join(root, 'manifests');
    const entries = await readdir(manifests, { recursive: true, withFileTypes: true }).catch((): Dirent[] => []);
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const digest = await modelLayer(path);
      if (!digest) continue;
      const blob = join(root, 'blobs', digest.replace(':', '-'));
      const size = await sizeOf(blob);
      if (size !== null)
        yield {
          app: 'Ollama',
          name: `${basename(entry.parentPath)}:${entry.name}`,
          kind: 'gguf',
          path: blob,
          bytes: size,
        };
    }
  }
}

async function modelLayer(manifest: string): Promise<string | null> {
  try {
    const { layers } = JSON.parse((await readRegular(manifest, MAX_MANIFEST)).toString()) as {
      layers?: { mediaType?: string; digest?: string }[];
    };
    const layer = layers?.find((candidate) => candidate.mediaType === 'application/vnd.ollama.image.model');
    return layer?.digest && /^sha256:[0-9a-f]{64}$/.test(layer.digest) ? layer.digest : null;
  } catch {
    return null; // another program's file: if unreadable, it is not a model
  }
}

async function* jan({ home, env }: UserFolders): AsyncGenerator<ExternalModel> {
  const config = env.XDG_CONFIG_HOME ?? join(home, '.config');
  const roots = [
    join(home, 'jan', 'models'),
    join(home, 'Library', 'Application Support', 'Jan', 'data', 'llamacpp', 'models'),
    join(config, 'Jan', 'data', 'llamacpp', 'models'),
  ];
  for (const root of roots) {
    for await (const folder of foldersBelow(root, 3)) yield* modelsIn('Jan', basename(folder), folder);
  }
}

async function* gpt4all({ home, env }: UserFolders): AsyncGenerator<ExternalModel> {
  const roots = [
    join(home, 'Library', 'Application Support', 'nomic.ai', 'GPT4All'),
    join(env.XDG_DATA_HOME ?? join(home, '.local', 'share'), 'nomic.ai', 'GPT4All'),
  ];
  for (const root of roots) yield* modelsIn('GPT4All', '', root);
}

/** Models in a folder: every GGUF file (first part of a split set), or the folder itself if it has safetensors. */
async function* modelsIn(app: ExternalModel['app'], name: string, folder: string): AsyncGenerator<ExternalModel> {
  const entries = await readdir(folder).catch((): string[] => []);
  const sizes = new Map<string, number>();
  for (const entry of entries) {
    const size = /\.(gguf|safetensors)$/.test(entry) ? await sizeOf(join(folder, entry)) : null;
    if (size !== null) sizes.set(entry, size);
  }
  const sum = (wanted: (file: string) => boolean) =>
    [...sizes].reduce((total, [file, size]) => total + (wanted(file) ? size : 0), 0);
  if (entries.includes('config.json') && [...sizes.keys()].some((file) => file.endsWith('.safetensors'))) {
    yield { app, name, kind: 'safetensors', path: folder, bytes: sum((file) => file.endsWith('.safetensors')) };
  }
  for (const file of sizes.keys()) {
    const split = /^(.*)-(\d{5})-of-\d{5}\.gguf$/.exec(file);
    if (!file.endsWith('.gguf') || /mmproj/i.test(file) || (split && split[2] !== '00001')) continue;
    const bytes = split ? sum((other) => other.startsWith(`${split[1]}-`)) : (sizes.get(file) ?? 0);
    yield {
      app,
      name: `${name ? `${name}: ` : ''}${file.replace(/\.gguf$/, '')}`,
      kind: 'gguf',
      path: join(folder, file),
      bytes,
    };
  }
}

async function* foldersBelow(root: string, depth: number): AsyncGenerator<string> {
  for (const entry of await folders(root)) {
    const path = join(root, entry.name);
    yield path;
    if (depth > 1) yield* foldersBelow(path, depth - 1);
  }
}

async function folders(path: string): Promise<Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((): Dirent[] => []);
  return entries.filter((entry) => entry.isDirectory()).sort((a, b) => a.name.localeCompare(b.name));
}

async function sizeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null);
  return found?.isFile() ? found.size : null;
}
