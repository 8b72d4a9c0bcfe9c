import { totalmem } from 'node:os';
import type * as Addon from '../../../../native/addon/index.d.ts';
import { type Preprocessor, tokensFor, withDetail } from '../../../pictures/preprocessor.ts';
import { kvBytesPerToken, ModelDescription, type ModelId } from '../../../protocol/index.ts';
import { promptOf } from '../../../text/chat-template.ts';
import type { TemplateRenderer } from '../../../text/jinja/template-renderer.ts';
import { type ModelText, withTemplate } from '../../../text/model-text.ts';
import type { Generation, Inspected, Loaded, LoadTarget, Priority, Prompt } from '../../ipc-protocol.ts';
import type { Capacity } from '../scheduler.ts';
import { createGrammars, type Grammars } from './grammars.ts';
import { type EngineText, readEngineText } from './model-vision.ts';
import { createSessionPool, type SessionPool } from './session-pool.ts';
import { readModelText } from './tokenizer-files.ts';

export type LoadedModel = {
  readonly target: LoadTarget;
  readonly native: Addon.Model;
  readonly text: EngineText;
  readonly grammars: Grammars;
  /** Sessions for a kind of work: titles have their own, so that they do not evict those of chats. */
  sessions(priority: Priority): SessionPool;
  /** Context length of a session for this kind of work. */
  contextLength(priority: Priority): number;
  /** Maximum number of concurrent answers, and the memory they may take together. */
  capacity: Capacity;
  /** Estimated memory of the session of an answer. */
  bytesFor(generation: Pick<Generation, 'prompt' | 'sampling'>): number;
  /** Clears the prompt cache and the sessions. */
  forgetPrompts(): Promise<void>;
  memoryBytes(): number;
  loaded(): Loaded;
  loadedInfo(): Loaded & { modelId: ModelId };
  close(): void;
};

const titleContext = 2048;

/** Idle sessions that stay for the next question. */
const spareSessions = 1;

/** Concurrent answers on a back end that interleaves them. */
const answersAtOnce = 16;

export async function loadModel(
  addon: typeof Addon,
  target: LoadTarget,
  device: string | null,
  signal: Addon.AbortFlag,
  onProgress: (done: number, total: number) => void,
  onKernels: (done: number, total: number) => void,
): Promise<LoadedModel> {
  const text = withTemplate(await readEngineText(addon, target), target.template);
  const native = await addon.load(target.path, {
    ...(device !== null && { device }),
    ...(target.threads !== null && { threads: target.threads }),
    ...(target.packed !== null && { packed: target.packed }),
    ...(target.vision !== undefined && { vision: target.vision }),
    onProgress,
    onKernels,
    signal,
  });
  native.setPromptCache(target.cacheBytes);
  await native.setPromptCacheDisk(nativeDisk(target));
  const whole = contextFor(native, target);
  const contextLength = (priority: Priority) => (priority === 'title' ? Math.min(titleContext, whole) : whole);
  const poolFor = (priority: Priority) =>
    createSessionPool(
      () => native.createSession({ kvType: target.kvType, contextLength: contextLength(priority) }),
      spareSessions,
    );
  const [answers, titles] = [poolFor('chat'), poolFor('title')];
  const memoryBytes = () =>
    native.description.weightBytes + native.promptCache().bytes + answers.bytes() + titles.bytes();
  const loaded = (): Loaded => ({ backEnd: native.device.backEnd, memoryBytes: memoryBytes(), contextLength: whole });

  try {
    answers.giveBack(answers.take(''));
  } catch (error) {
    native.close();
    throw error;
  }
  return {
    target,
    native,
    text,
    grammars: createGrammars(addon, text, native.vocabularySize),
    sessions: (priority) => (priority === 'title' ? titles : answers),
    contextLength,
    capacity: { atOnce: answersAtOnce, bytes: memoryAtOnce(native) },
    bytesFor: (generation) => bytesFor(generation, { native, target, text }, whole),
    async forgetPrompts() {
      answers.forget();
      titles.forget();
      await native.clearPromptCache();
    },
    memoryBytes,
    loaded,
    loadedInfo: () => ({ modelId: target.modelId, ...loaded() }),
    close() {
      answers.close();
      titles.close();
      native.close();
    },
  };
}

/** The prompt cache on disk as the addon takes it. */
export const nativeDisk = ({
  cacheDisk,
}: Pick<LoadTarget, 'cacheDisk'>): Parameters<Addon.Model['setPromptCacheDisk']>[0] =>
  cacheDisk && { ...cacheDisk, key: cacheDisk.key === null ? null : Buffer.from(cacheDisk.key, 'base64') };

