#include <cstring>

#include "vulkan/backend.h"
#include "vulkan/cache.h"

namespace longhand::vulkan {

using namespace params;

namespace {

constexpr uint32_t head_threads = 32;

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

Tensor VulkanBackend::qk_norm_rope_store(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions,
                                         KvCache& cache) {
  const Heads& heads = qkv.heads;
  const Tensor q = scratch(p.rows, heads.query * heads.dim);
  const Tensor gates = qkv.gated ? scratch(p.rows, heads.query * heads.dim) : q;
  const Tensor list = upload(positions.data(), positions.size_bytes());
  const int64_t bound = cache.length / 2 * 2;  // rows of an even number begin at a word
  const RopeParams params = kernel_args::rope_store(p, qkv, rope, positions.size(), q, cache, cache.length - bound);
  const auto appended = [&](Buffer& buffer) {
    const size_t first = static_cast<size_t>(bound) * params.row_bytes;
    const size_t end = static_cast<size_t>(cache.length + p.rows) * params.row_bytes;
    return part_of(buffer, first, end - first, Access::update);
  };
  run("rope", constants_of(qkv, rope).set(kCacheType, cache_type(cache.type)),
      {updates(p), qkv.q_norm ? reads(qkv.q_norm->weight) : unused(p),
       qkv.k_norm ? reads(qkv.k_norm->weight) : unused(p), rope.inv_freq ? reads(rope.inv_freq) : unused(p),
       reads(list), writes(q), writes(gates), appended(*cache.keys), appended(*cache.values)},
      params, groups(static_cast<size_t>(heads.query + 2 * heads.kv), static_cast<size_t>(p.rows), head_threads));
  cache.length += p.rows;
  gates_ = gates;
  gates_of_ = qkv.gated ? p : Tensor{};
  return q;
}

void VulkanBackend::qk_norm_rope(Tensor p, const Qkv& qkv, const Rope& rope, std::span<const int32_t> positions) {
  const Heads& heads = qkv.heads;
  assert(p.cols >= kernel_args::query_columns(qkv) + heads.kv * heads.dim);
  const Tensor list = upload(positions.data(), positions.size_bytes());
  Constants constants = constants_of(qkv, rope);
  constants.set(kInPlace, 1);
  run("rope", constants,
      {updates(p), qkv.q_norm ? reads(qkv.q_norm->weight) : unused(p),
       qkv.k_norm ? reads(qkv.k_norm->weight) : unused(p), rope.inv_freq ? reads(rope.inv_freq) : unused(p),
       reads(list), unused(p), unused(p), unused(p), unused(p)},
      kernel_args::rope(p, qkv, rope, positions.size()),
      groups(static_cast<size_t>(heads.query + heads.kv), static_cast<size_t>(p.rows), head_threads));
}

// qk_norm_rope_store has gathered the gates of the same projection already.
Tensor VulkanBackend::gate_columns(Tensor p, const Qkv& qkv) {
  assert(qkv.gated);
  if (gates_of_ && gates_of_.buffer == p.buffer && gates_of_.offset == p.offset) return gates_;
  const int64_t dim = qkv.heads.dim;
  const Tensor gates = scratch(p.rows, qkv.heads.query * dim);
  copy_rows(shared::kGatherGates, p, {}, gates, Access::write, dim);
  return gates;
}

}  // namespace longhand::vulkan
