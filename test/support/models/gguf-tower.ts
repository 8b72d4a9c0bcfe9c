// A vision model as llama.cpp stores it: the text model in one file, the tower in another (mmproj). Names and keys are those of
// its converter (gguf-py, `MODEL_ARCH.MMPROJ`), written independently of our reader.
import { asFloats, f32, type GgufTensor, type GgufValue, gguf } from './formats.ts';
import { type HubConfig, type Tensors, toGguf } from './gguf-conversion.ts';

interface VisionConfig {
  depth: number;
  hidden_size: number;
  intermediate_size: number;
  num_heads: number;
  out_hidden_size: number;
  patch_size: number;
  spatial_merge_size: number;
}
export interface SeeingConfig {
  image_token_id: number;
  text_config: HubConfig;
  vision_config: VisionConfig;
}

const VISUAL = 'model.visual.';
const NAMES: [RegExp, string][] = [
  [/^blocks\.(\d+)\.norm1/, 'v.blk.$1.ln1'],
  [/^blocks\.(\d+)\.norm2/, 'v.blk.$1.ln2'],
  [/^blocks\.(\d+)\.attn\.qkv/, 'v.blk.$1.attn_qkv'],
  [/^blocks\.(\d+)\.attn\.proj/, 'v.blk.$1.attn_out'],
  [/^blocks\.(\d+)\.mlp\.linear_fc1/, 'v.blk.$1.ffn_up'],
  [/^blocks\.(\d+)\.mlp\.linear_fc2/, 'v.blk.$1.ffn_down'],
  [/^patch_embed\.proj/, 'v.patch_embd'],
  [/^pos_embed/, 'v.position_embd'],
  [/^merger\.norm/, 'v.post_ln'],
  [/^merger\.linear_fc1/, 'mm.0'],
  [/^merger\.linear_fc2/, 'mm.2'],
];

function towerTensor(name: string, { shape, bytes }: Tensors[string]): GgufTensor[] {
  const leaf = name.slice(VISUAL.length);
  const [pattern, to] = NAMES.find(([known]) => known.test(leaf)) ?? [];
  if (!pattern || to === undefined) throw new Error(`llama.cpp has no name for ${name}`);
  const renamed = leaf.replace(pattern, to);
  if (renamed !== 'v.patch_embd.weight') return [{ name: renamed, type: 'F32', shape, bytes }];
  // One tensor per frame, [out, channels, side, side].
  const [out = 0, channels = 0, frames = 0, side = 0] = shape;
  const values = asFloats(bytes);
  const pixels = side * side;
  return Array.from({ length: frames }, (_, frame) => {
    const slices = Array.from({ length: out * channels }, (_, i) =>
      values.subarray((i * frames + frame) * pixels, (i * frames + frame + 1) * pixels),
    );
    return {
      name: frame === 0 ? renamed : `${renamed}.${frame}`,
      type: 'F32',
      shape: [out, channels, side, side],
      bytes: f32(...slices.flatMap((slice) => [...slice])),
    };
  });
}

const u32 = (value: number): GgufValue => ({ type: 'u32', value });
const string = (value: string): GgufValue => ({ type: 'string', value });

/** `more`: keys of the tower's file that are added or replaced; `words`: the vocabulary of the model's file. */
export function toSeeingGguf(
  config: SeeingConfig,
  tensors: Tensors,
  more: Record<string, GgufValue> = {},
  words: Record<string, GgufValue> = {},
): { model: Uint8Array; tower: Uint8Array } {
  const { text_config: text, vision_config: vision } = config;
  const of = (visual: boolean) => Object.entries(tensors).filter(([name]) => name.startsWith(VISUAL) === visual);
  const sections = (text.rope_parameters as { mrope_section?: number[] } | undefined)?.mrope_section ?? [];
  const vocabulary = Array.from({ length: text.vocab_size }, (_, id) =>
    id === config.image_token_id ? '<|image_pad|>' : `token ${id}`,
  );
  const tower = gguf(
    {
      'general.architecture': string('clip'),
      'general.type': string('mmproj'),
      'clip.has_vision_encoder': { type: 'bool', value: true },
      'clip.projector_type': string('qwen3vl_merger'),
      'clip.use_gelu': { type: 'bool', value: true },
      'clip.vision.block_count': u32(vision.depth),
      'clip.vision.embedding_length': u32(vision.hidden_size),
      'clip.vision.feed_forward_length': u32(vision.intermediate_size),
      'clip.vision.attention.head_count': u32(vision.num_heads),
      'clip.vision.attention.layer_norm_epsilon': { type: 'f32', value: 1e-6 },
      'clip.vision.patch_size': u32(vision.patch_size),
      'clip.vision.spatial_merge_size': u32(vision.spatial_merge_size),
      'clip.vision.projection_dim': u32(vision.out_hidden_size),
      'clip.vision.image_mean': { type: 'f32s', value: [0.5, 0.5, 0.5] },
      'clip.vision.image_std': { type: 'f32s', value: [0.5, 0.5, 0.5] },
      ...more,
    },
    of(true).flatMap(([name, tensor]) => towerTensor(name, tensor)),
  );
  const model = toGguf('qwen35', text, Object.fromEntries(of(false)), (name) => name, {
    'qwen35.rope.dimension_sections': { type: 'i32s', value: [...sections, 0] },
    'tokenizer.ggml.tokens': { type: 'strings', value: vocabulary },
    ...words,
  });
  return { model, tower };
}
