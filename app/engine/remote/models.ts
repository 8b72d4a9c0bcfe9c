import { isReadableName, type ListedModel, MAX_REMOTE_MODELS } from '../../protocol/index.ts';
import { addressInfoOf } from './address.ts';
import { askList, type Reach, type Timeouts } from './connection.ts';
import { engineError } from './failures.ts';

//  The model list of a remote engine. Servers differ in what they report besides the name; the fields of common ones are read.

/** Models that can generate text, in the engine's order. @throws LonghandError */
export async function listModels(reach: Reach, signal: AbortSignal, timeouts: Timeouts): Promise<ListedModel[]> {
  const answer = record(await askList(reach, '/models', signal, timeouts));
  const listed = answer?.data ?? answer?.models;
  if (!Array.isArray(listed)) {
    const asked = { host: addressInfoOf(reach.address).host, key: reach.key };
    throw engineError('engine-foreign', asked, 'its list of models has no "data"');
  }
  const models = listed.flatMap((one) => modelOf(record(one)) ?? []);
  const once = new Map(models.map((one) => [one.model, one]));
  return [...once.values()].slice(0, MAX_REMOTE_MODELS);
}

const LONGEST_NAME = 300;

function modelOf(entry: Record<string, unknown> | null): ListedModel | null {
  const model = entry?.id ?? entry?.name;
  if (!entry || typeof model !== 'string' || model.length > LONGEST_NAME || !isReadableName(model)) return null;
  if (writesNothing(entry)) return null;
  return { model, contextLength: contextOf(entry), pictures: seesIn(entry) };
}

/** Longhand says `kind`, LM Studio `type`. */
const writesNothing = ({ kind, type }: Record<string, unknown>): boolean =>
  kind === 'encoder' || type === 'embeddings' || type === 'embedding' || type === 'rerank';

/** vLLM and SGLang `max_model_len`, Longhand and OpenRouter `context_length`, LM Studio `loaded_context_length`, llama.cpp in `meta`. */
function contextOf(entry: Record<string, unknown>): number | null {
  const meta = record(entry.meta);
  const said = [
    entry.loaded_context_length,
    entry.max_model_len,
    entry.context_length,
    entry.context_window,
    entry.max_context_length,
    meta?.n_ctx,
    meta?.n_ctx_train,
  ];
  const found = said.find((value) => Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= 1e9);
  return found === undefined ? null : (found as number);
}

/** llama.cpp `capabilities`, LM Studio `type`, Longhand and OpenRouter `input_modalities`. */
function seesIn(entry: Record<string, unknown>): boolean | null {
  if (entry.type === 'vlm') return true;
  const modalities = entry.input_modalities ?? record(entry.architecture)?.input_modalities;
  if (Array.isArray(modalities)) return modalities.includes('image');
  const { capabilities } = entry;
  if (!Array.isArray(capabilities)) return null;
  return capabilities.some((one) => one === 'multimodal' || one === 'vision') || null;
}

const record = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
