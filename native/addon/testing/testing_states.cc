// Ops that read and advance a state: attention caches, convolution windows, recurrent states.
#include "addon/testing/testing_ops.h"

namespace longhand::testing {
namespace {

CacheType cache_type(const std::string& name) {
  if (name == "f16") return CacheType::f16;
  if (name == "q8") return CacheType::q8;
  if (name == "q4") return CacheType::q4;
  return CacheType::f32;
}

KvCache make_cache(Bench& bench, int64_t capacity) {
  const Heads heads = bench.heads();
  KvCache cache{.layout = {heads.kv, heads.dim}, .type = cache_type(bench.text("cache", "f32")), .capacity = capacity};
  const auto bytes = static_cast<size_t>(cache_row_bytes(cache.type, heads.kv, heads.dim) * capacity);
  cache.keys = bench.backend.allocate(bytes);
  cache.values = bench.backend.allocate(bytes);
  return cache;
}

Rope make_rope(Bench& bench) {
  Rope rope{.pairing = bench.text("pairing", "half") == "half" ? Rope::Pairing::half : Rope::Pairing::interleaved,
            .rotary_dim = bench.integer("rotaryDim", 0),
            .inv_freq = bench.buffer("invFreq"),
            .attention_scale = bench.number("attentionScale", 1.0f)};
  if (bench.has("sections")) {
    const std::vector<int32_t> sections = bench.ints("sections");
    for (size_t i = 0; i < 3; ++i) rope.sections[i] = sections[i];
  }
  return rope;
}

// Positions of rows [first, first + count): given on three axes, or 0, 1, ...
std::vector<int32_t> positions(Bench& bench, int64_t first, int64_t count) {
  std::vector<int32_t> result;
  const std::vector<int32_t> given = bench.has("positions") ? bench.ints("positions") : std::vector<int32_t>{};
  const int64_t rows = bench.integer("rows");
  for (int64_t axis = 0; axis < (given.empty() ? 1 : 3); ++axis)
    for (int64_t i = first; i < first + count; ++i)
      result.push_back(given.empty() ? static_cast<int32_t>(i) : given[static_cast<size_t>(axis * rows + i)]);
  return result;
}

Napi::Object object(Bench& bench) { return Napi::Object::New(bench.args.Env()); }

// p -> q/k norm, rope, store, attention. Gives o, the rotated q, and the gates when gated.
Napi::Value attention(Bench& bench) {
  KvCache cache = make_cache(bench, bench.integer("rows") + 3);
  const Qkv qkv{bench.heads(), bench.integer("gated", 0) != 0, bench.optional_norm("qNorm"),
                bench.optional_norm("kNorm")};
  const Rope rope = make_rope(bench);
  std::vector<float> rotated, gates;
  Napi::Object result = object(bench);
  result.Set("o", bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    const Tensor p = bench.input("p", first, count);
    const Tensor q = bench.backend.qk_norm_rope_store(p, qkv, rope, positions(bench, first, count), cache);
    const Tensor o = bench.backend.attention(q, cache, {qkv.heads, bench.number("scale", 1.0f)});
    if (qkv.gated) bench.append(gates, bench.backend.gate_columns(p, qkv));
    bench.append(rotated, q);
    return o;
  }));
  result.Set("q", bench.array(rotated));
  result.Set("gates", bench.array(gates));
  result.Set("length", static_cast<double>(cache.length));
  if (cache.type == CacheType::f32) result.Set("keys", bench.contents(*cache.keys));
  return result;
}

Napi::Value rope_in_place(Bench& bench) {
  const Qkv qkv{bench.heads(), false, bench.optional_norm("qNorm"), bench.optional_norm("kNorm")};
  const Rope rope = make_rope(bench);
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    const Tensor p = bench.input("p", first, count);
    bench.backend.qk_norm_rope(p, qkv, rope, positions(bench, first, count));
    return p;
  });
}

Napi::Value bidirectional(Bench& bench) {
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    const std::vector<int32_t> one{static_cast<int32_t>(count)};
    return bench.backend.attention_bidirectional(bench.input("p", first, count),
                                                 {bench.heads(), bench.number("scale", 1.0f)},
                                                 bench.has("lengths") ? bench.ints("lengths") : one);
  });
}

DType element_type(const std::string& name) {
  return name == "f16" ? DType::f16 : name == "bf16" ? DType::bf16 : DType::f32;
}

Napi::Value latent(Bench& bench) {
  MlaAttention shape{.heads = bench.heads(),
                     .rope_dim = bench.integer("ropeDim"),
                     .latent_k = bench.integer("latentK"),
                     .latent_v_first = bench.integer("latentVFirst"),
                     .latent_v = bench.integer("latentV"),
                     .up_k = {bench.required("upK"), element_type(bench.text("upType", "f32"))},
                     .up_v = {bench.required("upV"), element_type(bench.text("upType", "f32"))},
                     .retained = bench.required("retained"),
                     .rest = bench.required("rest"),
                     .rope = make_rope(bench),
                     .scale = bench.number("scale", 1.0f)};
  LatentCache cache{.layout = {shape.heads.kv * shape.rope_dim, bench.integer("latentWidth")},
                    .type = cache_type(bench.text("cache", "f32")),
                    .capacity = bench.integer("rows")};
  const auto bytes = [&](int64_t width) {
    return static_cast<size_t>(cache_row_bytes(cache.type, 1, width) * cache.capacity);
  };
  cache.rope_keys = bench.backend.allocate(bytes(cache.layout.rope_width));
  cache.latents = bench.backend.allocate(bytes(cache.layout.latent_width));
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.mla_attention(bench.input("p", first, count), shape, positions(bench, first, count), cache);
  });
}

