/** The native addon, exactly as `native/addon/*.cc` implements it. No call holds the JavaScript thread over 5 ms: work
 *  runs on native threads and comes back as promises or callbacks. Errors are `Error` with `code`:
 *  `format` (bad file), `unsupported` (family, op or device), `memory`, `cancelled`, `context`, `state` (used after
 *  close), `argument`, `device` (a GPU failed), `internal` (our bug). Messages read "[where] what came, what is allowed". */

import type { AbortFlag } from './abort_flag.d.ts';
import type { MemoryNeeds, MemoryPlan, PlanOptions } from './memory_plan.d.ts';

export * from './abort_flag.d.ts';
export * from './memory_plan.d.ts';
export * from './weight_source.d.ts';

export type NumericPath = 'exact' | 'fast';
export type BackEnd = 'cpu' | 'metal' | 'vulkan';
export type KvType = 'f32' | 'f16' | 'q8' | 'q4';

export interface Device {
  backEnd: BackEnd;
  /** For Vulkan `vulkan:0`, ...; the string `load` takes. */
  id: string;
  available: boolean;
  name: string;
  detail: string;
  /** The tuning chosen for this device, and by whom; absent if there is none. */
  tuning?: string;
  memoryBytes: number;
  unified: boolean;
  /** Why it cannot be used here, when it cannot. */
  reason?: string;
}

export interface LayerKind {
  kind: 'attention' | 'gated-delta' | 'lightning' | 'sparse' | 'short-conv' | 'latent' | 'encoder';
  experts: boolean;
}

/** What headers alone tell about a checkpoint: the single verdict for load, inspect and remote files. */
export interface Description {
  supported: boolean;
  /** Every reason why not: unknown architecture, missing, extra or misshapen tensors, wrong config values. */
  problems: string[];
  /** Things left out on purpose (vision tower, quantisation converted at load, ...). */
  notices: string[];
  family: string;
  container: 'safetensors' | 'mlx' | 'gguf';
  layers: LayerKind[];
  hiddenSize: number;
  vocabularySize: number;
  contextLength: number;
  parameters: number;
  weightBytes: number;
  /** Bytes by stored type, for example `{ bf16: 1.4e9, f32: 36864 }`. */
  types: Record<string, number>;
  /** Bytes of weights one decoded token reads (only active experts). */
  activeBytes: number;
  /** Memory that does not grow with the context, and the part that does, for KV type f16. */
  stateBytes: number;
  contextBytesPerToken: number;
  /** Memory needs, computed from headers alone; null if the model is not supported. */
  memory: MemoryNeeds | null;
  mtp: boolean;
  /** An encoder gives embeddings and cannot generate. */
  encoder: boolean;
  /** An encoder that scores a question and a passage together, and gives no embeddings (a cross-encoder). */
  reranker: boolean;
  /** For a model with vision: the token that represents each row of a picture in a prompt, and how many patches a side
   *  become one row. */
  vision: { token: number; merge: number } | null;
}

export interface TensorEntry {
  name: string;
  /** As in the file: "BF16", "F32", "U32" (safetensors) or a GGUF type name "Q4_0". */
  type: string;
  shape: number[];
}

export interface LoadOptions {
  /** A `Device.id`; default the best available. */
  device?: string;
  standin?: boolean;
  threads?: number;
  /** Force an instruction set: "scalar", "avx2", ... Default from LONGHAND_CPU_ISA, else the best. */
  cpu?: string;
  /** Check every weight for NaN and infinities. */
  verify?: boolean;
  /** The vision tower file of a GGUF model ("mmproj"); default: the first matching one beside the model. */
  vision?: string;
  /** The folder of a low-rank adapter (PEFT's files) to apply to the weights. */
  adapter?: string;
  /** The file of packed weights of this model for the next load, on the CPU without an adapter: read if it belongs to these model files
   *  and this build and is complete, otherwise written after the load (as `<file>.part` until then). Its folder must exist. */
  packed?: string;
  /** Computes on the CPU and records the inputs of matrices (`Model.observed`). `covarianceOf`: their covariance too,
   *  for matrices of a tensor whose name ends so, or with one of these. `pairsOf`: of keys and queries with heads of this size
   *  the lengths of rotary pairs. */
  observe?: { covarianceOf?: string | readonly string[]; pairsOf?: number };
  onProgress?: (done: number, total: number) => void;
  /** Has a GPU's kernels compiled in the background, and hears how many of all are ready; never called where there are
   *  none to compile. Goes on after `load`; a question that comes earlier compiles what it needs. Ends with `close`. */
  onKernels?: (done: number, total: number) => void;
  signal?: AbortFlag;
}

