/** Names of supported families in configurations (`model_type`, `general.architecture`). Only used to sort search
 *  results; the engine decides about a model. A test compares the list with the engine's. */
export const MODEL_TYPES: ReadonlySet<string> = new Set([
  'bert',
  'lfm2',
  'lfm2_moe',
  'lfm2moe',
  'llama',
  'minicpm_sala',
  'qwen2',
  'qwen3',
  'qwen3_5',
  'qwen3_5_text',
  'qwen35',
  'qwen3_5_moe',
  'qwen3_5_moe_text',
  'qwen35moe',
  'qwen3_next',
  'qwen3next',
]);

/** Whether a repository is of a supported family according to its card; null if the card does not say. */
export function runsByCard(modelType: string | undefined, tags: readonly string[]): boolean | null {
  if (modelType !== undefined) return MODEL_TYPES.has(modelType);
  return tags.some((tag) => MODEL_TYPES.has(tag)) ? true : null;
}
