import { basename, isAbsolute } from 'node:path';
import { asReadableName } from '../../protocol/index.ts';

//  Names of models: from their metadata, or else from file names.

const MAX_NAME = 200;

/** An untrusted name as a plain line of text. */
export const plainName = (name: string): string => asReadableName(name).slice(0, MAX_NAME);

/** The name in a configuration. */
export function declaredName(text: string | null): string | null {
  try {
    const config: unknown = JSON.parse(text ?? '');
    const name = typeof config === 'object' && config !== null && '_name_or_path' in config ? config._name_or_path : '';
    return typeof name === 'string' && name !== '' && !isAbsolute(name) ? basename(name) : null;
  } catch {
    return null;
  }
}

/** A file name without extension. */
export const stemOf = (path: string): string => basename(path).replace(/\.gguf$/i, '');

/** The name in a GGUF file in readable form; null if meaningless. Many contain the folder they were
 *  converted in, a file name, or a hash. */
export function readableName(declared: string): string | null {
  const last = plainName(declared.split(/[\\/]/).findLast((part) => part.trim() !== '') ?? '').replace(/\.gguf$/i, '');
  if (!/\p{L}{2}/u.test(last) || EMPTY_NAME.test(last) || isId(last)) return null;
  return SLUG.test(last) ? spelledOut(last) : last;
}

/** Generic names from converters and trainers. */
const EMPTY_NAME =
  /^(llama|((ggml|my|the|base|merged?|final|output|converted)[-_ ])?(unnamed|unknown|models?|untitled|te?mp|hf|gguf|ggml|out(put)?|merged?|checkpoint|snapshots?|main|test)([-_ ]?(\d+|gguf|hf|merged|i?q\d\w*|f16|f32|bf16))*)$/i;

/** A hash, a database id, or a training step. */
const isId = (name: string): boolean =>
  /^(sha256[-:])?[0-9a-f]{12,}$/i.test(name) ||
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name) ||
  /^(checkpoint|step|epoch|run)[-_]?\d+$/i.test(name);

/** A file name: no spaces, no capital letters. */
const SLUG = /^(?=.*[-_])[a-z0-9]+([-_.][a-z0-9.]+)*$/;

/** Official spellings; other words are capitalised. */
const SPELLED = new Map(
  `AI BGE CodeLlama DeepSeek DPO EXAONE GLM GPT HF InternLM IT LFM LLM MiniCPM MiniLM MLX MoE ModernBERT OLMo OLMoE OpenChat
  OpenHermes OSS RL RWKV SALA SFT SmolLM StableLM StarCoder TinyLlama VL WizardLM`
    .split(/\s+/)
    .map((word) => [word.toLowerCase(), word]),
);

/** "qwen3.5-4b-instruct-q4_k_m" → "Qwen3.5 4B Instruct Q4_K_M". */
function spelledOut(slug: string): string {
  const quantisation = /(?:^|[-_.])((?:i?q\d(?:_[a-z0-9]+)*|mxfp4|nvfp4|bf16|f16|f32))$/.exec(slug);
  const words = slug.slice(0, quantisation?.index ?? slug.length).split(/[-_]/);
  const named = words.filter((word) => word !== '' && word !== 'gguf').map(spelled);
  return [...named, ...(quantisation?.[1] ? [quantisation[1].toUpperCase()] : [])].join(' ');
}

function spelled(word: string): string {
  // Sizes: 4b, 1.7b, a3b, 8x7b, 128k; versions keep their lower case.
  if (/^(a|e|\d+x)?\d+(\.\d+)?[bmkt]$/.test(word))
    return word.replace(/^[ae]|[bmkt]$/g, (letter) => letter.toUpperCase());
  if (/^v\d/.test(word)) return word;
  const [, letters = word, number = ''] = /^([a-z]+)([\d.]+)$/.exec(word) ?? [];
  return (SPELLED.get(letters) ?? letters.charAt(0).toUpperCase() + letters.slice(1)) + number;
}

/** Variants of one model share a name; the quantisation label distinguishes them, unless it is the whole name. */
export const withLabel = (name: string, label: string): string =>
  !QUANTISATION.test(label) || name.toLowerCase().includes(label.toLowerCase()) ? name : `${name} ${label}`;
const QUANTISATION = /^(I?Q\d\w*|TQ\d\w*|B?F(16|32)|MXFP4\w*|NVFP4)$/i;

/** The name without owner and format suffix. */
export const nameOfRepository = (repository: string): string =>
  decodeURIComponent(repository.slice(repository.lastIndexOf('/') + 1)).replace(/[-_.](gguf|safetensors)$/i, '');
