#pragma once

#include "gpu/shared_ops.h"

namespace longhand::gpu {

template <class Api>
typename SharedOps<Api>::Constants SharedOps<Api>::rope_constants(const Qkv& qkv, const Rope& rope) {
  Constants constants;
  constants.set(params::kDim, narrow(qkv.heads.dim))
      .set(params::kGated, qkv.gated)
      .set(params::kInterleaved, rope.pairing == Rope::Pairing::interleaved)
      .set(params::kHasNorm, qkv.q_norm != nullptr)
      .set(params::kHasKeyNorm, qkv.k_norm != nullptr);
  return constants;
}

template <class Api>
Tensor SharedOps<Api>::qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope,
                                          std::span<const int32_t> positions, KvCache& cache) {
  const Heads& heads = qkv.heads;
  const Tensor q = api().scratch(p.rows, heads.query * heads.dim);
  const Tensor gates = qkv.gated ? api().scratch(p.rows, heads.query * heads.dim) : q;
  const Tensor list = api().upload(positions.data(), positions.size_bytes());
  const int64_t bound = api().first_bound_row(cache.length);
  const params::RopeParams to = kernel_args::rope_store(p, qkv, rope, positions.size(), q, cache, cache.length - bound);
  const auto appended = [&](Buffer& buffer) {
    const size_t first = static_cast<size_t>(bound) * to.row_bytes;
    const size_t end = static_cast<size_t>(cache.length + p.rows) * to.row_bytes;
    return part_of(buffer, first, end - first, Kinds::appends);
  };
  Constants constants = rope_constants(qkv, rope);
  const auto kernel = Kinds::for_cache(Kinds::rope, constants, cache.type);
  api().run(kernel, constants,
            {of(p, Kinds::rope_input), qkv.q_norm ? reads(qkv.q_norm->weight) : unused(p),
             qkv.k_norm ? reads(qkv.k_norm->weight) : unused(p), rope.inv_freq ? reads(rope.inv_freq) : unused(p),
             reads(list), writes(q), writes(gates), appended(*cache.keys), appended(*cache.values)},
            to, api().groups(static_cast<size_t>(heads.query + 2 * heads.kv), static_cast<size_t>(p.rows), 32));
  cache.length += p.rows;
  gates_ = gates;
  gates_of_ = qkv.gated ? p : Tensor{};
  return q;
}

template <class Api>
void SharedOps<Api>::qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) {
  const Heads& heads = qkv.heads;
  assert(p.cols >= kernel_args::query_columns(qkv) + heads.kv * heads.dim);
  const Tensor list = api().upload(positions.data(), positions.size_bytes());
  Constants constants = rope_constants(qkv, rope);
  constants.set(params::kInPlace, 1);
  const auto kernel = Kinds::for_cache(Kinds::rope, constants, CacheType::f32);
  api().run(kernel, constants,
            {updates(p), qkv.q_norm ? reads(qkv.q_norm->weight) : unused(p),
             qkv.k_norm ? reads(qkv.k_norm->weight) : unused(p), rope.inv_freq ? reads(rope.inv_freq) : unused(p),
             reads(list), unused(p), unused(p), unused(p), unused(p)},
            kernel_args::rope(p, qkv, rope, positions.size()),
            api().groups(static_cast<size_t>(heads.query + heads.kv), static_cast<size_t>(p.rows), 32));
}

// qk_norm_rope_store has gathered the gates of the same projection already.
template <class Api>
Tensor SharedOps<Api>::gate_columns(Tensor p, const Qkv& qkv) {
  assert(qkv.gated);
  if (gates_of_ && gates_of_.buffer == p.buffer && gates_of_.offset == p.offset) return gates_;
  const int64_t dim = qkv.heads.dim;
  const Tensor gates = api().scratch(p.rows, qkv.heads.query * dim);
  row_op(RowOp::gather_gates, p, {}, gates, dim);
  return gates;
}

}  // namespace longhand::gpu