export interface SamplingOptions {
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  repetitionPenalty?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  penaltyWindow?: number; // in tokens; -1: all
  dry?: { multiplier: number; base: number; allowedLength: number; window: number; breakers: number[] };
  seed?: number;
  logprobs?: number;
  /** Tokens never sampled (rows of padding above the vocabulary, ...); what is added to the logits of others. */
  forbidden?: number[];
  bias?: { tokens: number[]; values: number[] };
  /** Texts that the answer may follow: a token that goes on as one does gains up to twice its weight (decode/exemplars.h). */
  exemplars?: { tokens: number[]; weight: number }[];
}

/** A picture for a model with a vision tower, prepared as its preprocessor says: patches [rows * columns, values of one
 *  patch], block after block of those that become one row. It takes the place of as many of the model's image tokens in
 *  the prompt; several pictures in order. */
export interface Picture {
  pixels: Float32Array;
  /** Frames (1), rows and columns, in patches. */
  grid: number[];
}

export interface GenerateOptions extends SamplingOptions {
  maxTokens: number;
  stopTokens?: number[];
  path?: NumericPath;
  signal?: AbortFlag;
  /** So many tokens at the end of the prompt are the answer so far: what the session holds of them goes on as it is. */
  continues?: number;
  /** What is read goes into the model's prompt cache; true unless said otherwise. */
  cachePrompt?: boolean;
  /** The owner of its entries on disk (`Model.setPromptCacheDisk`): letters, digits, _ and -. Without one nothing is stored there. */
  owner?: string;
  pictures?: Picture[];
  /** Binds the answer, not its thinking: which is open already, or may be opened (with the tokens `opens`), and ends with
   *  `closes`. What of the answer is in the prompt (`continues`) goes through the grammar first. Tokens that nothing else can
   *  be are read in one pass; the answer ends by itself where nothing can follow. */
  grammar?: Grammar;
  thinking?: 'none' | 'open' | 'may-open';
  opens?: number[];
  closes?: number[];
  /** At every prefill chunk; `cached` tokens were taken from what the session already had. */
  onPrefill?: (done: number, total: number, cached: number) => void;
  /** Generated tokens in order, one or several a call; a stop token is included. May return nothing only. */
  onTokens?: (tokens: TokenEvent[]) => void;
}

export interface TokenEvent {
  id: number;
  /** Milliseconds since generate began. */
  at: number;
  logprob?: number;
  top?: { id: number; logprob: number }[];
}

export interface GenerateResult {
  tokens: number[];
  finish: 'stop' | 'length' | 'cancelled' | 'context';
  timings: {
    promptTokens: number;
    cachedTokens: number;
    prefillMs: number;
    /** Decode clock only: from the first token to the last. */
    decodeMs: number;
    firstTokenMs: number;
    /** Time the GPU worked, by its own clock; absent where the CPU computes. */
    deviceMs?: number;
  };
  reuse: Reuse;
}

/** How much of a prompt was reused, and why known tokens were recomputed. */
export interface Reuse {
  tokens: number;
  requested: number;
  /** Tokens at the front that were read before, whether or not they were still cached. */
  known: number;
  /** What is known goes on with another token than `known` of the prompt; false where the prompt only adds to it. */
  differs: boolean;
  /** `nothing` was read again; `cold`: nothing was known; `boundary`: reading begins at ends of messages and multiples of
   *  512, and none lies in what is known; `evicted`: the memory was needed, or there was none; `unread`: an answer was
   *  written and has not been read back; `path`: known on the other numeric path only. */
  reason: 'nothing' | 'cold' | 'boundary' | 'evicted' | 'unread' | 'path';
}

export interface SessionOptions {
  contextLength?: number;
  kvType?: KvType;
  path?: NumericPath;
}

/** One mutable timeline. Calls on one session are queued; `generate` always takes the full prefix. Calls on several
 *  sessions of a model take turns: in a round every answer that is being written gets a token, all in one pass, and one
 *  other call reads a part of its prompt. */
