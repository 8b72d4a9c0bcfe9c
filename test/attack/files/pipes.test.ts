import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readSafetensors } from '../../../app/cli/runtime/safetensors.ts';
import { createFingerprints } from '../../../app/documents/index/embedder-fingerprint.ts';
import { readModelText } from '../../../app/engine/process/model/tokenizer-files.ts';
import { openPartFile } from '../../../app/models/downloads/part-file.ts';
import { linkOf, listExternalModels } from '../../../app/models/external/link.ts';
import { openFile } from '../../../app/models/network/file-transport.ts';
import { certificatesIn } from '../../../app/models/network/network-config.ts';
import { checkFiles } from '../../../app/models/registry/verify-files.ts';
import { mirror } from '../../../app/models/relocation/copy-tree.ts';
import { createAccessTokens } from '../../../app/models/sources/access-tokens.ts';
import { folderSource } from '../../../app/models/sources/local-folder.ts';
import { readManifest } from '../../../app/models/storage/blob-store.ts';
import { damagedIn } from '../../../app/models/storage/block-repair.ts';
import { disk } from '../../../app/models/storage/fs-probe.ts';
import { openedByFile } from '../../../app/models/storage/model-file.ts';
import { createPromptCacheKey } from '../../../app/models/storage/prompt-cache-key.ts';
import { lastPort } from '../../../app/server/port-file.ts';
import { readHolder } from '../../../app/store/lock.ts';
import { readWindowState } from '../../../main/windows/window-state.ts';
import { addon, golden } from '../../support/addon.ts';
import { newFolder } from '../../support/core/core.ts';
import { tallyOf } from '../tally.ts';

//  Every place that reads an untrusted path, with something in its place that is not a file and
//  blocks the reader: a named pipe, a link to one, a socket, an endless device.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('files');
const never = new AbortController().signal;
const PATIENCE_MS = 5000;

type Place = {
  /** The name of the file that is read. */
  name: string;
  /** Must refuse, or treat the file as missing. */
  read(path: string, folder: string): unknown;
  /** The surrounding folder. */
  around?: string;
};

const model = join(golden, 'llama/gqa_tied');
const ofModel = (name: string, read: Place['read']): Place => ({ name, read, around: model });
const gguf = { app: 'Ollama', name: 'x', kind: 'gguf', bytes: 1 } as const;
const hash = 'a'.repeat(64);
const manifest = (name: string) => ({
  name: 'x',
  source: 'url',
  repository: 'x',
  commit: 'c',
  files: [{ name, size: 10, sha256: hash, etag: null }],
  checkedAt: 0,
});
const progress = () => {};