const maxDefaultContext = 32_768;

/** Memory for contexts: of concurrent answers together, and of one without a requested length. */
const contextMemory = () => totalmem() / 4;
const memoryAtOnce = ({ device: { unified, memoryBytes } }: LoadedModel['native']) =>
  unified ? contextMemory() : Math.min(contextMemory(), memoryBytes / 4);

/** Minimum average characters per token in ordinary text. */
const shortestToken = 2;

/** Room for an answer without a requested maximum length. */
const usualAnswer = 1024;

function bytesFor(
  { prompt, sampling }: Pick<Generation, 'prompt' | 'sampling'>,
  { native, target: { kvType }, text }: Pick<LoadedModel, 'native' | 'target' | 'text'>,
  contextLength: number,
): number {
  const { vision } = text;
  const seen = vision === null ? 0 : picturesIn(prompt, vision.preprocessor);
  const { text: raw = '', suffix = null } = prompt.raw ?? {};
  const said = prompt.messages.reduce((sum, { text, thinking }) => sum + text.length + thinking.length, 0);
  const characters = said + raw.length + (suffix?.length ?? 0);
  const tokens = characters / shortestToken + seen + (sampling.maxTokens ?? usualAnswer);
  const { description } = native;
  return description.stateBytes + Math.min(tokens, contextLength) * kvBytesPerToken(description, kvType);
}

const picturesIn = ({ messages }: Pick<Prompt, 'messages'>, preprocessor: Preprocessor): number =>
  messages
    .flatMap(({ pictures = [] }) => pictures)
    .reduce((sum, picture) => sum + tokensFor(withDetail(preprocessor, picture.detail), picture), 0);

/** The requested context length, at most the model's own; without a request, as much as fits into the memory for contexts. */
function contextFor(native: Addon.Model, { contextLength: wanted, kvType }: LoadTarget): number {
  if (wanted !== null) return Math.min(wanted, native.contextLength);
  const perToken = kvBytesPerToken(native.description, kvType);
  const fits = perToken > 0 ? Math.floor(contextMemory() / perToken) : maxDefaultContext;
  return Math.max(512, Math.min(native.contextLength, maxDefaultContext, fits));
}

/** Inspects the files of a model: the addon's description, and whether its template thinks. `known`: its tokenizer and template, if
 *  already loaded. */
export async function inspectModel(
  addon: typeof Addon,
  renderer: TemplateRenderer,
  { path, vision }: Pick<LoadTarget, 'path' | 'vision'>,
  known: ModelText | null,
): Promise<Inspected> {
  const description = ModelDescription.parse(await addon.inspect(path, vision === undefined ? {} : { vision }));
  return {
    description,
    thinking: await thinkingOf(addon, renderer, path, known),
    names: await declaredNames(addon, path),
  };
}

/** The full name, or its parts: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md#general-metadata */
async function declaredNames(addon: typeof Addon, path: string): Promise<string[]> {
  if (!path.toLowerCase().endsWith('.gguf')) return [];
  const metadata = await addon.ggufMetadata(path);
  const said = (key: string) => {
    const value = metadata[key];
    return typeof value === 'string' ? value.trim() : '';
  };
  const base = said('general.basename');
  const parts = [base, said('general.size_label'), said('general.finetune'), said('general.version')];
  const whole = base === '' ? '' : parts.filter((part) => part !== '').join(' ');
  return [said('general.name'), whole].filter((name) => name !== '');
}

async function thinkingOf(
  addon: typeof Addon,
  renderer: TemplateRenderer,
  path: string,
  known: ModelText | null,
): Promise<Inspected['thinking']> {
  const never = { able: false, byDefault: false };
  let text: ModelText;
  try {
    text = known ?? (await readModelText(addon, path));
  } catch {
    // Without a readable tokenizer the description of the weights still holds; loading will report the error.
    return never;
  }
  const { template } = text;
  if (!text.thinking || template === null) return never;
  const rendered = async (thinking: boolean | null) => {
    const prompt = await promptOf({ ...text, template }, renderer, {
      messages: [{ role: 'user', content: 'Hello' }],
      thinking,
    });
    return { open: prompt.inThinking, ids: prompt.ids.join() };
  };
  try {
    const [free, off] = [await rendered(null), await rendered(false)];
    return { able: true, byDefault: free.open || free.ids !== off.ids };
  } catch {
    return never;
  }
}