export class Session {
  readonly contextLength: number;
  readonly memoryBytes: number;
  /** Tokens the session has read: the prompt and what was generated, except the last token, which is read when something
   *  follows it. */
  tokens(): Int32Array;
  generate(prompt: Int32Array, options: GenerateOptions): Promise<GenerateResult>;
  /** Reads what every prompt that begins with `prefix` has in common, up to the last end of a message or multiple of 512,
   *  so that the next one finds it. Cancelled, what was read by then stays. */
  read(
    prefix: Int32Array,
    options?: { stopTokens?: number[]; path?: NumericPath; owner?: string; pictures?: Picture[]; signal?: AbortFlag },
  ): Promise<{ length: number; cachedTokens: number; cancelled: boolean }>;
  /** Logits for the last token or for all of them: [rows, vocabulary]. Starts from an empty state; the session is left
   *  holding `tokens`. `chunk` forces prefill chunk sizes (tests). The last `generated` tokens are read one by one, as
   *  if the model had written them. */
  logits(
    tokens: Int32Array,
    options?: {
      all?: boolean;
      path?: NumericPath;
      chunk?: number;
      generated?: number;
      pictures?: Picture[];
      signal?: AbortFlag;
    },
  ): Promise<{ rows: number; columns: number; data: Float32Array }>;
  /** Log-probabilities (natural) of the tokens of a text from position `from` (1 unless given) on: [positions]. With `top`
   *  the likeliest tokens of every position and theirs: [positions, top], likeliest first. With `at`, the same number of
   *  tokens for every position, theirs. No more than 64 MB of logits exist at a time. Starts from an empty state; the
   *  session is left holding `tokens` but the last. */
  score(
    tokens: Int32Array,
    options?: { from?: number; top?: number; at?: number[]; path?: NumericPath; signal?: AbortFlag },
  ): Promise<{ logprobs: Float32Array; top: Int32Array; topLogprobs: Float32Array; atLogprobs: Float32Array }>;
  /** After the embedding, each layer and the final norm: [tokens, hidden] each. */
  trace(
    tokens: Int32Array,
    options?: { path?: NumericPath; signal?: AbortFlag },
  ): Promise<{ name: string; rows: number; columns: number; data: Float32Array }[]>;
  /** Recurrent and convolution states as they are now, by layer. */
  states(): Promise<{ layer: number; kind: 'recurrent' | 'conv'; shape: number[]; data: Float32Array }[]>;
  /** Remembers the state at the present length (also done by itself at the places of engine.md section 3). */
  snapshot(): Promise<number>;
  /** Lengths that can be restored without recomputing tokens. */
  snapshots(): number[];
  /** Cuts the timeline to `length` tokens. Exact: what was after never happened. Without a snapshot there, `replayed` tokens after the
   *  nearest earlier one are read again. Cancelled while they are, it rejects with `cancelled` and the timeline is shorter. */
  rewind(length: number, options?: { signal?: AbortFlag }): Promise<{ replayed: number }>;
  reset(): Promise<void>;
  close(): void;
}

export class Model {
  readonly description: Description;
  readonly device: Device;
  /** The state of the file of packed weights (`LoadOptions.packed`). */
  readonly packed: 'none' | 'read' | 'writing' | 'written';
  readonly vocabularySize: number;
  readonly contextLength: number;
  createSession(options?: SessionOptions): Session;
  /** Of every matrix that read something since a load with `observe`: its tensors, and means over tokens. squares [columns],
   *  covariance [columns, columns], pairs [rows / 2]; those that were not asked for are empty. Or only of the matrix of this tensor. */
  observed(tensor?: string): Promise<
    {
      names: string[];
      tokens: number;
      squares: Float64Array;
      covariance: Float64Array<ArrayBuffer>;
      pairs: Float64Array;
    }[]
  >;
  /** Encoder families: the vector of a text, pooled and normalised as the checkpoint says. With `lengths` the tokens are
   *  those of several texts one after the other, read in one pass; their vectors follow each other as well. */
  embed(tokens: Int32Array, lengths?: Int32Array, options?: { signal?: AbortFlag }): Promise<Float32Array>;
  /** Cross-encoders: how well the second part of each text answers the first; higher is better. Texts of `lengths` tokens
   *  stand one after the other and are read in one pass; `seconds`: where in its text each second part begins. */
  rank(
    tokens: Int32Array,
    seconds: Int32Array,
    lengths: Int32Array,
    options?: { signal?: AbortFlag },
  ): Promise<Float32Array>;
  /** Bytes read from expert weights since load (tests of sparsity). */
  expertBytesRead(): number;
  /** The memory of this model with sessions of this many tokens. */
  memoryPlan(options?: PlanOptions): MemoryPlan;
  /** The most that one pass has taken so far for activations and scratch; 0 on back ends that do not count it. */
  scratchBytes(): number;
  /** What the sessions of this model have read, kept for all of them: bytes in use, and what it may take. */
  promptCache(): { budgetBytes: number; bytes: number; diskBudgetBytes: number; diskBytes: number };
  /** The budget in bytes; 0, the default after `load`, turns it off. It shrinks when memory is short. */
  setPromptCache(bytes: number): void;
  /** This model's in memory, and those of all models on disk. */
  clearPromptCache(): Promise<void>;
  /** Keeps what is read also in files, which the next process finds: at most `bytes` in `folder`, of all models together.
   *  Without a folder, as after `load`, nothing is kept on disk; what is there stays. With `key`, 32 bytes, the files are
   *  encrypted. What is there for another key, or for none, is deleted. */
  setPromptCacheDisk(disk: { folder: string; bytes: number; key?: Uint8Array | null } | null): Promise<void>;
  /** Deletes everything of one owner from disk. */
  erasePromptCache(owner: string): Promise<void>;
  /** Resolves once everything pending is written. */
  flushPromptCache(): Promise<void>;
  /** MTP head over a prompt, `next` shifted by one: draft logits [tokens, vocabulary] (golden tests; speculation later).
   *  With `steps` the head goes on from its own state and best token, one more row a step. */
  draftLogits(
    tokens: Int32Array,
    next: Int32Array,
    options?: { steps?: number },
  ): Promise<{ rows: number; columns: number; data: Float32Array }>;
  /** What the vision tower makes of pictures that follow each other, `grids` of three numbers each: merged rows, or with
   *  `merged` false what its last block gives for every patch. */
  see(
    pixels: Float32Array,
    grids: Int32Array,
    options?: { merged?: boolean; path?: NumericPath },
  ): Promise<{ rows: number; columns: number; data: Float32Array }>;
  /** From here on every kernel is timed by the device's own clock, which makes it slower: nothing runs side by side. False
   *  where the device gives no such times. */
  profile(): Promise<boolean>;
  kernelTimes(): Promise<{ name: string; count: number; ms: number }[]>;
  /** Changes the number of CPU threads while running. */
  setThreads(count: number): void;
  /** The system is short of memory: frees what can be computed again (half of the prompt cache, snapshots, the vision tower, scratch
   *  memory), before the next pass of a running answer or at once; with `critical` as much as possible. Metal hears of it by
   *  itself. */
  relieveMemory(options?: { critical?: boolean }): void;
  close(): void;
}

