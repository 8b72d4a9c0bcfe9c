// Linear attention in chunks of 64 tokens: two dispatches for any number of tokens.
#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

namespace {

constexpr int64_t chunk = 64;
constexpr size_t simdgroups = 4;

// Instances of the kernel by rows of 8 of the state.
struct Instance {
  int64_t key_dim;
  const char* scan;
};
constexpr Instance instances[] = {
    {16, "chunk_scan_2"}, {32, "chunk_scan_4"}, {64, "chunk_scan_8"}, {128, "chunk_scan_16"}, {256, "chunk_scan_32"}};

const char* scan_for(int64_t key_dim) {
  for (const Instance& each : instances)
    if (each.key_dim == key_dim) return each.scan;
  return nullptr;
}

}  // namespace

bool MetalBackend::fits_chunks(int64_t key_dim, int64_t value_dim) {
  return scan_for(key_dim) != nullptr && value_dim % 8 == 0;
}

Tensor MetalBackend::in_chunks(const Chunked& c, RecurrentState& state) {
  const int64_t tokens = c.q.rows, chunks = (tokens + chunk - 1) / chunk;
  const bool delta = static_cast<bool>(c.gates);
  // Q, K, for the delta rule the keys it writes, then U, P and the decay of the chunk: places_of in chunk.metal.
  const int64_t floats = chunk * ((delta ? 3 : 2) * c.key_dim + c.value_dim + chunk) + 4;
  const Tensor parts = scratch(c.heads * chunks, floats);
  const Tensor o = scratch((tokens + 7) / 8 * 8, c.heads * c.value_dim);
  const ChunkParams p{.tokens = narrow(tokens),
                      .key_heads = narrow(c.key_heads),
                      .heads = narrow(c.heads),
                      .key_dim = narrow(c.key_dim),
                      .value_dim = narrow(c.value_dim),
                      .q_stride = narrow(c.q.stride),
                      .k_stride = narrow(c.k.stride),
                      .v_stride = narrow(c.v.stride),
                      .gates_stride = narrow(c.gates.stride),
                      .o_stride = narrow(o.stride),
                      .part_floats = narrow(floats),
                      .scale = c.scale,
                      .l2_eps = c.l2_eps};
  const Constants constants = Constants().set(kTiled, c.tiled).set(kDelta, delta);
  const double products = 2.0 * static_cast<double>(c.heads * chunks * chunk);
  run(Kernel{"chunk", "chunk_prepare"}, constants,
      {reads(c.q), reads(c.k), reads(c.v), delta ? reads(c.gates) : unused(c.q), reads(*c.decay),
       delta ? reads(*c.dt_bias) : unused(c.q), writes(parts)},
      p,
      Grid{{static_cast<size_t>(chunks), static_cast<size_t>(c.heads), 1},
           {simdgroups * 32, 1, 1},
           0,
           products * static_cast<double>(2 * chunk * c.key_dim)});
  const size_t columns = simdgroups * 8;
  run(Kernel{"chunk", scan_for(c.key_dim)}, constants,
      {reads(parts), reads(state.state), writes(slot_after(state.state, state.other)), writes(o)}, p,
      Grid{{(static_cast<size_t>(c.value_dim) + columns - 1) / columns, static_cast<size_t>(c.heads), 1},
           {simdgroups * 32, 1, 1},
           0,
           products * static_cast<double>(c.value_dim * (3 * c.key_dim + chunk))});
  change_slots(state.state, state.other);
  return o.row_range(0, tokens);
}

}  // namespace longhand::metal
