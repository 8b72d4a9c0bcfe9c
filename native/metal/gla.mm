#include <algorithm>

#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

namespace {

struct Instance {
  int64_t keys;
  const char* decode;
};
constexpr Instance instances[] = {
    {4, "gla_decode_4"}, {8, "gla_decode_8"}, {16, "gla_decode_16"}, {32, "gla_decode_32"}, {64, "gla_decode_64"}};

constexpr size_t decode_simdgroups = 4;

}  // namespace

Tensor MetalBackend::gla_intra_chunk(Tensor q, Tensor k, Tensor v, const Gla& shape, const RecurrentState& state) {
  const Tensor o = scratch(q.rows, v.cols);
  intra_chunk_into(q, k, v, shape, state, o);
  return o;
}

void MetalBackend::intra_chunk_into(const Tensor& q, const Tensor& k, const Tensor& v, const Gla& shape,
                                    const RecurrentState& state, const Tensor& o) {
  run(Kernel{"gla", "gla_intra_chunk"}, Constants{},
      {reads(q), reads(k), reads(v), reads(shape.slopes), reads(*state.state), writes(o)},
      kernel_args::gla(shape, q, k, v, o),
      Grid{{static_cast<size_t>(q.rows + kGlaRows - 1) / kGlaRows, static_cast<size_t>(shape.heads), 1},
           {128, 1, 1},
           0,
           4.0 * static_cast<double>(q.rows * v.cols * (shape.key_dim + q.rows))});
}

void MetalBackend::gla_state_update(Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  run(Kernel{"gla", "gla_state_update"}, Constants{},
      {reads(k), reads(v), reads(shape.slopes), reads(state.state), writes(slot_after(state.state, state.other))},
      kernel_args::gla(shape, k, k, v, v),
      elements(static_cast<size_t>(shape.key_dim * shape.value_dim), static_cast<size_t>(shape.heads), 128));
  change_slots(state.state, state.other);
}

Tensor MetalBackend::gla_decode(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  const Tensor o = scratch(q.rows, v.cols);
  const auto instance = std::find_if(std::begin(instances), std::end(instances),
                                     [&](const Instance& each) { return shape.key_dim <= each.keys * kDeltaLanes; });
  assert(instance != std::end(instances));
  const size_t columns = decode_simdgroups * 8;
  run(Kernel{"gla", instance->decode}, Constants().set(kDim, narrow(shape.key_dim)),
      {reads(q), reads(k), reads(v), reads(shape.slopes), reads(state.state),
       writes(slot_after(state.state, state.other)), writes(o)},
      kernel_args::gla(shape, q, k, v, o),
      Grid{{(static_cast<size_t>(shape.value_dim) + columns - 1) / columns, static_cast<size_t>(shape.heads), 1},
           {decode_simdgroups * 32, 1, 1}});
  change_slots(state.state, state.other);
  return o;
}

Tensor MetalBackend::gla(Tensor q, Tensor k, Tensor v, const Gla& shape, RecurrentState& state) {
  if (q.rows == 1) return gla_decode(q, k, v, shape, state);
  if (q.rows > kMatvecTokens && fits_chunks(shape.key_dim, shape.value_dim))
    return in_chunks({.q = q,
                      .k = k,
                      .v = v,
                      .key_heads = shape.heads,
                      .heads = shape.heads,
                      .key_dim = shape.key_dim,
                      .value_dim = shape.value_dim,
                      .scale = shape.scale,
                      .decay = shape.slopes.get()},
                     state);
  const Tensor o = scratch(q.rows, v.cols);
  for (int64_t first = 0; first < q.rows; first += kGlaChunk) {
    const int64_t n = std::min<int64_t>(kGlaChunk, q.rows - first);
    const auto part = [&](const Tensor& x) { return x.row_range(first, n); };
    intra_chunk_into(part(q), part(k), part(v), shape, state, part(o));
    gla_state_update(part(k), part(v), shape, state);
  }
  return o;
}

}  // namespace longhand::metal
