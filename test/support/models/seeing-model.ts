import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { golden } from '../addon.ts';
import { readSafetensors } from './formats.ts';
import { type SeeingConfig, toSeeingGguf } from './gguf-tower.ts';

//  A vision model: the random weights of the golden references, with a tokenizer of single letters and a template of its family.

const VOCABULARY = 203;
/** As in the configuration. */
const MARKERS: Readonly<Record<number, string>> = {
  1: '<|im_start|>',
  2: '<|im_end|>',
  195: '<|vision_start|>',
  196: '<|vision_end|>',
  197: '<|image_pad|>',
  198: '<|video_pad|>',
};

export const pictureFiles = (name: string): string => join(golden, 'pictures', name);

/** Writes the model below `parent`; returns its path. */
export function makeSeeingModel(parent: string): string {
  const folder = join(parent, 'Tiny Seer');
  mkdirSync(folder);
  for (const file of ['config.json', 'model.safetensors', 'preprocessor_config.json'])
    cpSync(join(golden, 'qwen3_5_vision', 'two_images', file), join(folder, file));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer()));
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ eos_token: MARKERS[2] }));
  writeFileSync(join(folder, 'chat_template.jinja'), TEMPLATE);
  return folder;
}

/** The same as llama.cpp stores it: a GGUF file with its tower (`mmproj`) beside it. Returns the path of the file. */
export function makeSeeingGguf(parent: string): string {
  const folder = join(parent, 'Tiny Seer GGUF');
  mkdirSync(folder);
  const from = join(golden, 'qwen3_5_vision', 'two_images');
  const config = JSON.parse(readFileSync(join(from, 'config.json'), 'utf8')) as SeeingConfig;
  const tensors = readSafetensors(readFileSync(join(from, 'model.safetensors')));
  const { shortest_edge, longest_edge } = JSON.parse(readFileSync(join(from, 'preprocessor_config.json'), 'utf8'))
    .size as Record<'shortest_edge' | 'longest_edge', number>;
  const { vocab } = tokenizer().model;
  const tokens = Object.entries(vocab).sort(([, a], [, b]) => a - b);
  const { model, tower } = toSeeingGguf(
    config,
    tensors,
    {
      'clip.vision.image_min_pixels': { type: 'u32', value: shortest_edge },
      'clip.vision.image_max_pixels': { type: 'u32', value: longest_edge },
    },
    {
      'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
      'tokenizer.ggml.pre': { type: 'string', value: 'gpt-2' },
      'tokenizer.ggml.tokens': { type: 'strings', value: tokens.map(([token]) => token) },
      // Markers are control tokens, everything else is normal.
      'tokenizer.ggml.token_type': { type: 'i32s', value: tokens.map(([, id]) => (MARKERS[id] === undefined ? 1 : 3)) },
      'tokenizer.ggml.merges': { type: 'strings', value: [] },
      'tokenizer.ggml.eos_token_id': { type: 'u32', value: 2 },
      'tokenizer.ggml.add_bos_token': { type: 'bool', value: false },
      'tokenizer.chat_template': { type: 'string', value: TEMPLATE },
    },
  );
  writeFileSync(join(folder, 'model.gguf'), model);
  writeFileSync(join(folder, 'mmproj-F32.gguf'), tower);
  return join(folder, 'model.gguf');
}

const TEMPLATE = `{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content -%}
{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}
{%- endfor %}{% endif %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}`;

/** One token per ASCII letter (as byte-level vocabularies spell them); the rest are fillers. */
function tokenizer() {
  const letters = ['Ċ', 'Ġ', ...Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i))];
  const vocab: Record<string, number> = {};
  let next = 0;
  for (let id = 0; id < VOCABULARY; id++) vocab[MARKERS[id] ?? letters[next++] ?? `unused${id}`] = id;
  const added = Object.entries(MARKERS).map(([id, content]) => ({
    id: Number(id),
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  }));
  return {
    version: '1.0',
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: 'BPE', vocab, merges: [] },
  };
}
