import { z } from 'zod';
import { LonghandError } from '../protocol/errors.ts';
import type { ChatText } from './chat-template.ts';
import { thinkingMarkersOf } from './thinking.ts';
import { decode } from './tokenizer/detokenizer.ts';
import { textFromGguf } from './tokenizer/gguf-tokenizer.ts';
import { createTokenizer, type Tokenizer } from './tokenizer/tokenizer.ts';

/** Tokenizer, template and generation files beside the weights, as parsed JSON or text. */
export type TextFiles = {
  readonly tokenizer?: unknown;
  readonly tokenizerConfig?: unknown;
  readonly generationConfig?: unknown;
  readonly config?: unknown;
  readonly chatTemplate?: string;
};

export type SamplingDefaults = {
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly repetitionPenalty?: number;
};

/** Tokenizer, template and sampling of a model. */
export type ModelText = Omit<ChatText, 'template'> & {
  readonly template: string | null;
  /** Ids that end generation. */
  readonly stopIds: readonly number[];
  /** Ids before a prompt without template. */
  readonly before: readonly number[];
  readonly sampling: SamplingDefaults;
};

const Token = z.union([z.string(), z.object({ content: z.string() }).transform((token) => token.content)]).nullish();
const TokenizerConfig = z.object({
  bos_token: Token,
  eos_token: Token,
  add_bos_token: z.boolean().nullish(),
  chat_template: z.union([z.string(), z.array(z.object({ name: z.string(), template: z.string() }))]).nullish(),
});
const Ids = z.union([z.number().int(), z.array(z.number().int())]).nullish();
const amount = z.number().nullish();
const GenerationConfig = z.object({
  eos_token_id: Ids,
  do_sample: z.boolean().nullish(),
  temperature: amount,
  top_k: amount,
  top_p: amount,
  min_p: amount,
  repetition_penalty: amount,
});
const Config = z.object({ eos_token_id: Ids, text_config: z.object({ eos_token_id: Ids }).nullish() });

/** End-of-turn tokens of the families, for files that do not declare one. */
const ENDS = ['<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|end|>', '<end_of_turn>', '<|endoftext|>', '</s>'];

function parsed<T>(schema: z.ZodType<T>, value: unknown, file: string): T {
  const result = schema.safeParse(value ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new LonghandError('model-broken', `[${file}] ${issue?.path.join('.') || 'top level'}: ${issue?.message ?? ''}`);
}

/** @throws LonghandError `model-broken`, naming the file and the key */
export function modelTextFromFiles(files: TextFiles): ModelText {
  if (files.tokenizer === undefined) {
    throw new LonghandError('model-broken', '[tokenizer] tokenizer.json is missing; text needs one, token ids do not');
  }
  const tokenizer = createTokenizer(files.tokenizer);
  const config = parsed(TokenizerConfig, files.tokenizerConfig, 'tokenizer_config.json');
  const generation = parsed(GenerationConfig, files.generationConfig, 'generation_config.json');
  const model = parsed(Config, files.config, 'config.json');
  const named = [config.eos_token].flatMap((text) => (text ? (tokenizer.idOf(text) ?? []) : []));
  const bos = config.bos_token ? tokenizer.idOf(config.bos_token) : undefined;
  const before = tokenizer.around.before;
  return assemble(tokenizer, {
    template: files.chatTemplate ?? templateOf(config.chat_template),
    stops: [...list(generation.eos_token_id), ...list(model.eos_token_id ?? model.text_config?.eos_token_id), ...named],
    before: before.length === 0 && config.add_bos_token && bos !== undefined ? [bos] : before,
    bosToken: config.bos_token ?? null,
    eosToken: config.eos_token ?? null,
    sampling: samplingOf(generation),
  });
}

/** @throws LonghandError `model-broken`, naming the key */
export function modelTextFromGguf(metadata: Readonly<Record<string, unknown>>): ModelText {
  const text = textFromGguf(metadata);
  const tokenizer = createTokenizer(text.tokenizer);
  const word = (id: number | null | undefined) => (typeof id === 'number' ? decode(tokenizer, [id]) : null);
  return assemble(tokenizer, {
    template: text.chatTemplate,
    stops: text.eos,
    before: text.addBos && text.bos !== null ? [text.bos] : tokenizer.around.before,
    bosToken: word(text.bos),
    eosToken: word(text.eos[0]),
    sampling: samplingFromGguf(metadata),
  });
}

type Parts = Pick<ModelText, 'template' | 'before' | 'bosToken' | 'eosToken' | 'sampling'> & {
  stops: readonly number[];
};

function assemble(tokenizer: Tokenizer, { stops, ...rest }: Parts): ModelText {
  const ends = tokenizer.markers.filter((marker) => marker.special && ENDS.includes(marker.text));
  return {
    tokenizer,
    ...rest,
    stopIds: [...new Set([...stops, ...ends.map((marker) => marker.id)])],
    thinking: thinkingMarkersOf(tokenizer, rest.template),
    decode: (ids) => decode(tokenizer, ids),
  };
}

/** The same with another template; null: its own. */
export const withTemplate = <Text extends ModelText>(text: Text, template: string | null): Text =>
  template === null ? text : { ...text, template, thinking: thinkingMarkersOf(text.tokenizer, template) };

const list = (ids: z.infer<typeof Ids>): readonly number[] => (Array.isArray(ids) ? ids : ids == null ? [] : [ids]);

function templateOf(template: z.infer<typeof TokenizerConfig>['chat_template']): string | null {
  if (!Array.isArray(template)) return template ?? null;
  return (template.find(({ name }) => name === 'default') ?? template[0])?.template ?? null;
}

/** `do_sample: false` means greedy, regardless of other fields. */
function samplingOf(config: z.infer<typeof GenerationConfig>): SamplingDefaults {
  if (config.do_sample === false) return { temperature: 0 };
  return defined({
    temperature: config.temperature,
    topK: config.top_k,
    topP: config.top_p,
    minP: config.min_p,
    repetitionPenalty: config.repetition_penalty,
  });
}

/** Recommended sampling in newer GGUF files. */
function samplingFromGguf(metadata: Readonly<Record<string, unknown>>): SamplingDefaults {
  const number = (key: string) => {
    const value = metadata[`general.sampling.${key}`];
    return typeof value === 'number' ? value : undefined;
  };
  return defined({
    temperature: number('temp'),
    topK: number('top_k'),
    topP: number('top_p'),
    minP: number('min_p'),
    repetitionPenalty: number('penalty_repeat'),
  });
}

type Defined<T> = { [Key in keyof T]?: NonNullable<T[Key]> };
function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as Defined<T>;
}
