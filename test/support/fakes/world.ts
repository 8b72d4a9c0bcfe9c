import {
  type Chat,
  type ChatId,
  type Download,
  defaultSettings,
  type EngineStatus,
  type Library,
  type Message,
  type MessageId,
  type ModelEntry,
  ModelSettings,
  type QualityPlan,
  type QualityRun,
  type Response,
  type Run,
  type Settings,
  type StatsSample,
} from '../../../app/protocol/index.ts';
import { type DocumentsWorld, noDocuments } from './documents.ts';
import type { ServerWorld } from './server.ts';

export type Script = { text: string; thinking?: string; chunk?: number; everyMs?: number };

export type World = {
  chats: Map<ChatId, Chat>;
  messages: Map<MessageId, Message>;
  samples: Map<MessageId, StatsSample[]>;
  runs: Run[];
  models: ModelEntry[];
  status: EngineStatus;
  settings: Settings;
  /** The texts of the next answers. */
  script: (prompt: string) => Script;
  measure: { used: number; draft: number; limit: number } | null;
  plan: Response<'context.overflowOptions'>;
  downloads: Download[];
  /** The folder of the models. */
  shelf: Library;
  packed: Response<'weightCache.size'>;
  shrinking: Response<'models.shrinking'>;
  /** The cards of models that were made of others. */
  quality: Record<ModelEntry['id'], Response<'models.details'>['quality']>;
  tools: Response<'tools.list'>['tools'];
  pageHosts: string[];
  mcp: Response<'mcp.servers'>;
  remoteEngines: Response<'remoteEngines.list'>;
  /** What two models answer side by side. */
  tried: [string, string];
  /** Tests of models, the newest first, and the forecast of another; null: it is refused. */
  evaluations: QualityRun[];
  qualityPlan: QualityPlan | null;
  /** The models of the latest benchmark. */
  benchmarked: ModelEntry['id'][];
  library: DocumentsWorld;
  server: ServerWorld;
};

export const STARTER = 'starter' as ModelEntry['id'];
const MODELS = '/home/ada/.local/share/longhand/models';

export const starter: ModelEntry = {
  id: STARTER,
  name: 'Qwen3.5 4B',
  path: null,
  builtIn: true,
  external: false,
  missing: false,
  unmounted: false,
  lastUsedAt: null,
  thinking: { able: true, byDefault: true },
  settings: ModelSettings.parse({}),
  presetOf: null,
  remote: null,
  description: {
    supported: true,
    problems: [],
    notices: [],
    family: 'qwen3_5',
    container: 'gguf',
    layers: [],
    hiddenSize: 2560,
    vocabularySize: 151_936,
    contextLength: 262_144,
    parameters: 4e9,
    weightBytes: 2.7e9,
    types: { Q4_K_M: 200, F32: 12 },
    activeBytes: 2.7e9,
    stateBytes: 5e7,
    contextBytesPerToken: 32_768,
    memory: null,
    mtp: false,
    encoder: false,
    reranker: false,
    vision: null,
  },
};

export function createWorld(change: Partial<World> = {}): World {
  return {
    chats: new Map(),
    messages: new Map(),
    samples: new Map(),
    runs: [],
    models: [starter],
    status: { phase: 'ready', modelId: STARTER, backEnd: 'metal', memoryBytes: 5.9 * 2 ** 30, contextLength: 32_768 },
    settings: { ...defaultSettings, onboarded: true },
    script: (prompt) => ({ text: `You said: ${prompt}`, chunk: 8, everyMs: 20 }),
    measure: null,
    plan: { trim: null, summary: null },
    downloads: [],
    shelf: { folder: MODELS, home: MODELS, unmounted: false, move: null },
    packed: { bytes: 0, models: 0 },
    shrinking: null,
    quality: {},
    tried: ['', ''],
    evaluations: [],
    qualityPlan: { parts: 8, reads: 15_360, writes: 0, seconds: 384, memoryBytes: 3.1 * 2 ** 30 },
    benchmarked: [],
    library: noDocuments(),
    mcp: [],
    remoteEngines: [],
    server: { state: { phase: 'off' }, keys: [], requests: [], texts: null },
    pageHosts: ['en.wikipedia.org'],
    tools: ['calculator', 'clock', 'run_javascript', 'search_documents', 'read_document', 'fetch_page'].map((name) => ({
      name,
      title: name,
      builtIn: true,
      server: null,
      description: '',
    })),
    ...change,
  };
}

let lastId = 0;
/** What a short turn took. */
export const turnFigures = {
  usage: { promptTokens: 4, cachedTokens: 0, thinkingTokens: 1, answerTokens: 2 },
  timings: { firstTokenMs: 1, prefillMs: 1, decodeMs: 1, thinkingMs: 1, totalMs: 3, tokensPerSecond: null },
};

export const nextId = <Id extends string>(kind: string) => `${kind}-${String(++lastId).padStart(6, '0')}` as Id;

export function newChat(change: Partial<Chat> = {}): Chat {
  const now = Date.now();
  return {
    id: nextId<ChatId>('chat'),
    title: '',
    titleSource: 'none',
    pinned: false,
    createdAt: now,
    updatedAt: now,
    modelId: null,
    systemPrompt: '',
    sampling: {},
    thinking: null,
    loopGuard: true,
    collectionIds: [],
    tools: null,
    passagesTo: null,
    draft: '',
    leafId: null,
    ...change,
  };
}

export function newMessage(chatId: ChatId, role: Message['role'], change: Partial<Message> = {}): Message {
  return {
    id: nextId<MessageId>('message'),
    chatId,
    parentId: null,
    role,
    createdAt: Date.now(),
    text: '',
    thinking: '',
    attachments: [],
    state: { status: 'done', reason: role === 'assistant' ? 'stop' : null },
    modelName: role === 'assistant' ? starter.name : null,
    usage: null,
    timings: null,
    loops: [],
    grounding: null,
    contextCutoff: null,
    toolUses: [],
    ...change,
  };
}
