/** What configurations call the families that the engine runs (`model_type`, `general.architecture`). Only sorts what a
 *  search found; the verdict on a model is the engine's. A test holds the list to the engine's own. */
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

/** Whether a repository holds a family that runs, as far as its card says; null when it does not say. */
export function runsByCard(modelType: string | undefined, tags: readonly string[]): boolean | null {
  if (modelType !== undefined) return MODEL_TYPES.has(modelType);
  return tags.some((tag) => MODEL_TYPES.has(tag)) ? true : null;
}
