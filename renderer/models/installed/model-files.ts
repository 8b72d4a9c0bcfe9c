//  Finds models among files by name alone, before a byte of them is read.

/** `opens`: the .gguf file, or the folder of a safetensors model (`''` for the top). `parts`: all files that belong to it. */
export type ModelFiles = { name: string; opens: string; parts: string[] };

const SPLIT = /^(.*)-\d{5}-of-\d{5}\.gguf$/i;
/** The vision tower of a GGUF model, as llama.cpp names it. */
export const isVisionFile = (path: string) => /(^|\/)[^/]*mmproj[^/]*\.gguf$/i.test(path);
const isGguf = (path: string) => /\.gguf$/i.test(path) && !isVisionFile(path);
const isWeights = (path: string) => /\.safetensors$/i.test(path);

const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
const lastOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const without = (name: string) => name.replace(SPLIT, '$1').replace(/\.(gguf|safetensors)$/i, '');

/** Paths use `/` and are relative to what was dropped. Other files in the folder of a model (licence, tokenizer) count as part
 *  of it and not as documents. */
export function modelsAmong(paths: readonly string[]): { models: ModelFiles[]; others: string[] } {
  const models = [...Map.groupBy(paths, folderOf)].flatMap(([folder, inside]) => modelsIn(folder, inside, paths));
  const parts = new Set(models.flatMap((model) => model.parts));
  const folders = new Set(models.map(({ parts: [first = ''] }) => folderOf(first)));
  // Loose files were chosen one by one, so files beside a model are meant as documents.
  const belongs = (path: string) => parts.has(path) || (folderOf(path) !== '' && folders.has(folderOf(path)));
  return { models, others: paths.filter((path) => !belongs(path)) };
}

function modelsIn(folder: string, inside: readonly string[], all: readonly string[]): ModelFiles[] {
  const weights = inside.filter(isWeights);
  const whole = weights.length > 0 && inside.some((path) => lastOf(path) === 'config.json');
  const pooling = folder === '' ? '1_Pooling' : `${folder}/1_Pooling`;
  const safetensors = whole
    ? [{ name: lastOf(folder) || without(lastOf(weights[0] ?? '')), opens: folder, parts: inside.filter(isPart) }]
    : // Alone it is not a model, but its folder may be one.
      weights.slice(0, 1).map((path) => ({ name: without(lastOf(path)), opens: path, parts: weights }));
  for (const model of safetensors) model.parts.push(...all.filter((path) => folderOf(path) === pooling));
  const stems = Map.groupBy(inside.filter(isGguf), (path) => path.replace(SPLIT, '$1'));
  const towers = inside.filter(isVisionFile);
  const ggufs = [...stems.values()].map((parts) => {
    const sorted = parts.toSorted();
    const opens = sorted[0] as string;
    return { name: without(lastOf(opens)), opens, parts: [...sorted, ...towers] };
  });
  return [...safetensors, ...ggufs];

  function isPart(path: string): boolean {
    return !isGguf(path) && (folder !== '' || /\.(safetensors|json|jinja|model|txt)$/i.test(path));
  }
}
