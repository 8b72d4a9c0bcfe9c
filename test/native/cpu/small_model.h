// A small model with every kind of layer, of random weights, straight on the contract of a back end: what a sanitizer
// or an emulated processor can run in seconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "formats/blocks.h"
#include "ops/backend.h"

namespace longhand::testing {

// Numerical Recipes' generator: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed) {}
  uint32_t bits() { return (state_ = state_ * 1664525u + 1013904223u) >> 8; }
  float between(float low, float high) { return low + (high - low) * static_cast<float>(bits()) * 0x1p-24f; }

 private:
  uint32_t state_;
};

// Random blocks under scales of 2^-8, so that activations keep their size.
inline void fill_blocks(DType type, Random& random, std::vector<std::byte>& bytes) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits());
  const BlockSize size = block_size(type);
  const int first = type == DType::q6_k ? 208 : 0;
  for (size_t block = 0; block < bytes.size() / static_cast<size_t>(size.bytes); ++block) {
    std::byte* at = bytes.data() + block * static_cast<size_t>(size.bytes) + first;
    const uint16_t scale = type == DType::q8_0 ? 0x0c00 : type == DType::q4_0 ? 0x1c00 : 0x0400;
    std::memcpy(at, &scale, sizeof scale);
    if (type == DType::q4_k) std::memcpy(at + 2, &scale, sizeof scale);
  }
}

inline void fill_floats(DType type, Random& random, float limit, std::vector<std::byte>& bytes) {
  const size_t width = type == DType::f32 ? 4 : 2;
  for (size_t at = 0; at < bytes.size(); at += width) {
    const float value = random.between(-limit, limit);
    std::memcpy(bytes.data() + at, reinterpret_cast<const std::byte*>(&value) + (4 - width), width);
  }
}

class SmallModel {
 public:
  explicit SmallModel(Backend& backend) : backend_(backend) {
    const auto norm = [&](int64_t n) { return Norm{vector(n, 0.5f, 1.5f)}; };
    table_ = matrix(DType::q8_0, {vocabulary, hidden});
    head_ = matrix(DType::q6_k, {vocabulary, hidden});
    delta_in_ = matrix(DType::q4_0, {delta_.columns(), hidden});
    delta_out_ = matrix(DType::q8_0, {hidden, 128});
    delta_.conv = vector(delta_.channels() * 4, -0.5f, 0.5f);
    delta_.decay = vector(delta_.value_heads, -2.0f, -0.1f);
    delta_.dt_bias = vector(delta_.value_heads, -1.0f, 1.0f);
    delta_.norm = norm(delta_.value_dim);
    qkv_ = matrix(DType::bf16, {256, hidden});
    attention_out_ = matrix(DType::q4_0, {hidden, 128});
    rope_.inv_freq = vector(16, 0.01f, 1.0f);
    gla_in_ = matrix(DType::q4_k, {384, hidden});
    gla_out_ = matrix(DType::q4_0, {hidden, 128});
    gla_.slopes = vector(gla_.heads, 0.01f, 0.5f);
    conv_in_ = matrix(DType::q6_k, {192, hidden});
    conv_out_ = matrix(DType::f32, {hidden, 64});
    conv_.conv = vector(64 * 3, -0.5f, 0.5f);
    gate_up_ = matrix(DType::q4_k, {128, hidden});
    down_ = matrix(DType::q8_0, {hidden, 64});
    router_.weight = matrix(DType::f32, {router_.experts, hidden});
    expert_gate_up_ = matrix(DType::q4_0, {router_.experts, 128, hidden});
    expert_down_ = matrix(DType::q4_0, {router_.experts, hidden, 64});
    norm_ = norm(hidden);
    forget();
  }

  // Everything that a layer remembers, as new.
  void forget() {
    cache_ = {.layout = {2, 32}, .type = CacheType::f16, .capacity = 64};
    cache_.keys = backend_.allocate(static_cast<size_t>(64 * cache_row_bytes(cache_.type, 2, 32)));
    cache_.values = backend_.allocate(static_cast<size_t>(64 * cache_row_bytes(cache_.type, 2, 32)));
    delta_state_ = {{4, 32, 32}, floats(4 * 32 * 32), nullptr};
    delta_window_ = {{delta_.channels(), 4}, floats(3 * delta_.channels()), nullptr};
    gla_state_ = {{4, 32, 32}, floats(4 * 32 * 32), nullptr};
    conv_window_ = {{64, 3}, floats(2 * 64), nullptr};
  }

  // Reads tokens in one pass; the scores after the last of them. Throws Cancelled.
  std::vector<float> read(std::span<const int32_t> tokens, Path path, const std::atomic<bool>* cancel = nullptr) {
    backend_.begin({.path = path, .cancel = cancel});
    Tensor x = backend_.embed(tokens, *table_, 1.0f);
    x = backend_.recycle_except(gated_delta(x));
    x = backend_.recycle_except(attention(x));
    x = backend_.recycle_except(lightning(x));
    x = backend_.recycle_except(short_conv(x));
    const Tensor scores = backend_.logits(x.row_range(x.rows - 1, 1), *head_, norm_, 1.0f);
    backend_.finish();
    std::vector<float> out(static_cast<size_t>(vocabulary));
    backend_.read(out.data(), scores);
    return out;
  }

