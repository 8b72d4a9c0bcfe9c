import { z } from 'zod';
import type * as Addon from '../../native/addon/index.d.ts';
import type { PictureSource } from '../pictures/picture-decoder.ts';
import type { Supervised } from '../process/supervisor.ts';
import {
  type ChatId,
  Device,
  EngineStatus,
  Failure,
  firstProblem,
  LonghandError,
  ModelDescription,
  type ModelEntry,
  type ModelId,
  type PauseAction,
  type PictureDetail,
  PromptCacheUse,
  type RemoteEngineId,
  type SamplingSettings,
  type Settings,
  TurnEvent,
  type TurnId,
} from '../protocol/index.ts';
import type { Tool, ToolCall } from '../text/chat-template.ts';
import type { ParsedCall } from '../text/tool-calls/call-formats.ts';
import type { AnswerWithCalls } from '../text/tool-calls/call-grammar.ts';

//  Messages between the core and the engine process. Both are of the same build, so requests are only typed;
//  responses are validated all the same, because the engine process opens untrusted files.

/** A message as the template gets it. `ids`: the tokens the model generated for it, sent again unchanged. */
export type PromptMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  thinking: string;
  ids: number[] | null;
  /** Calls of an assistant message. */
  calls?: ToolCall[];
  /** Pictures of a user message, before the text. */
  pictures?: PromptPicture[];
  /** For a tool message: the call and the tool it is the result of. */
  answers?: { callId?: string; name?: string };
};

/** A picture in a prompt; the size is that of the upright picture. */
export type PromptPicture = { source: PictureSource; width: number; height: number; detail: PictureDetail };

export type Prompt = {
  messages: PromptMessage[];
  /** Tools the model may call. */
  tools?: Tool[];
  thinking: boolean;
  /** Text to continue verbatim, without template or messages; with a suffix: fill in the middle. */
  raw?: RawPrompt;
  /** The beginning of an answer that is continued. */
  continuation: Omit<PromptMessage, 'role'> | null;
};

export type RawPrompt = { text: string; suffix: string | null };

export type LoadTarget = {
  modelId: ModelId;
  path: string;
  device: string | null;
  threads: number | null;
  contextLength: number | null;
  kvType: Settings['kvType'];
  /** Overrides the model's own template. */
  template: string | null;
  /** The vision tower (mmproj) of a GGUF model, if the user chose one. */
  vision?: string;
  /** File that caches packed weights for the next load. */
  packed: string | null;
  /** Memory limit of the prompt cache in bytes; can change without a reload. */
  cacheBytes: number;
  /** Folder, size limit and key (in base64; null: not encrypted) of the prompt cache on disk; can change without a reload. */
  cacheDisk: { folder: string; bytes: number; key: string | null } | null;
  /** Set for a remote model: the fields above do not apply, and it is never loaded. */
  remote?: { engineId: RemoteEngineId; model: string; contextLength: number | null };
};

/** What determines token counts: the tokenizer, the template, and for pictures the vision tower. */
export type CountedBy = Pick<LoadTarget, 'path' | 'template' | 'vision' | 'remote'>;

/** `server`: a request of another program. */
export type Priority = 'chat' | 'server' | 'title';

/** An encoder, loaded beside the chat model. */
/** `adapter`: folder of an adapter that turns the encoder into a cross-encoder. */
export type EmbedderTarget = Pick<LoadTarget, 'path' | 'device' | 'threads'> & { adapter?: string };

export type Embedding = {
  target: EmbedderTarget;
  texts: string[];
  /** Selects the prefix of each text, if the encoder uses prefixes. */
  kind: 'query' | 'passage';
  /** Urgent: a user is waiting. Otherwise it runs while the engine is idle, and returns what is done when preempted. */
  urgent: boolean;
};

/** Unit vectors, in the order of the texts. Fewer than texts if something more urgent came: ask again for
 *  the rest. */
export type Embedded = { vectors: Float32Array[] };

/** A question and passages, each of which a cross-encoder scores together with the question. */
export type Ranking = { target: EmbedderTarget; query: string; texts: string[] };

/** In the order of the texts; higher is better. */
export type Ranked = { scores: number[] };

/** A line recognised by the system's OCR; boxes in pixels of the picture. */
export type RecognisedLine = Addon.RecognisedLine;

