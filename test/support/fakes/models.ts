import {
  type CatalogueModel,
  type Download,
  type Emit,
  type Handlers,
  LonghandError,
  type ModelDescription,
  type ModelEntry,
  type ModelId,
  ModelSettings,
  NetworkLogEntry,
  type Variant,
} from '../../../app/protocol/index.ts';
import { fakeShrinking } from './shrinking.ts';
import type { World } from './world.ts';

//  The model calls of the fake core. Shapes are those of published models; a download is wherever a scene put it.

type ModelCalls = Extract<
  keyof Handlers,
  `${'models' | 'weightCache' | 'library' | 'catalogue' | 'downloads' | 'tokens' | 'privacy'}.${string}`
>;

const GiB = 2 ** 30;

type Shape = { name: string; layers: string; parameters: number; hidden: number; perToken: number; state: number };
const shapes: Record<string, Shape> = {
  'qwen3.5-0.8b': {
    name: 'Qwen3.5 0.8B',
    layers: 'LLLF'.repeat(6),
    parameters: 0.75e9,
    hidden: 1024,
    perToken: 12_288,
    state: 2e7,
  },
  'qwen3.5-4b': {
    name: 'Qwen3.5 4B',
    layers: 'LLLF'.repeat(8),
    parameters: 4.2e9,
    hidden: 2560,
    perToken: 32_768,
    state: 5e7,
  },
  'qwen3.5-9b': {
    name: 'Qwen3.5 9B',
    layers: 'LLLF'.repeat(8),
    parameters: 8.95e9,
    hidden: 4096,
    perToken: 32_768,
    state: 5e7,
  },
  'qwen3.5-27b': {
    name: 'Qwen3.5 27B',
    layers: 'LLLF'.repeat(16),
    parameters: 26.9e9,
    hidden: 5120,
    perToken: 65_536,
    state: 1.5e8,
  },
  'lfm2-1.2b': {
    name: 'LFM2 1.2B',
    layers: 'CCFCCFCCFCFCFCFC',
    parameters: 1.17e9,
    hidden: 2048,
    perToken: 12_288,
    state: 4e5,
  },
  'llama-3.2-3b': {
    name: 'Llama 3.2 3B',
    layers: 'F'.repeat(28),
    parameters: 3.2e9,
    hidden: 3072,
    perToken: 114_688,
    state: 0,
  },
  'minicpm-sala-9b': {
    name: 'MiniCPM-SALA 9B',
    layers: `S${'L'.repeat(24)}SSSSSSS`,
    parameters: 9.4e9,
    hidden: 4096,
    perToken: 16_384,
    state: 1e8,
  },
};

const kinds = { L: 'gated-delta', C: 'short-conv', F: 'attention', S: 'sparse' } as const;

/** A description of one of the published shapes, of this many bytes. */
export function shapeOf(
  id: string,
  bytes: number,
  type: string,
  container: Variant['kind'] = 'gguf',
): ModelDescription {
  const shape = shapes[id] as Shape;
  return {
    supported: true,
    problems: [],
    notices: [],
    family: id.startsWith('qwen3.5') ? 'qwen3_5' : id.startsWith('llama') ? 'llama' : id,
    container,
    layers: [...shape.layers].map((letter) => ({ kind: kinds[letter as keyof typeof kinds], experts: false })),
    hiddenSize: shape.hidden,
    vocabularySize: 151_936,
    contextLength: 262_144,
    parameters: shape.parameters,
    weightBytes: bytes,
    types: { [type]: bytes },
    activeBytes: bytes,
    stateBytes: shape.state,
    contextBytesPerToken: shape.perToken,
    memory: null,
    mtp: false,
    encoder: false,
    reranker: false,
    vision: null,
  };
}

export const installed = (id: string, bytes: number, type: string, more: Partial<ModelEntry> = {}): ModelEntry => ({
  id: id as ModelId,
  name: shapes[id]?.name ?? id,
  path: `/home/ada/.local/share/longhand/models/${id}`,
  builtIn: false,
  external: false,
  missing: false,
  unmounted: false,
  lastUsedAt: null,
  description: shapeOf(id, bytes, type),
  thinking: { able: true, byDefault: true },
  settings: ModelSettings.parse({}),
  presetOf: null,
  remote: null,
  ...more,
});