Napi::Value conv_silu(Bench& bench) {
  ConvState state{{bench.integer("channels"), bench.integer("width")}, bench.buffer("window")};
  const BufferPtr taps = bench.buffer("conv");
  Napi::Object result = object(bench);
  result.Set("y", bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.conv_silu(bench.input("p", first, count), *taps, state);
  }));
  result.Set("window", bench.contents(*state.window));
  return result;
}

Napi::Value short_conv(Bench& bench) {
  ConvState state{{bench.integer("channels"), bench.integer("width")}, bench.buffer("window")};
  const ShortConv weights{state.layout.channels, state.layout.width, bench.buffer("conv")};
  Napi::Object result = object(bench);
  result.Set("y", bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.short_conv(bench.input("p", first, count), weights, state);
  }));
  result.Set("window", bench.contents(*state.window));
  return result;
}

Napi::Value gated_delta(Bench& bench) {
  const GatedDelta weights{.key_heads = bench.integer("keyHeads"),
                           .value_heads = bench.integer("valueHeads"),
                           .key_dim = bench.integer("keyDim"),
                           .value_dim = bench.integer("valueDim"),
                           .head_map = bench.text("headMap", "grouped") == "tiled" ? GatedDelta::HeadMap::tiled
                                                                                   : GatedDelta::HeadMap::grouped,
                           .conv = bench.buffer("conv"),
                           .conv_width = bench.integer("width"),
                           .decay = bench.buffer("decay"),
                           .dt_bias = bench.buffer("dtBias"),
                           .norm = bench.norm("norm"),
                           .l2_eps = bench.number("l2Eps", 1e-6f)};
  ConvState conv{{weights.channels(), weights.conv_width}, bench.buffer("window")};
  RecurrentState state{{weights.value_heads, weights.key_dim, weights.value_dim}, bench.buffer("state")};
  if (bench.has("twoSlots")) {
    conv.other = bench.backend.allocate(conv.window->bytes());
    state.other = bench.backend.allocate(state.state->bytes());
  }
  Napi::Object result = object(bench);
  result.Set("o", bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.gated_delta(bench.input("p", first, count), weights, conv, state);
  }));
  result.Set("window", bench.contents(*conv.window));
  result.Set("state", bench.contents(*state.state));
  return result;
}

// `mode`: gla | decode | chunk (intra-chunk, then state update)
Napi::Value gla(Bench& bench) {
  const Gla shape{bench.integer("heads"), bench.integer("keyDim"), bench.integer("valueDim"),
                  bench.number("scale", 1.0f), bench.buffer("slopes")};
  RecurrentState state{{shape.heads, shape.key_dim, shape.value_dim}, bench.buffer("state")};
  const std::string mode = bench.text("mode", "gla");
  Napi::Object result = object(bench);
  result.Set("o", bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    const Tensor q = bench.input("q", first, count), k = bench.input("k", first, count),
                 v = bench.input("v", first, count);
    if (mode == "decode") return bench.backend.gla_decode(q, k, v, shape, state);
    if (mode == "gla") return bench.backend.gla(q, k, v, shape, state);
    const Tensor o = bench.backend.gla_intra_chunk(q, k, v, shape, state);
    bench.backend.gla_state_update(k, v, shape, state);
    return o;
  }));
  result.Set("state", bench.contents(*state.state));
  return result;
}

// p: q | k | v. Blocks [rows, kv heads, effective top-k] and the attention over them.
Napi::Value sparse(Bench& bench) {
  const BlockSparse shape{.heads = bench.heads(),
                          .block = bench.integer("block"),
                          .kernel = bench.integer("kernel"),
                          .stride = bench.integer("stride"),
                          .init_blocks = bench.integer("initBlocks"),
                          .window = bench.integer("window"),
                          .topk = bench.integer("topk"),
                          .scale = bench.number("scale", 1.0f)};
  const int64_t rows = bench.integer("rows"), width = shape.heads.kv * shape.heads.dim;
  KvCache cache = make_cache(bench, rows);
  CompressedKeys compressed{{shape.heads.kv, shape.heads.dim, shape.kernel, shape.stride}, nullptr, nullptr};
  compressed.k1 = bench.backend.allocate(static_cast<size_t>((rows / shape.stride + 1) * width) * sizeof(float));
  compressed.k2 = bench.backend.allocate(static_cast<size_t>((rows / (4 * shape.stride) + 1) * width) * sizeof(float));
  std::vector<int32_t> blocks;
  Napi::Object result = object(bench);
  result.Set("o", bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    const Tensor p = bench.input("p", first, count);
    const Tensor q =
        bench.backend.qk_norm_rope_store(p, {.heads = shape.heads}, {}, positions(bench, first, count), cache);
    bench.backend.block_compress(cache, shape, compressed);
    const BlockList list = bench.backend.block_select(q, compressed, shape, first, rows);
    const Tensor o = bench.backend.block_attention(q, cache, shape, list);
    bench.backend.finish();
    const size_t before = blocks.size(), added = static_cast<size_t>(list.rows * list.topk);
    blocks.resize(before + added);
    bench.backend.read(blocks.data() + before, *list.blocks, list.offset, added * sizeof(int32_t));
    return o;
  }));
  result.Set("blocks", bench.array(blocks));
  return result;
}

}  // namespace

const std::map<std::string, Op>& state_ops() {
  static const std::map<std::string, Op> ops{
      {"attention", attention}, {"qkNormRope", rope_in_place}, {"bidirectional", bidirectional}, {"latent", latent},
      {"convSilu", conv_silu},  {"shortConv", short_conv},     {"gatedDelta", gated_delta},      {"gla", gla},
      {"sparse", sparse}};
  return ops;
}

}  // namespace longhand::testing