/** A grammar that constrains the answer. */
export type GrammarText =
  | { kind: 'json-schema' | 'regex' | 'gbnf'; text: string }
  /** Tool calls, in the format of the model's template. */
  | ({ kind: 'calls' } & AnswerWithCalls);

/** Values that are added to the logits of tokens, as many as tokens. Ids outside of the vocabulary change nothing. */
export type LogitBias = { tokens: number[]; values: number[] };

/** A text that the answer may follow; `weight`: what is added to the logit of its first token. */
export type Exemplar = { text: string; weight: number };

export type Generation = {
  turnId: TurnId;
  /** Owner of the prompt, so that its disk cache is deleted with the chat; null: not cached on disk. */
  chatId: ChatId | null;
  priority: Priority;
  /** Loaded first if it is not in memory. */
  target: LoadTarget;
  prompt: Prompt;
  sampling: SamplingSettings;
  stops: string[];
  /** Constrains the answer, not the thinking; null or absent: unconstrained. */
  grammar?: GrammarText | null;
  /** Number of alternatives reported per answer token, besides its own log-probability; null or absent: none at all. */
  logprobs?: number | null;
  bias?: LogitBias | null;
  exemplars?: Exemplar[];
  /** Thinking is closed with the family's own tokens when either limit is reached. */
  thinkingBudget: Settings['thinkingBudget'];
  /** Thinking tokens after which the user is asked whether to continue; absent: never. */
  softBudget?: number | null;
  loopGuard: Settings['loopGuard'] | null;
};

/** A token's natural log-probability, before temperature and filters.
 *  Its text as bytes: a token may be a part of a character. */
export type TokenLogprob = { bytes: number[]; logprob: number };
/** `top`: the most likely tokens, best first. */
export type TokenScore = TokenLogprob & { top: TokenLogprob[] };

/** An event of a turn, plus what the store needs but the page does not. */
export type TurnUpdate = {
  event: TurnEvent;
  /** Tokens behind a delta, or tokens without text (the end of thinking). */
  ids?: number[];
  /** Log-probabilities of the answer tokens, if requested. */
  scores?: TokenScore[];
  /** With `retracted`: how many tokens of the answer remain. */
  keptIds?: number;
  /** With `finished`: the stop string that ended the answer; null or absent if none did. */
  stop?: string | null;
  /** With `finished`: the calls, if a remote engine parsed them. */
  calls?: ParsedCall[];
};

export type Loaded = { backEnd: string; memoryBytes: number; contextLength: number };

/** `own`: the model's own template; `text`: a rendered sample conversation. */
export type Preview = { own: string | null; text: string };

export type Inspected = {
  description: ModelDescription;
  thinking: NonNullable<ModelEntry['thinking']>;
  /** Names in the metadata of a GGUF file, best first. */
  names: string[];
};

/** The metadata of a model, without its weights. */
export type Headers = {
  config: string;
  tensors: { name: string; type: string; shape: number[] }[];
  container: ModelDescription['container'];
};

/** Requests with a single response. */
export type Asks = {
  devices: { input: null; output: Device[] };
  inspect: { input: Pick<LoadTarget, 'path' | 'vision'>; output: Inspected };
  /** Describes a model that is not on this computer, from its headers alone. */
  describe: { input: Headers; output: ModelDescription };
  preview: { input: { path: string; template: string | null }; output: Preview };
  /** The model's chat template; null if it has none. */
  template: { input: CountedBy; output: string | null };
  /** Memory bandwidth in bytes per second; 0 if it could not be measured. Waits for a running answer. */
  bandwidth: { input: null; output: number };
  load: { input: LoadTarget; output: Loaded };
  unload: { input: null; output: null };
  /** Use of the prompt cache of the loaded model; null if none is loaded. */
  promptCache: { input: null; output: Omit<PromptCacheUse, 'diskBytes' | 'onDisk' | 'hitShare'> | null };
  setPromptCache: { input: { bytes: number; disk: LoadTarget['cacheDisk'] }; output: null };
  /** Deletes the disk cache of a chat. */
  erasePromptCache: { input: { chatId: ChatId }; output: null };
  clearPromptCache: { input: null; output: null };
  /** The system is short of memory: the loaded model frees what can be computed again. */
  relieveMemory: { input: null; output: null };
  /** Tokens of the rendered prompt for this model, which need not be loaded. */
  count: { input: { model: CountedBy; prompt: Prompt }; output: number };
  /** Tokens of plain text. */
  countText: { input: { model: CountedBy; text: string }; output: number };
  /** Tokens of a picture. */
  countPicture: { input: { model: CountedBy; picture: Omit<PromptPicture, 'source'> }; output: number };
  embed: { input: Embedding; output: Embedded };
  rank: { input: Ranking; output: Ranked };
  /** OCR of a picture (PNG, JPEG …) by the system (macOS); null on other systems. */
  recognise: {
    input: { picture: Uint8Array };
    output: RecognisedLine[] | null;
  };
};
export type AskName = keyof Asks;