const catalogue: CatalogueModel[] = Object.entries(shapes).map(([id, shape]) => ({
  id,
  name: shape.name,
  maker: id.startsWith('qwen') ? 'Alibaba' : id.startsWith('lfm') ? 'Liquid AI' : 'OpenBMB',
  family: id,
  parameters: shape.parameters,
  layers: shape.layers,
  context: 262_144,
  licence: id.startsWith('lfm') ? 'LFM1.0' : 'Apache-2.0',
  languages: ['multilingual'],
  abilities: id.startsWith('lfm') ? ['tools'] : ['thinking', 'tools', 'images'],
  thinkingByDefault: true,
  sampling: {},
  forms: [{ kind: 'gguf', repository: `acme/${id}-GGUF` }],
}));

const contacts: NetworkLogEntry[] = [
  ['page', 'img.example.com', '', false, Date.UTC(2026, 10, 18, 21, 7), 4, 0],
  ['visitor', '127.0.0.1:4817', 'https://evil.example', false, Date.UTC(2026, 10, 2, 10, 33), 1, 0],
  ['download', 'huggingface.co', 'Qwen3.5 9B Q4_K_M', true, Date.UTC(2026, 10, 20, 9, 14), 12, 4.6e9],
  ['look', 'huggingface.co', 'acme/qwen3.5-9b-GGUF', true, Date.UTC(2026, 10, 20, 9, 12), 4, 480_000],
  ['search', 'huggingface.co', 'qwen', true, Date.UTC(2026, 10, 14, 18, 40), 1, 36_000],
].map(([reason, host, about, allowed, at, requestCount, bytes]) =>
  NetworkLogEntry.parse({ reason, host, about, allowed, at, requestCount, bytes }),
);

const bits: [string, number][] = [
  ['BF16', 16],
  ['Q8_0', 8.5],
  ['Q6_K', 6.6],
  ['Q5_K_M', 5.7],
  ['Q4_K_M', 4.9],
  ['Q3_K_M', 3.9],
];

