import { z } from 'zod';
import type * as Addon from '../../native/addon/index.d.ts';
import type { PictureSource } from '../pictures/picture-decoder.ts';
import type { Supervised } from '../process/supervisor.ts';
import {
  type ChatId,
  Device,
  type ElsewhereId,
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
  type SamplingSettings,
  type Settings,
  TurnEvent,
  type TurnId,
} from '../protocol/index.ts';
import type { Tool, ToolCall } from '../text/chat-template.ts';
import type { ParsedCall } from '../text/tool-calls/call-formats.ts';
import type { AnswerWithCalls } from '../text/tool-calls/call-grammar.ts';

//  What the core and the engine process say to each other. Both ends are ours and of one build, so what the core asks are types;
//  what comes back is parsed all the same, since files of others are opened there.

/** A message as the template gets it. `ids`: the tokens the model wrote for it, sent again as they were. */
export type PromptMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  thinking: string;
  ids: number[] | null;
  /** What an assistant called. */
  calls?: ToolCall[];
  /** What a user shows, before the text. */
  pictures?: PromptPicture[];
  /** Of a tool: which call this is the result of, and of which tool. */
  answers?: { callId?: string; name?: string };
};

/** A picture as a prompt has it; its size is that of the upright picture. */
export type PromptPicture = { source: PictureSource; width: number; height: number; detail: PictureDetail };

export type Prompt = {
  messages: PromptMessage[];
  /** What the model may call. */
  tools?: Tool[];
  thinking: boolean;
  /** A text that is gone on with as it is: no template, no messages. With a suffix, what is missing in front of it. */
  raw?: RawPrompt;
  /** The begin of the answer, when an answer is gone on with. */
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
  /** Used in the place of the model's own. */
  template: string | null;
  /** A file that keeps its packed weights for the next load. */
  packed: string | null;
  /** Bytes that what was read may take; changes without a load. */
  cacheBytes: number;
  /** Where what was read of chats stays for the next start, and how many bytes of it; changes without a load. */
  cacheDisk: { folder: string; bytes: number } | null;
  /** Where a model runs that is none of this computer: nothing of the above is true of it, and it is never loaded. */
  elsewhere?: { engineId: ElsewhereId; model: string; contextLength: number | null };
};

/** What decides how many tokens a text has: the tokenizer and the template. */
export type CountedBy = Pick<LoadTarget, 'path' | 'template' | 'elsewhere'>;

/** `server`: another program asked. */
export type Priority = 'chat' | 'server' | 'title';

/** An encoder, in memory beside the model of the chat. */
/** `adapter`: the folder of one that makes a cross-encoder of an encoder. */
export type EmbedderTarget = Pick<LoadTarget, 'path' | 'device' | 'threads'> & { adapter?: string };

export type Embedding = {
  target: EmbedderTarget;
  texts: string[];
  /** What stands before each text, where the encoder wants something there. */
  kind: 'query' | 'passage';
  /** Somebody waits for it. Else it is read when nothing is written, and what is done by then comes back. */
  urgent: boolean;
};

/** Vectors of length 1, in the order of the texts. Fewer than there were texts: something more urgent came; ask again for
 *  the rest. */
export type Embedded = { vectors: Float32Array[] };

/** A question and passages that a cross-encoder reads together with it, each for itself. */
export type Ranking = { target: EmbedderTarget; query: string; texts: string[] };

/** In the order of the texts; higher is better. */
export type Ranked = { scores: number[] };

/** A line that the recogniser of the system read in a picture; boxes in its pixels. */
export type RecognisedLine = Addon.RecognisedLine;

/** What an answer may look like. */
export type GrammarText =
  | { kind: 'json-schema' | 'regex' | 'gbnf'; text: string }
  /** Calls, in the form that the model's template asks for. */
  | ({ kind: 'calls' } & AnswerWithCalls);

export type Generation = {
  turnId: TurnId;
  /** Whose prompt it is, so that what is kept of it on disk goes with the chat; null: nothing is kept there. */
  chatId: ChatId | null;
  priority: Priority;
  /** Loaded first when another model, or none, is in memory. */
  target: LoadTarget;
  prompt: Prompt;
  sampling: SamplingSettings;
  stops: string[];
  /** Binds the answer, not its thinking; null or absent: it is free. */
  grammar?: GrammarText | null;
  /** How many alternatives are told of every token of the answer, beside how likely it was; null or absent: nothing is. */
  logprobs?: number | null;
  /** Thinking is closed with the family's own tokens when either runs out. */
  thinkingBudget: Settings['thinkingBudget'];
  /** Tokens of thinking after which a person is asked whether it shall go on; absent: nobody is. */
  softBudget?: number | null;
  loopGuard: Settings['loopGuard'] | null;
};

