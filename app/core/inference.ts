import { randomUUID } from 'node:crypto';
import type { GenerationService } from '../engine/client/generation-service.ts';
import type {
  EmbedderTarget,
  GrammarText,
  LoadTarget,
  LogitBias,
  Prompt,
  PromptMessage,
  RawPrompt,
  TokenScore,
  TurnUpdate,
} from '../engine/ipc-protocol.ts';
import type { KeepAlive } from '../models/hardware/idle-unload.ts';
import type { ModelRegistry } from '../models/registry/model-registry.ts';
import type { PictureDecoder } from '../pictures/picture-decoder.ts';
import {
  type FinishReason,
  guarded,
  LonghandError,
  type Report,
  type SamplingSettings,
  type Settings,
  type Timings,
  type TurnId,
  type Usage,
} from '../protocol/index.ts';
import type { Tool, ToolCall } from '../text/chat-template.ts';
import { type CallFormat, callFormatOf } from '../text/tool-calls/call-formats.ts';
import { type CallPart, createCallSplitter } from '../text/tool-calls/call-splitter.ts';
import { type BuiltIn, type ServedModel, servedModels } from './served-models.ts';
import { countAll, embedAll, rankAll } from './texts-at-once.ts';

//  Inference for other programs: a conversation in, an answer out. Nothing is stored.

export type { LogitBias, RawPrompt, TokenLogprob, TokenScore } from '../engine/ipc-protocol.ts';
export type { Tool, ToolCall } from '../text/chat-template.ts';
export type { ServedModel } from './served-models.ts';

export type ConversationMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  thinking: string;
  /** Image files of a user message. */
  pictures?: Uint8Array[];
  calls?: ToolCall[];
  answers?: { callId?: string; name?: string };
};

export type AnswerRequest = {
  /** A name from `models`. */
  model: string;
  messages: ConversationMessage[];
  /** Continued verbatim, instead of messages. */
  raw?: RawPrompt;
  /** Tools the model may call. */
  tools: Tool[];
  /** null follows the model's default. */
  thinking: boolean | null;
  /** Maximum thinking tokens; null: as in Settings. */
  thinkingTokens: number | null;
  sampling: SamplingSettings;
  stops: string[];
  /** Constrains the answer, not the thinking. */
  grammar?: GrammarText | null;
  /** Number of alternatives to report per answer token; null or absent: no log-probabilities at all. */
  logprobs?: number | null;
  /** Added to the logits of these tokens. */
  bias?: LogitBias | null;
  /** Calls are said while they are written, if the model's format allows it. */
  callsInPieces?: boolean;
  /** How long the model stays in memory afterwards; null: until memory runs short. Absent: as in Settings. */
  keepMs?: number | null;
};

/** `expiresAt`: when it is unloaded if unused; null: never. */
export type ModelInMemory = { model: ServedModel; bytes: number; contextLength: number; expiresAt: number | null };

export type AnswerPart =
  /** Prefill has begun. Sent once, before any text; not at all if the whole prompt is cached. */
  | { type: 'prompt'; tokens: number; cached: number }
  /** `scores`: log-probabilities of the answer tokens up to here, if requested. */
  | { type: 'text'; kind: 'thinking' | 'answer'; text: string; scores?: TokenScore[] }
  /** A tool call; `arguments` is JSON. */
  | { type: 'call'; id: string; name: string; arguments: string }
  /** Only if asked for, instead of a whole call. The pieces of its arguments are JSON when put together, unless it was `cut`: the
   *  answer ended within the call, or the model wrote it wrongly. */
  | { type: 'call-begin'; id: string; name: string }
  | { type: 'call-arguments'; text: string }
  | { type: 'call-end'; cut: boolean }
  /** `stop`: the stop string that ended it; null if none did. */
  | { type: 'end'; reason: FinishReason; stop: string | null; usage: Usage; timings: Timings };