export function fakeModels(
  world: World,
  emit: Emit,
): Pick<Handlers, Exclude<ModelCalls, 'models.load' | 'models.cancelLoad' | 'models.unload'>> {
  const model = (modelId: ModelId): ModelEntry => {
    const found = world.models.find(({ id }) => id === modelId);
    if (!found) throw new LonghandError('not-found', '[fake] no such model');
    return found;
  };
  const tell = (downloads: Download[]) => {
    world.downloads = downloads;
    emit('downloads.changed', downloads);
  };
  const put = (models: ModelEntry[]) => {
    world.models = models;
    emit('models.changed', models);
  };
  const change = (id: string, patch: Partial<Download>) =>
    tell(world.downloads.map((item) => (item.id === id ? { ...item, ...patch } : item)));
  let removed: ModelEntry | null = null;

  return {
    'models.list': () => world.models,
    'models.import': ({ path }) => {
      throw new LonghandError('unreadable', `[models] ${path} is not a model`, {
        hint: 'There is no model at this path.',
      });
    },
    'models.inspect': ({ path }) => shapeOf('qwen3.5-4b', path.length, 'Q4_K_M'),
    'models.configure': ({ modelId, settings }) => {
      const entry = { ...model(modelId), settings };
      world.models = world.models.map((one) => (one.id === modelId ? entry : one));
      emit('model.changed', entry);
      return entry;
    },
    'models.duplicate': ({ modelId, name }) => {
      const entry = { ...model(modelId), id: `${modelId}-2` as ModelId, name, builtIn: false, presetOf: modelId };
      put([...world.models, entry]);
      return entry;
    },
    'models.preview': ({ template }) => ({
      own: '{% for message in messages %}<|im_start|>{{ message.role }}{% endfor %}',
      text: template ?? '<|im_start|>user\nAnd through Basel?<|im_end|>\n<|im_start|>assistant\n',
    }),
    'models.details': ({ modelId }) => {
      const { path, description } = model(modelId);
      const bytes = description?.weightBytes ?? 0;
      const ours = path?.includes('/longhand/') ?? false;
      return {
        modelId,
        ownership: path === null ? 'built-in' : world.quality[modelId] ? 'made' : ours ? 'downloaded' : 'external',
        origin: world.quality[modelId]
          ? { source: 'made', repository: 'Qwen3.5 4B', commit: '' }
          : ours
            ? { source: 'huggingface', repository: `acme/${modelId}`, commit: '0123456789ab' }
            : null,
        bytes,
        frees: ours ? bytes : 0,
        checkedAt: ours ? Date.UTC(2026, 10, 2) : null,
        quality: world.quality[modelId] ?? null,
      };
    },
    'models.remove': ({ modelId }) => {
      removed = model(modelId);
      put(world.models.filter(({ id }) => id !== modelId));
      return { model: removed, freed: removed.description?.weightBytes ?? 0 };
    },
    'models.restore': () => {
      if (!removed) throw new LonghandError('not-found', '[fake] nothing was removed');
      put([...world.models, removed]);
      return removed;
    },
    'models.verify': ({ modelId }) => ({ modelId, bytes: 1, damaged: [], again: 0 }),
    'models.repair': () => {
      throw new LonghandError('not-found', '[fake] nothing to repair');
    },
    ...fakeShrinking(world, emit, model),
    'models.listExternal': () => [
      {
        app: 'Ollama',
        name: 'smollm2:1.7b',
        kind: 'gguf',
        path: '/home/ada/.ollama/models/blobs/sha256-1',
        bytes: 1.8e9,
      },
      {
        app: 'Hugging Face cache',
        name: 'Qwen/Qwen3-8B',
        kind: 'safetensors',
        path: '/home/ada/.cache/huggingface/1',
        bytes: 4.6e9,
      },
    ],
    'models.linkExternal': ({ path }) => {
      const entry = installed('lfm2-1.2b', 1.2e9, 'Q8_0', { id: path as ModelId, path });
      put([...world.models, entry]);
      return entry;
    },
    'models.machine': () => ({ limitBytes: 13.5 * GiB, bandwidth: 150e9, diskFree: 212e9 }),
    'weightCache.size': () => world.packed,
    'weightCache.clear': () => {
      const freed = world.packed.bytes;
      world.packed = { bytes: 0, models: 0 };
      return { freed };
    },
    'library.state': () => world.shelf,
    'library.plan': ({ folder }) => ({ folder, bytes: 41.5e9, more: 0, copies: true, free: 212e9, missing: 0 }),
    'library.move': () => undefined,
    'library.pause': () => undefined,
    'library.resume': () => undefined,
    'library.cancel': () => undefined,
    'catalogue.list': () => catalogue,
    'models.search': ({ text }) => [
      {
        source: 'huggingface',
        name: `acme/${text}-GGUF`,
        downloads: 12_400,
        likes: 310,
        updatedAt: null,
        gated: false,
        runs: true,
      },
    ],
    'models.inspectRemote': ({ reference, variant }) => {
      const id = Object.keys(shapes).find((known) => reference.includes(known)) ?? 'qwen3.5-4b';
      const parameters = shapes[id]?.parameters ?? 0;
      const variants = bits.map(([label, each]): Variant => {
        const bytes = (parameters * each) / 8;
        const file = `${id}-${label}.gguf`;
        const exact = file === variant || label === 'Q4_K_M';
        return { id: file, label, kind: 'gguf', bytes, description: shapeOf(id, bytes, label), exact };
      });
      const place = { source: 'huggingface', host: 'huggingface.co', repository: reference } as const;
      return { reference, ...place, commit: '0123456789abcdef', gated: false, variants };
    },
    'downloads.list': () => world.downloads,
    'downloads.start': ({ reference, name }) => {
      const item: Download = {
        id: `download-${world.downloads.length}`,
        name: name ?? reference,
        source: 'huggingface',
        repository: reference,
        variant: 'Q4_K_M',
        done: 0,
        total: 5.6e9,
        status: { phase: 'queued' },
      };
      tell([...world.downloads, item]);
      return item;
    },
    'downloads.pause': ({ downloadId }) => change(downloadId, { status: { phase: 'paused' } }),
    'downloads.resume': ({ downloadId }) =>
      change(downloadId, { status: { phase: 'running', rate: 38.4e6, secondsLeft: 74 } }),
    'downloads.cancel': ({ downloadId }) => tell(world.downloads.filter(({ id }) => id !== downloadId)),
    'downloads.update': ({ downloadId }) => change(downloadId, { done: 0, status: { phase: 'queued' } }),
    'downloads.move': () => undefined,
    'tokens.list': () => ({ sources: [], storedIn: 'file' }),
    'tokens.set': () => undefined,
    'privacy.networkLog': () => contacts,
    'privacy.reportBlocked': () => undefined,
  };
}
