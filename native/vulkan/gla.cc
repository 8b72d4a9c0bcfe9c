#include <algorithm>

#include "vulkan/backend.h"

namespace longhand::vulkan {

using namespace params;

namespace {

constexpr uint32_t chunk_threads = 128, column_threads = 64;

}  // namespace

Tensor VulkanBackend::gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) {
  const Tensor o = scratch(q.rows, v.cols);
  intra_chunk_into(q, k, v, shape, state, o);
  return o;
}

void VulkanBackend::intra_chunk_into(const Tensor& q, const Tensor& k, const Tensor& v, const Gla& shape,
                                     const RecurrentState& state, const Tensor& o) {
  run("gla_intra_chunk", Constants{},
      {reads(q), reads(k), reads(v), reads(shape.slopes), reads(*state.state), writes(o)},
      kernel_args::gla(shape, q, k, v, o),
      Grid{{static_cast<size_t>(q.rows + kGlaRows - 1) / kGlaRows, static_cast<size_t>(shape.heads), 1},
           device_->threads_for(chunk_threads),
           4.0 * static_cast<double>(q.rows * v.cols * (shape.key_dim + q.rows))});
}

void VulkanBackend::gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  run("gla_state_update", Constants{}, {reads(k), reads(v), reads(shape.slopes), updates(*state.state)},
      kernel_args::gla(shape, k, k, v, v),
      elements(static_cast<size_t>(shape.key_dim * shape.value_dim), static_cast<size_t>(shape.heads), 128));
}

Tensor VulkanBackend::gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  const Tensor o = scratch(q.rows, v.cols);
  run("gla_decode", Constants().set(kDim, narrow(shape.key_dim)),
      {reads(q), reads(k), reads(v), reads(shape.slopes), updates(*state.state), writes(o)},
      kernel_args::gla(shape, q, k, v, o),
      elements(static_cast<size_t>(shape.value_dim), static_cast<size_t>(shape.heads), column_threads));
  return o;
}

Tensor VulkanBackend::gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  if (q.rows == 1) return gla_decode(q, k, v, shape, state);
  const Tensor o = scratch(q.rows, v.cols);
  for (int64_t first = 0; first < q.rows; first += kGlaChunk) {
    const int64_t n = std::min<int64_t>(kGlaChunk, q.rows - first);
    const auto part = [&](const Tensor& x) { return x.row_range(first, n); };
    intra_chunk_into(part(q), part(k), part(v), shape, state, part(o));
    gla_state_update(part(k), part(v), shape, state);
  }
  return o;
}

}  // namespace longhand::vulkan
