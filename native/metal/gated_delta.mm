#include <cmath>

#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

namespace {

// Instances of the kernels by keys a lane. `step_values`: value columns of one threadgroup of the step, 4 lanes each:
// 256 is 1024 threads, for which an M1 has 52 registers a thread; more keys a lane need more
// (test/metal/listing.test.ts).
struct Instance {
  int64_t keys;
  const char* scan;
  const char* step;
  int64_t step_values;
};
constexpr Instance instances[] = {{4, "gated_delta_scan_4", "gated_delta_step_4", MAX_STEP_VALUES},
                                  {8, "gated_delta_scan_8", "gated_delta_step_8", MAX_STEP_VALUES},
                                  {16, "gated_delta_scan_16", "gated_delta_step_16", MAX_STEP_VALUES},
                                  {32, "gated_delta_scan_32", "gated_delta_step_32", 192},
                                  {64, "gated_delta_scan_64", "gated_delta_step_64", 128}};
const Instance& instance_for(int64_t key_dim) {
  for (const Instance& each : instances)
    if (key_dim <= each.keys * kDeltaLanes) return each;
  assert(false);
  return instances[4];
}

constexpr int64_t step_tokens = 8;  // above: convolution, scan and norm as dispatches of their own

// Threadgroups among which a key head's `values` columns are divided: `wanted`, more where one of them has not the
// threads for its columns, and preferably so many that each has whole heads, which it can then normalise itself. 0: no
// such division. A window that stays where it is must not be shared.
int64_t slices_for(int64_t values, int64_t value_dim, int64_t most, int64_t wanted, bool window_moves) {
  int64_t found = 0;
  for (int64_t slices = 1; slices == 1 || (window_moves && 8 * slices <= values); ++slices) {
    if (values > most * slices || (slices > 1 && values % (8 * slices) != 0)) continue;
    if (values / slices % value_dim == 0 && slices >= wanted) return slices;
    if (found < wanted) found = slices;
  }
  return found;
}

}  // namespace

Tensor MetalBackend::delta_in_chunks(const Tensor& p, const Tensor& qkv, const GatedDelta& w, RecurrentState& state) {
  const int64_t keys = w.key_heads * w.key_dim, width = w.value_heads * w.value_dim;
  return in_chunks({.q = qkv.columns(0, keys),
                    .k = qkv.columns(keys, keys),
                    .v = qkv.columns(2 * keys, width),
                    .key_heads = w.key_heads,
                    .heads = w.value_heads,
                    .key_dim = w.key_dim,
                    .value_dim = w.value_dim,
                    .scale = 1.0f / std::sqrt(static_cast<float>(w.key_dim)),
                    .decay = w.decay.get(),
                    .gates = p.columns(w.channels() + width, 2 * w.value_heads),
                    .dt_bias = w.dt_bias.get(),
                    .l2_eps = w.l2_eps,
                    .tiled = w.head_map == GatedDelta::HeadMap::tiled},
                   state);
}

Tensor MetalBackend::gated_delta(Tensor p, const GatedDelta& w, ConvState& conv, RecurrentState& state) {
  const int64_t values = w.value_heads / w.key_heads * w.value_dim;
  const bool chunked = tuning_.delta_chunk_from > 0 && whole_of(p.rows) >= tuning_.delta_chunk_from &&
                       fits_chunks(w.key_dim, w.value_dim);
  const Instance& instance = instance_for(w.key_dim);
  const int64_t slices = chunked || p.rows > step_tokens ? 0
                                                         : slices_for(values, w.value_dim, instance.step_values,
                                                                      tuning_.delta_slices, conv.other != nullptr);
  const Tensor qkv = slices > 0 ? Tensor{} : conv_silu(p, *w.conv, conv);
  const Tensor o = chunked ? delta_in_chunks(p, qkv, w, state) : scratch(p.rows, w.value_heads * w.value_dim);
  const Constants constants =
      Constants().set(kDim, narrow(w.key_dim)).set(kTiled, w.head_map == GatedDelta::HeadMap::tiled);
  GatedDeltaParams params = kernel_args::gated_delta(p, o, w, conv);
  if (slices > 0) {
    const int64_t columns = values / slices;
    const bool norm_apart = columns % w.value_dim != 0;
    const auto simdgroups = static_cast<size_t>((columns + 7) / 8);
    run(Kernel{"gated_delta", instance.step},
        Constants(constants).set(kDeltaSlices, narrow(slices)).set(kNormApart, norm_apart),
        {reads(p), reads(w.conv), reads(w.decay), reads(w.dt_bias), reads(w.norm.weight), reads(conv.window),
         writes(slot_after(conv.window, conv.other)), reads(state.state), writes(slot_after(state.state, state.other)),
         writes(o)},
        params, Grid{{static_cast<size_t>(w.key_heads), static_cast<size_t>(slices), 1}, {simdgroups * 32, 1, 1}});
    change_slots(conv.window, conv.other);
    change_slots(state.state, state.other);
    if (!norm_apart) return o;
  }
  params.qkv_stride = narrow(qkv.stride);
  const auto simdgroups = static_cast<size_t>(tuning_.scan_simdgroups);
  const size_t columns = simdgroups * 8;
  if (!chunked && slices == 0) {
    run(Kernel{"gated_delta", instance.scan}, constants,
        {reads(qkv), reads(p), reads(w.decay), reads(w.dt_bias), reads(state.state),
         writes(slot_after(state.state, state.other)), writes(o)},
        params,
        Grid{{(static_cast<size_t>(w.value_dim) + columns - 1) / columns, static_cast<size_t>(w.value_heads), 1},
             {simdgroups * 32, 1, 1}});
    change_slots(state.state, state.other);
  }
  run(Kernel{"gated_delta", "gated_norm"}, constants, {reads(p), reads(w.norm.weight), updates(o)}, params,
      Grid{{static_cast<size_t>(w.value_heads), static_cast<size_t>(p.rows), 1}, {32, 1, 1}});
  return o;
}

}  // namespace longhand::metal