export type Inference = {
  models(): Promise<ServedModel[]>;
  /** The loaded chat model, if any. */
  inMemory(): Promise<ModelInMemory | null>;
  /** Loads the model ahead of the first request.
   *  @throws LonghandError `model-missing`, and what the engine says */
  load(model: string, keepMs: number | null | undefined): Promise<void>;
  /** Unloads it; not an error if it is not loaded. */
  unload(model: string): Promise<void>;
  /** Loads the model if necessary. Leaving the iteration early cancels the answer.
   *  @throws LonghandError `model-missing`, and what the engine says */
  answer(request: AnswerRequest, signal: AbortSignal): AsyncGenerator<AnswerPart, void>;
  /** What a chat model can do, by its template. @throws LonghandError `model-missing` */
  abilities(model: string): Promise<{ tools: boolean; thinking: boolean }>;
  /** Number of prompt tokens. */
  count(request: Pick<AnswerRequest, 'model' | 'messages' | 'tools' | 'thinking'>): Promise<number>;
  /** One unit vector per text, and the number of tokens read.
   *  @throws LonghandError `model-missing`, `model-unsupported`, `cancelled` */
  embed(
    model: string,
    texts: string[],
    kind: 'query' | 'passage',
    signal: AbortSignal,
  ): Promise<{ vectors: Float32Array[]; tokens: number }>;
  /** How well each text answers the question, from 0 to 1, according to a cross-encoder.
   *  @throws LonghandError `model-missing`, `model-unsupported`, `cancelled` */
  rank(
    model: string,
    query: string,
    texts: string[],
    signal: AbortSignal,
  ): Promise<{ scores: number[]; tokens: number }>;
};

export type InferenceOptions = {
  engine: GenerationService;
  library: Pick<ModelRegistry, 'list' | 'target' | 'embedder' | 'thinksByDefault' | 'used' | 'look'>;
  /** Encoders and rerankers that ship with the app, in addition to the library. */
  builtIn: readonly BuiltIn[];
  keepAlive: Pick<KeepAlive, 'keepFor' | 'expiresAt'>;
  settings: () => Settings;
  newTurnId: () => TurnId;
  pictures: Pick<PictureDecoder, 'measure'>;
  /** Receives what a listener threw. */
  report: Report;
};

