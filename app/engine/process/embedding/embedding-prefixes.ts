import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import type * as Addon from '../../../../native/addon/index.d.ts';
import { LonghandError } from '../../../protocol/index.ts';
import { readModelJson } from '../model/model-json.ts';

/** Prefixes and limits of an encoder. */
export type EmbedderText = {
  /** Maximum sequence length it was trained with. */
  longest: number;
  prefixes: { query: string; passage: string };
};

const SentenceBert = z.object({ max_seq_length: z.number().int().min(8).nullish() });
const SentenceTransformers = z.object({ prompts: z.record(z.string(), z.string()).nullish() });
const Config = z.object({ _name_or_path: z.string().nullish() });

/** From the sentence-transformers files beside the weights; what is documented only in papers and model cards
 *  (e5: arXiv 2212.03533, bge: arXiv 2309.07597) is decided by name.
 *  @throws LonghandError `model-broken`, naming the file */
export async function readEmbedderText(addon: Pick<typeof Addon, 'ggufMetadata'>, path: string): Promise<EmbedderText> {
  if (path.toLowerCase().endsWith('.gguf')) {
    const name = (await addon.ggufMetadata(path))['general.name'];
    return {
      longest: Number.POSITIVE_INFINITY,
      prefixes: prefixesOf(`${typeof name === 'string' ? name : ''} ${basename(path)}`),
    };
  }
  const folder = statSync(path).isFile() ? dirname(path) : path;
  const { max_seq_length } = read(folder, 'sentence_bert_config.json', SentenceBert);
  const { prompts } = read(folder, 'config_sentence_transformers.json', SentenceTransformers);
  const { _name_or_path } = read(folder, 'config.json', Config);
  const named = prefixesOf(`${_name_or_path ?? ''} ${basename(folder)}`);
  return {
    longest: max_seq_length ?? Number.POSITIVE_INFINITY,
    prefixes: {
      query: prompts?.query ?? named.query,
      passage: prompts?.passage ?? prompts?.document ?? named.passage,
    },
  };
}

export function prefixesOf(name: string): EmbedderText['prefixes'] {
  if (/\be5\b/i.test(name)) return { query: 'query: ', passage: 'passage: ' };
  if (/\bbge-.*\bzh\b/i.test(name)) return { query: '为这个句子生成表示以用于检索相关文章：', passage: '' };
  if (/\bbge-(?!m3)/i.test(name))
    return { query: 'Represent this sentence for searching relevant passages: ', passage: '' };
  return { query: '', passage: '' };
}

function read<T>(folder: string, name: string, schema: z.ZodType<T>): T {
  const json = readModelJson(folder, name) ?? {};
  try {
    return schema.parse(json);
  } catch (error) {
    throw new LonghandError('model-broken', `[${name}] ${error instanceof Error ? error.message : error}`);
  }
}