const PLACES: Readonly<Record<string, Place>> = {
  'the model of another program': { name: 'blob', read: (path, at) => linkOf({ ...gguf, path }, join(at, 'links')) },
  'a commit in the cache of another program': {
    name: 'hub/models--a--b/refs/main',
    read: async (_, folder) => {
      mkdirSync(join(folder, 'hub/models--a--b/snapshots/1'), { recursive: true });
      expect(await listExternalModels({ home: folder, env: { HF_HUB_CACHE: join(folder, 'hub') } })).toEqual([]);
    },
  },
  'the manifest of another program': {
    name: 'ollama/manifests/registry/x/latest',
    read: async (_, folder) =>
      expect(await listExternalModels({ home: folder, env: { OLLAMA_MODELS: join(folder, 'ollama') } })).toEqual([]),
  },
  'a model of a folder': { name: 'blob', read: (path) => folderSource(() => null).repository(path, null, never) },
  'a file of a folder, fetched': {
    name: 'a.gguf',
    read: async (path) => {
      const { status, body } = await openFile(pathToFileURL(path), { 'accept-encoding': 'identity' }, never);
      for await (const _ of body) throw new Error('something was read');
      expect(status).toBe(404);
    },
  },
  'a file that is named as a model': { name: 'a.gguf', read: (path, at) => openedByFile(path, join(at, 'links')) },
  'a model, repaired': { name: 'a.gguf', read: (path) => damagedIn(path, 10, new Uint8Array(32), never) },
  'a model, checked': {
    name: 'a.gguf',
    read: async (_, folder) =>
      expect(await checkFiles(folder, manifest('a.gguf'), () => null, progress, never)).toMatchObject([{ bytes: 10 }]),
  },
  'a model, checked by its blocks': {
    name: 'a.gguf',
    read: async (_, folder) =>
      expect(await checkFiles(folder, manifest('a.gguf'), () => new Uint8Array(32), progress, never)).toMatchObject([
        { bytes: 10 },
      ]),
  },
  'the description of a model': {
    name: '.longhand.json',
    read: async (_, folder) => expect(await readManifest(folder)).toBe(null),
  },
  'a text in the library': { name: 'config.json', read: async (path) => expect(await disk.text(path)).toBe(null) },
  'a folder that is none': { name: 'library', read: async (path) => expect(await disk.kind(path)).toBe(null) },
  'a library, moved': {
    name: 'models/a--b@c/a.gguf',
    read: async (_, folder) => {
      const from = join(folder, 'models');
      writeFileSync(join(from, 'a--b@c/.longhand.json'), JSON.stringify(manifest('a.gguf')));
      await mirror(from, join(folder, 'to'), { signal: never, progress, mayLink: false });
      expect(await disk.text(join(folder, 'to/a--b@c/a.gguf'))).toBe(null);
    },
  },
  'the place a library is moved to': {
    name: 'to/a--b@c/a.gguf.moving',
    read: async (_, folder) => {
      mkdirSync(join(folder, 'models/a--b@c'), { recursive: true });
      writeFileSync(join(folder, 'models/a--b@c/.longhand.json'), JSON.stringify(manifest('a.gguf')));
      writeFileSync(join(folder, 'models/a--b@c/a.gguf'), 'x'.repeat(10));
      await mirror(join(folder, 'models'), join(folder, 'to'), { signal: never, progress, mayLink: false });
    },
  },
  'a download that was begun': { name: '1.part', read: (path) => openPartFile(path, 10) },
  'the tokens of hubs': {
    name: 'tokens.json',
    read: (path) => expect(createAccessTokens(path, null).sources()).toEqual([]),
  },
  'the key of the prompt cache': {
    name: 'prompts.key',
    read: (path) => expect(createPromptCacheKey(path, null).current()).toBe(null),
  },
  'a file of tensors': { name: 'a.safetensors', read: readSafetensors },
  certificates: { name: 'a.pem', read: certificatesIn },
  'the note of the lock': { name: 'lock.json', read: (path) => expect(readHolder(path)).toBe(null) },
  'the port of the last time': { name: 'browser-port', read: (_, at) => expect(lastPort(at)).toBe(4817) },
  'the place of the window': { name: 'window.json', read: (path) => expect(readWindowState(path, [])).toBe(null) },
  'an encoder, told apart': ofModel('config.json', (_, folder) => createFingerprints()(folder)),
  'a GGUF file, loaded': { name: 'a.gguf', read: (path) => addon.load(path) },
  'a GGUF file, looked at': { name: 'a.gguf', read: (path) => addon.inspect(path) },
  'a GGUF file, asked for its tokenizer': { name: 'a.gguf', read: (path) => readModelText(addon, path) },
  ...Object.fromEntries(
    ['config.json', 'model.safetensors', 'model.safetensors.index.json'].map((name) => [
      `${name} of a model`,
      ofModel(name, (_, folder) => addon.load(folder, { device: 'cpu' })),
    ]),
  ),
  ...Object.fromEntries(
    ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'config.json', 'chat_template.json'].map(
      (name) => [`${name} beside a model`, ofModel(name, (_, folder) => readModelText(addon, folder))],
    ),
  ),
  'the template beside a model': ofModel('chat_template.jinja', (_, folder) => readModelText(addon, folder)),
  'the adapter of a model': {
    name: 'adapter_config.json',
    read: (_, folder) => addon.load(model, { device: 'cpu', adapter: folder }),
  },
  'the pooling of an encoder': {
    name: 'modules.json',
    around: join(golden, 'bert/tiny'),
    read: (_, folder) => addon.load(folder, { device: 'cpu' }),
  },
};

/** Objects at `path` instead of a file. */
const INSTEAD: Readonly<Record<string, (path: string) => void>> = {
  'a pipe': (path) => void execFileSync('mkfifo', [path]),
  'a link to a pipe': (path) => {
    execFileSync('mkfifo', [`${path}.pipe`]);
    symlinkSync(`${path}.pipe`, path);
  },
  'a socket': (path) => {
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
  },
  'a device without end': (path) => symlinkSync('/dev/zero', path),
};

/** Releases a reader blocked on a pipe, even one that blocks this whole process. */
function release(path: string): () => void {
  const child = spawn('sh', ['-c', 'sleep 8; exec 3<>"$0"; sleep 1', path], { stdio: 'ignore' });
  return () => void child.kill();
}

test.skipIf(process.platform === 'win32')('nothing that is no file keeps a reader of files waiting', async () => {
  for (const [what, { name, read, around }] of Object.entries(PLACES)) {
    for (const [kind, put] of Object.entries(INSTEAD)) {
      await tally.refused(`${what}: ${kind}`, async () => {
        const folder = newFolder();
        if (around) cpSync(around, folder, { recursive: true });
        const path = join(folder, name);
        mkdirSync(join(path, '..'), { recursive: true });
        rmSync(path, { force: true });
        put(path);
        const letGo = release(path);
        const begun = performance.now();
        try {
          await (async () => read(path, folder))().catch((error: Error) => expect(error.message).toMatch(/^\[/));
        } finally {
          letGo();
        }
        expect(performance.now() - begun, 'ms that it waited').toBeLessThan(PATIENCE_MS);
      });
    }
  }
  tally.settle();
});