/** Constraints on an answer, for one vocabulary. */
export interface Grammar {
  /** After these tokens: a bit for each token that may come (32 a word), whether the text may end, whether it has to, and
   *  what has to come as far as there is no choice. Null where the tokens do not fit. */
  after(tokens: Int32Array): {
    allowed: Uint32Array;
    ends: boolean;
    complete: boolean;
    forced: Uint8Array;
    forcedTokens: Int32Array;
  } | null;
  /** The same bits, computed token by token (tests). */
  admits(tokens: Int32Array): Uint32Array;
}
export interface Vocabulary {
  /** `parts`: JSON of texts that follow each other, lists of such, { control: token }, { regex }, { schema }, { choice: parts },
   *  { optional: part } and { repeat: part, most? }: any number of times, or `most`. Rejects with `argument` where the text cannot
   *  be read, cannot be kept to, or becomes too large. */
  grammar(kind: 'json-schema' | 'regex' | 'gbnf' | 'parts', text: string): Promise<Grammar>;
}
/** The bytes of all tokens one after the other, and where each ends. A control token is the byte 0xff and its number in three
 *  bytes; one without a text adds none. */
export function vocabulary(texts: Uint8Array, ends: Uint32Array): Promise<Vocabulary>;

/** `standin`: Metal as the stand-in of the tests has it (as for `load`). */
export function devices(options?: { standin?: boolean }): Promise<Device[]>;
/** Reads headers only. `path` and `vision` as `load`. */
export function inspect(
  path: string,
  options?: { vision?: string },
): Promise<Description & { files: string[]; config: unknown; tensors: TensorEntry[] }>;
export function describe(
  config: string,
  tensors: TensorEntry[],
  container: 'safetensors' | 'mlx' | 'gguf',
): Description;
/** Bytes a second that all cores together read from main memory; 0 when there is no room to measure. About 0.2 s. */
export function memoryBandwidth(): Promise<number>;
/** In pixels from the top left corner of a picture. */
export interface PixelBox {
  left: number;
  top: number;
  right: number;
  bottom: number;
}
export interface RecognisedLine {
  /** 0 to 1. */
  confidence: number;
  box: PixelBox;
  /** `spaced`: white space stands before it. */
  words: { text: string; spaced: boolean; box: PixelBox }[];
}
/** Whether the system can recognise text in pictures (macOS, Vision). */
export function canRecognise(): boolean;
/** Lines of a picture in reading order. Rejects with `unsupported` where the system cannot, with `format` for what it cannot decode. */
export function recognise(picture: Uint8Array): Promise<RecognisedLine[]>;
/** GGUF metadata that JavaScript needs: tokenizer lists, chat template, special ids. Big lists as arrays. */
export function ggufMetadata(path: string): Promise<Record<string, unknown>>;
export function load(path: string, options?: LoadOptions): Promise<Model>;
/** Of all native threads of this process: jobs that run, and steps that were taken (layers computed, weights prepared). A
 *  count of steps that stands still for minutes while a job runs means that it hangs. */
export function pulse(): { running: number; steps: number };
/** Version of the addon's source, for caches and metrics. */
export const build: { version: string; commit: string; compiler: string; backEnds: BackEnd[] };
/** Direct access to single ops and block formats for tests: see test/ops. */
export const testing: Record<string, (...args: never[]) => unknown>;