export function createInference({
  engine,
  library,
  builtIn,
  keepAlive,
  settings,
  newTurnId,
  pictures,
  report,
}: InferenceOptions): Inference {
  const served = async () => servedModels(await library.list(), builtIn);

  async function find(name: string, kind: ServedModel['kind']): Promise<ServedModel> {
    const all = await served();
    const wanted = name.toLowerCase().replace(/:latest$/, '');
    const found = all.find(({ id, name: shown, entry }) => [id, shown.toLowerCase(), entry?.id].includes(wanted));
    if (found?.kind === kind) return found;
    const allowed = all.filter((one) => one.kind === kind).map(({ id }) => id);
    throw new LonghandError(
      found ? 'model-unsupported' : 'model-missing',
      `[model] "${name}" ${found ? UNABLE[kind] : 'is not here'}; ` +
        (allowed.length > 0 ? `expected one of ${allowed.join(', ')}` : 'there is none that could be used'),
    );
  }

  async function targetOf(model: string): Promise<{ target: LoadTarget; sampling: SamplingSettings }> {
    const { entry } = await find(model, 'chat');
    if (!entry) throw new LonghandError('model-unsupported', `[model] "${model}" ${UNABLE.chat}`);
    await library.look(entry.id);
    return library.target(entry.id);
  }

  async function embedderOf(model: string, kind: 'encoder' | 'ranker'): Promise<EmbedderTarget> {
    const { entry, target } = await find(model, kind);
    const { device, threads } = settings();
    return target ? { ...target, device, threads } : library.embedder(entry.id, kind).target;
  }

  /** @throws LonghandError `unreadable`, `too-large` for a picture */
  async function promptOf(
    { messages, raw, tools, thinking }: Pick<AnswerRequest, 'messages' | 'raw' | 'tools' | 'thinking'>,
    { modelId }: LoadTarget,
  ): Promise<Prompt> {
    return {
      messages: await Promise.all(messages.map(messageOf)),
      ...(raw && { raw }),
      tools,
      thinking: thinking ?? settings().thinkingByDefault ?? library.thinksByDefault(modelId),
      continuation: null,
    };
  }

  async function messageOf({ pictures: shown = [], ...message }: ConversationMessage): Promise<PromptMessage> {
    const detail = settings().pictureDetail;
    const seen = shown.map(async (bytes) => {
      const { width, height } = await pictures.measure({ bytes });
      return { source: { bytes }, width, height, detail };
    });
    return { ...message, ids: null, ...(shown.length > 0 && { pictures: await Promise.all(seen) }) };
  }

  /** @throws LonghandError `model-unsupported` if the model's template does not support tools */
  async function formatFor(tools: readonly Tool[], { path, template }: LoadTarget): Promise<CallFormat | null> {
    if (tools.length === 0) return null;
    const known = template ?? (await engine.ask('preview', { path, template: null })).own;
    const format = callFormatOf(known);
    if (format) return format;
    throw new LonghandError('model-unsupported', '[tools] this model’s chat template does not support tools');
  }

  return {
    models: served,
    async inMemory() {
      const status = engine.status();
      if (status.phase !== 'ready' && status.phase !== 'busy') return null;
      const model = (await served()).find(({ entry }) => entry?.id === status.modelId);
      const { memoryBytes: bytes, contextLength } = status;
      return model ? { model, bytes, contextLength, expiresAt: keepAlive.expiresAt() } : null;
    },
    async load(model, keepMs) {
      const { target } = await targetOf(model);
      await engine.load(target);
      if (keepMs !== undefined) keepAlive.keepFor(keepMs);
    },
    async unload(model) {
      const { target } = await targetOf(model);
      if (engine.target()?.modelId === target.modelId) await engine.unload();
    },
    async *answer(request, signal) {
      const { target, sampling } = await targetOf(request.model);
      const format = await formatFor(request.tools, target);
      const { thinkingBudget, sampling: usual } = settings();
      const prompt = await promptOf(request, target);
      const turnId = newTurnId();
      const updates = createMailbox<TurnUpdate>();
      let over = false;
      const cancel = () => over || engine.cancel(turnId);
      signal.addEventListener('abort', guarded(report, cancel), { once: true });
      let counted = false;
      const splitter = createCalls(format, request.tools, request.callsInPieces ?? false);
      const untold: TokenScore[] = [];
      // Text that may turn out to be a call is held back, and the scores of its tokens with it.
      const told = (parts: AnswerPart[]): AnswerPart[] =>
        parts.map((part) =>
          part.type === 'text' && part.kind === 'answer' && untold.length > 0
            ? { ...part, scores: untold.splice(0) }
            : part,
        );
      engine.generate(
        {
          turnId,
          chatId: null,
          priority: 'server',
          target,
          prompt,
          sampling: { ...usual, ...sampling, ...request.sampling },
          stops: request.stops,
          grammar: request.grammar ?? null,
          logprobs: request.logprobs ?? null,
          bias: request.bias ?? null,
          thinkingBudget:
            request.thinkingTokens === null ? thinkingBudget : { tokens: request.thinkingTokens, seconds: null },
          // There is nobody to ask what to do about a loop.
          loopGuard: null,
        },
        updates.put,
      );
      if (signal.aborted) cancel();
      try {
        for await (const { event, scores = [], stop = null } of updates) {
          if (event.type === 'failed') {
            over = true;
            throw new LonghandError(event.failure.code, event.failure.message);
          }
          if (event.type === 'started') library.used(target.modelId);
          if (event.type === 'progress' && !counted) {
            counted = true;
            yield { type: 'prompt', tokens: event.total, cached: event.cached };
          }
          untold.push(...scores);
          if (event.type === 'delta') yield* told(separated(event, splitter));
          if (event.type !== 'finished') continue;
          over = true;
          yield* told(splitter.flush());
          if (untold.length > 0) yield* told([{ type: 'text', kind: 'answer', text: '' }]);
          const reason = splitter.called() && event.reason === 'stop' ? 'tool' : event.reason;
          if (request.keepMs !== undefined) keepAlive.keepFor(request.keepMs);
          yield { type: 'end', reason, stop, usage: event.usage, timings: event.timings };
          return;
        }
      } finally {
        cancel();
        over = true;
      }
    },
    async abilities(model) {
      const { target } = await targetOf(model);
      const format = callFormatOf(await engine.ask('template', target));
      const { entry } = await find(model, 'chat');
      // Of a model that is new in the list nothing is known yet.
      const { able } = entry?.thinking ?? (await engine.ask('inspect', target)).thinking;
      return { tools: format !== null, thinking: able };
    },
    async count(request) {
      const { target } = await targetOf(request.model);
      return engine.ask('count', { model: target, prompt: await promptOf(request, target) });
    },
    async embed(model, texts, kind, signal) {
      const target = await embedderOf(model, 'encoder');
      const vectors = await embedAll(engine, target, texts, kind, signal);
      return { vectors, tokens: await countAll(engine, target, texts, signal) };
    },
    async rank(model, query, texts, signal) {
      const target = await embedderOf(model, 'ranker');
      const scores = await rankAll(engine, target, query, texts, signal);
      const asked = await countAll(engine, target, [query], signal);
      const read = await countAll(engine, target, texts, signal);
      return { scores: scores.map((score) => 1 / (1 + Math.exp(-score))), tokens: asked * texts.length + read };
    },
  };
}

