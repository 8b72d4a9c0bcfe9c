// State that a layer carries between tokens. A family declares it (Layout types); the session allocates, sizes,
// snapshots, restores and rewinds from the declarations alone; ops read and write the live objects.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "ops/tensor.h"

namespace longhand {

enum class CacheType : uint8_t { f32, f16, q8, q4 };
// Bytes of one token's row of `heads` vectors of `dim` elements. q8 and q4: blocks of 32 elements of one head (the last
// may be short but takes a block), an f16 scale, then 32 signed bytes, or 16 bytes of nibbles (low half first, value +
// 8).
inline int64_t cache_row_bytes(CacheType type, int64_t heads, int64_t dim) {
  const int64_t blocks = heads * ((dim + 31) / 32);
  switch (type) {
    case CacheType::f16: return 2 * heads * dim;
    case CacheType::q8: return 34 * blocks;
    case CacheType::q4: return 18 * blocks;
    case CacheType::f32: break;
  }
  return 4 * heads * dim;
}

// Keys and values of softmax attention. Grows with the context: k, v [tokens, heads * dim]. Rewinding is cutting.
struct KvCacheLayout {
  int64_t heads = 0;
  int64_t dim = 0;
};
// MHA2MLA: per token the rotated key part [rope_width] and one or two latent vectors [latent_width in all].
struct LatentCacheLayout {
  int64_t rope_width = 0;
  int64_t latent_width = 0;
};
// Linear attention: S [heads, key_dim, value_dim], fp32 always. Fixed size; rewinding needs a snapshot.
struct RecurrentStateLayout {
  int64_t heads = 0;
  int64_t key_dim = 0;
  int64_t value_dim = 0;
};
// Causal depthwise convolution: the last width - 1 inputs, [width - 1, channels], oldest first, fp32.
struct ConvStateLayout {
  int64_t channels = 0;
  int64_t width = 0;
};
// Windows of InfLLM-v2: K1 pools `kernel` keys every `stride`, K2 this many times as many.
inline constexpr int64_t k2_ratio = 4;
// Windows of `kernel` keys, one every `stride`, that lie whole within the first `keys`.
constexpr int64_t complete_windows(int64_t keys, int64_t kernel, int64_t stride) {
  return keys < kernel ? 0 : (keys - kernel) / stride + 1;
}
// InfLLM-v2: mean-pooled keys, appended beside a KvCache. K1: windows of `kernel` every `stride` tokens;
// K2: windows of k2_ratio * kernel every k2_ratio * stride. [count, heads * dim] each. Grows with the context.
struct CompressedKeysLayout {
  int64_t heads = 0;
  int64_t dim = 0;
  int64_t kernel = 0;
  int64_t stride = 0;
  int64_t k1_windows(int64_t tokens) const { return complete_windows(tokens, kernel, stride); }
  int64_t k2_windows(int64_t tokens) const { return complete_windows(tokens, k2_ratio * kernel, k2_ratio * stride); }
};
using MemoryLayout =
    std::variant<KvCacheLayout, LatentCacheLayout, RecurrentStateLayout, ConvStateLayout, CompressedKeysLayout>;

// The live objects. `capacity` and `length` count tokens. Storage of the growing kinds is [capacity, width] in `type`.
struct KvCache {
  KvCacheLayout layout;
  CacheType type = CacheType::f32;
  BufferPtr keys{}, values{};
  int64_t capacity = 0;
  int64_t length = 0;
};
struct LatentCache {
  LatentCacheLayout layout;
  CacheType type = CacheType::f32;
  BufferPtr rope_keys{}, latents{};
  int64_t capacity = 0;
  int64_t length = 0;
};
// Both states may have a second slot (only where Backend::decodes_async()): an op then leaves what was read as it is,
// writes the other slot, and the two change names, so that a step can be taken back.
struct RecurrentState {
  RecurrentStateLayout layout;
  BufferPtr state{};
  BufferPtr other{};
};
struct ConvState {
  ConvStateLayout layout;
  BufferPtr window{};
  BufferPtr other{};
};
// The memory of a gated DeltaNet mixer.
struct DeltaMemory {
  ConvState* conv;
  RecurrentState* state;
};
struct CompressedKeys {
  CompressedKeysLayout layout;
  BufferPtr k1{}, k2{};  // fp32
  int64_t k1_length = 0;
  int64_t k2_length = 0;
};
using Memory = std::variant<KvCache, LatentCache, RecurrentState, ConvState, CompressedKeys>;

}  // namespace longhand
