import { z } from 'zod';
import { FunctionTool, MAX_ALTERNATIVES } from './openai/openai-body.ts';
import { MAX_PICTURES, ofBase64 } from './pictures.ts';

//  Request bodies of Ollama's API: https://github.com/ollama/ollama/blob/main/docs/api.md

const Options = z.looseObject({
  temperature: z.number().min(0).max(5).optional(),
  top_k: z.number().int().min(0).max(1000).optional(),
  top_p: z.number().min(0).max(1).optional(),
  min_p: z.number().min(0).max(1).optional(),
  repeat_penalty: z.number().min(0.5).max(2).optional(),
  presence_penalty: z.number().min(-2).max(2).optional(),
  frequency_penalty: z.number().min(-2).max(2).optional(),
  seed: z.number().int().optional(),
  /** Below 1: unlimited. */
  num_predict: z.number().int().max(1_000_000).optional(),
  stop: z.union([z.string().transform((stop) => [stop]), z.array(z.string()).max(16)]).optional(),
});

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** How long a model stays in memory, parsed to milliseconds: from seconds, or a duration such as "1h30m"; null if negative: for ever. */
const KeepAlive = z.union([z.number(), z.string()]).transform((given, context): number | null => {
  const text = typeof given === 'number' ? `${given}s` : /^-?\d+$/.test(given) ? `${given}s` : given;
  if (!/^-?(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) {
    context.addIssue({ code: 'custom', message: 'has to be seconds, or a duration as "5m" or "1h30m"' });
    return z.NEVER;
  }
  if (text.startsWith('-')) return null;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
});

export const Asked = z.looseObject({
  model: z.string().min(1).max(500),
  stream: z.boolean().optional(),
  think: z.union([z.boolean(), z.enum(['low', 'medium', 'high'])]).nullish(),
  options: Options.nullish(),
  /** A schema, or "json" for any object. */
  format: z
    .union([z.enum(['', 'json']), z.record(z.string(), z.unknown())], 'has to be "json" or a JSON schema')
    .nullish(),
  tools: z.array(FunctionTool).max(128).nullish(),
  keep_alive: z.preprocess((given) => given ?? undefined, KeepAlive.optional()),
  logprobs: z.boolean().optional(),
  top_logprobs: z.number().int().min(0).max(MAX_ALTERNATIVES).optional(),
});
const Pictures = z
  .array(
    z.string().transform((text, context) => {
      const bytes = ofBase64(text);
      if (bytes) return bytes;
      context.addIssue({ code: 'custom', message: 'has to be a picture in base64' });
      return z.NEVER;
    }),
  )
  .max(MAX_PICTURES)
  .nullish();

export const ChatBody = Asked.extend({
  messages: z.array(
    z.looseObject({
      role: z.enum(['system', 'user', 'assistant', 'tool']),
      content: z.string(),
      thinking: z.string().optional(),
      images: Pictures,
      tool_calls: z
        .array(z.looseObject({ function: z.looseObject({ name: z.string(), arguments: z.unknown() }) }))
        .optional(),
      tool_name: z.string().max(200).optional(),
    }),
  ),
});
export const GenerateBody = Asked.extend({
  prompt: z.string().default(''),
  system: z.string().optional(),
  images: Pictures,
  /** Continued verbatim, without a template. */
  raw: z.boolean().optional(),
  suffix: z.string().optional(),
});
export const EmbedBody = z.looseObject({
  model: z.string().min(1).max(500),
  input: z.union([z.string().transform((text) => [text]), z.array(z.string()).max(2048)]),
});
export const ShowBody = z.looseObject({ model: z.string().optional(), name: z.string().optional() });