const UNABLE = {
  chat: 'reads text and writes none',
  encoder: 'gives no vectors',
  ranker: 'ranks no texts',
} satisfies Record<ServedModel['kind'], string>;

/** Thinking never contains calls. */
function separated({ kind, text }: { kind: 'thinking' | 'answer'; text: string }, calls: Calls): AnswerPart[] {
  return kind === 'thinking' ? [{ type: 'text', kind, text }] : calls.push(text);
}

type Calls = { push(text: string): AnswerPart[]; flush(): AnswerPart[]; called(): boolean };

/** Separates calls from the text of an answer and numbers them. */
function createCalls(format: CallFormat | null, tools: readonly Tool[], inPieces: boolean): Calls {
  const splitter = format && createCallSplitter(format, tools, { inPieces });
  let called = false;
  const partsOf = (part: CallPart): AnswerPart[] => {
    if (part.kind === 'text') return [{ type: 'text', kind: 'answer', text: part.text }];
    if (part.kind === 'arguments') return [{ type: 'call-arguments', text: part.text }];
    if (part.kind === 'end') return [{ type: 'call-end', cut: part.cut }];
    called = true;
    const id = `call_${randomUUID().replace(/-/g, '')}`;
    if (part.kind === 'begin') return [{ type: 'call-begin', id, name: part.name }];
    const { name } = part.call;
    const given = JSON.stringify(part.call.arguments);
    if (!inPieces) return [{ type: 'call', id, name, arguments: given }];
    return [
      { type: 'call-begin', id, name },
      { type: 'call-arguments', text: given },
      { type: 'call-end', cut: false },
    ];
  };
  return {
    push: (text) => (splitter ? splitter.push(text).flatMap(partsOf) : [{ type: 'text', kind: 'answer', text }]),
    flush: () => splitter?.flush().flatMap(partsOf) ?? [],
    called: () => called,
  };
}

/** An unbounded queue: items come out in order, one at a time, however slowly they are taken. */
function createMailbox<Item>() {
  const items: Item[] = [];
  let wake = () => {};
  return {
    put(more: Item[]) {
      items.push(...more);
      wake();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
      for (;;) {
        const item = items.shift();
        if (item !== undefined) yield item;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}