/** Engine states known to the engine process itself; the supervisor adds the rest. */
export type InnerStatus = Extract<EngineStatus, { phase: 'idle' | 'loading' | 'ready' | 'busy' }>;

/** Progress of the native threads: running jobs, and steps since the process began. */
export type Pulse = { running: number; steps: number; loading: boolean };

export type ToEngine =
  | { [Name in AskName]: { id: number; ask: Name; input: Asks[Name]['input'] } }[AskName]
  | { generate: Generation }
  | { cancel: TurnId }
  | { cancelLoad: true }
  | { answerNow: TurnId }
  | { decide: TurnId; choice: PauseAction }
  | { beat: true }
  | { quit: true };

export type FromEngine =
  | { id: number; value: unknown }
  | { id: number; failure: Failure }
  | { turnId: TurnId; updates: TurnUpdate[] }
  | { pulse: Pulse }
  | { status: InnerStatus };

const size = z.number().nonnegative();
const box = z.object({ left: z.number(), top: z.number(), right: z.number(), bottom: z.number() });

/** Schemas of the responses. */
const ANSWERS = {
  devices: z.array(Device),
  inspect: z.object({
    description: ModelDescription,
    thinking: z.object({ able: z.boolean(), byDefault: z.boolean() }),
    names: z.array(z.string()),
  }),
  describe: ModelDescription,
  preview: z.object({ own: z.string().nullable(), text: z.string() }),
  template: z.string().nullable(),
  bandwidth: size,
  load: z.object({ backEnd: z.string(), memoryBytes: size, contextLength: size }),
  unload: z.null(),
  promptCache: PromptCacheUse.omit({ diskBytes: true, onDisk: true, hitShare: true }).nullable(),
  setPromptCache: z.null(),
  erasePromptCache: z.null(),
  clearPromptCache: z.null(),
  relieveMemory: z.null(),
  count: size,
  countText: size,
  countPicture: size,
  embed: z.object({ vectors: z.array(z.instanceof(Float32Array)) }),
  rank: z.object({ scores: z.array(z.number()) }),
  recognise: z
    .array(
      z.object({
        confidence: z.number(),
        box,
        words: z.array(z.object({ text: z.string(), spaced: z.boolean(), box })),
      }),
    )
    .nullable(),
} as const satisfies { readonly [Name in AskName]: z.ZodType<Asks[Name]['output']> };

/** @throws LonghandError `engine-failed` if the response does not match its schema */
export function answerOf<Name extends AskName>(name: Name, value: unknown): Asks[Name]['output'] {
  const parsed = ANSWERS[name].safeParse(value);
  if (parsed.success) return parsed.data as Asks[Name]['output'];
  throw new LonghandError('engine-failed', `[engine] ${name}: ${firstProblem(parsed.error)}`);
}

const Update = z.object({
  event: TurnEvent,
  ids: z.array(z.number().int()).optional(),
  scores: z.array(z.object({ bytes: z.array(z.number()), top: z.array(z.unknown()) })).optional(),
  keptIds: z.number().int().optional(),
  stop: z.string().nullish(),
});

const Message = z.union([
  z.object({ id: z.number(), value: z.unknown() }),
  z.object({ id: z.number(), failure: Failure }),
  z.object({ turnId: z.string(), updates: z.array(Update) }),
  z.object({ pulse: z.object({ running: z.number(), steps: z.number(), loading: z.boolean() }) }),
  z.object({ status: EngineStatus }),
]);

export const isFromEngine = (message: unknown): message is FromEngine => Message.safeParse(message).success;

export type EngineProcess = Supervised<ToEngine, FromEngine>;
export type StartEngine = () => Promise<EngineProcess>;
