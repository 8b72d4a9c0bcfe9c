#include <cstring>

#include "metal/backend.h"
#include "metal/cache.h"

namespace longhand::metal {

using namespace params;

namespace {

Constants constants_of(const Qkv& qkv, const Rope& rope) {
  Constants constants;
  constants.set(kDim, narrow(qkv.heads.dim))
      .set(kGated, qkv.gated)
      .set(kInterleaved, rope.pairing == Rope::Pairing::interleaved)
      .set(kHasNorm, qkv.q_norm != nullptr)
      .set(kHasKeyNorm, qkv.k_norm != nullptr);
  return constants;
}

}  // namespace

Tensor MetalBackend::qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions,
                                        KvCache& cache) {
  const Heads& heads = qkv.heads;
  const Tensor q = scratch(p.rows, heads.query * heads.dim);
  const Tensor gates = qkv.gated ? scratch(p.rows, heads.query * heads.dim) : q;
  const Tensor list = upload(positions.data(), positions.size_bytes());
  const RopeParams params = kernel_args::rope_store(p, qkv, rope, positions.size(), q, cache, cache.length);
  const auto appended = [&](Buffer& buffer) {
    return part_of(buffer, 0, static_cast<size_t>(params.first_row + p.rows) * params.row_bytes, Access::write);
  };
  run(Kernel{"rope", "qk_norm_rope_store", cache_layout(cache.type)}, constants_of(qkv, rope),
      {reads(p), qkv.q_norm ? reads(qkv.q_norm->weight) : unused(p), qkv.k_norm ? reads(qkv.k_norm->weight) : unused(p),
       rope.inv_freq ? reads(rope.inv_freq) : unused(p), reads(list), writes(q), writes(gates), appended(*cache.keys),
       appended(*cache.values)},
      params, Grid{{static_cast<size_t>(heads.query + 2 * heads.kv), static_cast<size_t>(p.rows), 1}, {32, 1, 1}});
  cache.length += p.rows;
  gates_ = gates;
  gates_of_ = qkv.gated ? p : Tensor{};
  return q;
}

void MetalBackend::qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) {
  const Heads& heads = qkv.heads;
  assert(p.cols >= kernel_args::query_columns(qkv) + heads.kv * heads.dim);
  const Tensor list = upload(positions.data(), positions.size_bytes());
  Constants constants = constants_of(qkv, rope);
  constants.set(kInPlace, 1);
  run(Kernel{"rope", "qk_norm_rope_store", cache_layout(CacheType::f32)}, constants,
      {updates(p), qkv.q_norm ? reads(qkv.q_norm->weight) : unused(p),
       qkv.k_norm ? reads(qkv.k_norm->weight) : unused(p), rope.inv_freq ? reads(rope.inv_freq) : unused(p),
       reads(list), unused(p), unused(p), unused(p), unused(p)},
      kernel_args::rope(p, qkv, rope, positions.size()),
      Grid{{static_cast<size_t>(heads.query + heads.kv), static_cast<size_t>(p.rows), 1}, {32, 1, 1}});
}

// qk_norm_rope_store has gathered the gates of the same projection already.
Tensor MetalBackend::gate_columns(Tensor p, const Qkv& qkv) {
  assert(qkv.gated);
  if (gates_of_ && gates_of_.buffer == p.buffer && gates_of_.offset == p.offset) return gates_;
  const int64_t dim = qkv.heads.dim;
  const Tensor gates = scratch(p.rows, qkv.heads.query * dim);
  const RowsParams params{.rows = narrow(p.rows),
                          .cols = narrow(gates.cols),
                          .x_stride = narrow(p.stride),
                          .y_stride = narrow(gates.stride),
                          .z_stride = narrow(dim)};
  run(Kernel{"copy", "gather_gates"}, Constants{}, {reads(p), writes(gates)}, params,
      elements(static_cast<size_t>(gates.cols), static_cast<size_t>(p.rows), 64));
  return gates;
}

}  // namespace longhand::metal