  // Reads a prompt in passes of `chunk` tokens, then writes `count` more, each the favourite; the scores of all passes.
  std::vector<float> run(int64_t prompt, int64_t chunk, int64_t count, Path path,
                         const std::atomic<bool>* cancel = nullptr) {
    forget();
    std::vector<int32_t> tokens(static_cast<size_t>(prompt));
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * 37 % vocabulary);
    std::vector<float> all, scores;
    for (int64_t at = 0; at < prompt; at += chunk)
      scores = read({tokens.data() + at, static_cast<size_t>(std::min(chunk, prompt - at))}, path, cancel);
    for (int64_t i = 0; i < count; ++i) {
      all.insert(all.end(), scores.begin(), scores.end());
      const auto next = static_cast<int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
      scores = read({&next, 1}, path, cancel);
    }
    all.insert(all.end(), scores.begin(), scores.end());
    return all;
  }

  static constexpr int64_t vocabulary = 300, hidden = 256;

 private:
  BufferPtr floats(int64_t count) { return backend_.allocate(static_cast<size_t>(count) * sizeof(float)); }

  BufferPtr vector(int64_t count, float low, float high) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = random_.between(low, high);
    BufferPtr made = floats(count);
    backend_.write(*made, 0, values.data(), values.size() * sizeof(float));
    return made;
  }

  WeightPtr matrix(DType type, std::vector<int64_t> shape) {
    auto bytes = std::make_shared<std::vector<std::byte>>(*tensor_bytes(type, shape));
    const bool plain = type == DType::f32 || type == DType::bf16;
    if (plain) fill_floats(type, random_, 0.1f, *bytes);
    else fill_blocks(type, random_, *bytes);
    const WeightView view{
        .name = "w", .type = type, .shape = shape, .data = bytes->data(), .data_bytes = bytes->size()};
    return backend_.prepare({&view, 1}, bytes, 1);
  }

  std::vector<int32_t> positions(int64_t count) const {
    std::vector<int32_t> out(static_cast<size_t>(count));
    std::iota(out.begin(), out.end(), static_cast<int32_t>(cache_.length));
    return out;
  }

  Tensor gated_delta(Tensor x) {
    const Tensor p = backend_.linear(x, *delta_in_, {.norm = &norm_});
    const Tensor o = backend_.gated_delta(p, delta_, delta_window_, delta_state_);
    return swiglu(backend_.linear(o, *delta_out_, {.add_to = x}));
  }

  Tensor attention(Tensor x) {
    const Tensor p = backend_.linear(x, *qkv_, {.norm = &norm_});
    const Heads heads{4, 2, 32};
    const Tensor q = backend_.qk_norm_rope_store(p, {.heads = heads}, rope_, positions(x.rows), cache_);
    const Tensor o = backend_.attention(q, cache_, {heads, 0.2f});
    return swiglu(backend_.linear(o, *attention_out_, {.add_to = x}));
  }

  Tensor lightning(Tensor x) {
    const Tensor p = backend_.linear(x, *gla_in_, {.norm = &norm_});
    const Tensor o = backend_.gla(p.columns(0, 128), p.columns(128, 128), p.columns(256, 128), gla_, gla_state_);
    return mixture(backend_.linear(o, *gla_out_, {.add_to = x}));
  }

  Tensor short_conv(Tensor x) {
    const Tensor p = backend_.linear(x, *conv_in_, {.norm = &norm_});
    return swiglu(backend_.linear(backend_.short_conv(p, conv_, conv_window_), *conv_out_, {.add_to = x}));
  }

  Tensor swiglu(Tensor x) { return backend_.linear(backend_.gate_up(x, *gate_up_, &norm_), *down_, {.add_to = x}); }

  Tensor mixture(Tensor x) {
    const Routes routes = backend_.route(x, &norm_, router_);
    backend_.expert_down(backend_.expert_gate_up(x, *expert_gate_up_, &norm_, routes), *expert_down_, routes, x);
    return x;
  }

  Backend& backend_;
  Random random_{7};
  Norm norm_;
  WeightPtr table_, head_, delta_in_, delta_out_, qkv_, attention_out_, gla_in_, gla_out_, conv_in_, conv_out_;
  WeightPtr gate_up_, down_, expert_gate_up_, expert_down_;
  GatedDelta delta_{.key_heads = 2, .value_heads = 4, .key_dim = 32, .value_dim = 32};
  Rope rope_{.rotary_dim = 32};
  Gla gla_{4, 32, 32, 0.2f, nullptr};
  ShortConv conv_{64, 3, nullptr};
  Router router_{.experts = 4, .topk = 2};
  KvCache cache_;
  RecurrentState delta_state_, gla_state_;
  ConvState delta_window_, conv_window_;
};

}  // namespace longhand::testing