/** How likely a token was: the natural logarithm of its share among all that might have come, before temperature and filters.
 *  Its text as bytes: a token may be a part of a character. */
export type TokenLogprob = { bytes: number[]; logprob: number };
/** `top`: the likeliest, the best first. */
export type TokenScore = TokenLogprob & { top: TokenLogprob[] };

/** An event of a turn with what the store needs and the screen does not. */
export type TurnUpdate = {
  event: TurnEvent;
  /** Tokens behind a delta, or tokens without text (the end of thinking). */
  ids?: number[];
  /** Of the tokens of an answer, where they were asked for. */
  scores?: TokenScore[];
  /** With `retracted`: how many tokens of the answer are kept. */
  keptIds?: number;
  /** With `finished`: what was called, where an engine elsewhere tells calls from text itself. */
  calls?: ParsedCall[];
};

export type Loaded = { backEnd: string; memoryBytes: number; contextLength: number };

/** `own`: the template that came with the model; `text`: a conversation as the model would get it. */
export type Preview = { own: string | null; text: string };

export type Inspected = {
  description: ModelDescription;
  thinking: NonNullable<ModelEntry['thinking']>;
  /** What a GGUF file calls itself, the best first. */
  names: string[];
};

/** What can be read of a model without its weights. */
export type Headers = {
  config: string;
  tensors: { name: string; type: string; shape: number[] }[];
  container: ModelDescription['container'];
};

/** Questions with one answer. */
export type Asks = {
  devices: { input: null; output: Device[] };
  inspect: { input: { path: string }; output: Inspected };
  /** The verdict on a model that is not here, from its headers alone. */
  describe: { input: Headers; output: ModelDescription };
  preview: { input: { path: string; template: string | null }; output: Preview };
  /** The chat template that this model is asked with; null where it has none. */
  template: { input: CountedBy; output: string | null };
  /** Bytes a second that memory is read with; 0 when it could not be measured. Waits for a running answer. */
  bandwidth: { input: null; output: number };
  load: { input: LoadTarget; output: Loaded };
  unload: { input: null; output: null };
  /** Of the model in memory; null without one. */
  promptCache: { input: null; output: Omit<PromptCacheUse, 'diskBytes' | 'hitShare'> | null };
  setPromptCache: { input: { bytes: number; disk: LoadTarget['cacheDisk'] }; output: null };
  /** Of a chat, on disk. */
  erasePromptCache: { input: { chatId: ChatId }; output: null };
  clearPromptCache: { input: null; output: null };
  /** Tokens of the prompt as it would be sent to this model, which need not be in memory. */
  count: { input: { model: CountedBy; prompt: Prompt }; output: number };
  /** Tokens of a text alone. */
  countText: { input: { model: CountedBy; text: string }; output: number };
  /** Tokens of a picture. */
  countPicture: { input: { model: CountedBy; picture: Omit<PromptPicture, 'source'> }; output: number };
  embed: { input: Embedding; output: Embedded };
  rank: { input: Ranking; output: Ranked };
  /** Lines of a picture (PNG, JPEG …), where the system reads pictures (macOS); null elsewhere. */
  recognise: {
    input: { picture: Uint8Array };
    output: RecognisedLine[] | null;
  };
};
export type AskName = keyof Asks;

/** Engine states as the engine process itself knows them; the supervisor adds the rest. */
export type InnerStatus = Extract<EngineStatus, { phase: 'idle' | 'loading' | 'ready' | 'busy' }>;

/** How native threads get on: jobs that run, steps they have taken since the process began. */
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

/** What an answer has to be. */
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
  promptCache: PromptCacheUse.omit({ diskBytes: true, hitShare: true }).nullable(),
  setPromptCache: z.null(),
  erasePromptCache: z.null(),
  clearPromptCache: z.null(),
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

/** @throws LonghandError `engine-failed` when it does not fit */
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
