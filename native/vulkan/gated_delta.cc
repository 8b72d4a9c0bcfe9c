#include <algorithm>

#include "vulkan/backend.h"

namespace longhand::vulkan {

using namespace params;

namespace {

constexpr int64_t step_tokens = 8;  // above: convolution, scan and norm as dispatches of their own
constexpr uint32_t scan_threads = 64, norm_threads = 64;
// Tokens of one scan. Mesa's software driver leaves every loop of a kernel after 65,535 turns in all, about 240 tokens
// of a state of 128 x 128.
constexpr int64_t scan_tokens = 128;

}  // namespace

Tensor VulkanBackend::gated_delta(Tensor p, const GatedDelta& w, ConvState& conv, RecurrentState& state) {
  const Tensor o = scratch(p.rows, w.value_heads * w.value_dim);
  const Constants constants =
      Constants().set(kDim, narrow(w.key_dim)).set(kTiled, w.head_map == GatedDelta::HeadMap::tiled);
  GatedDeltaParams params = kernel_args::gated_delta(p, o, w, conv);
  const int64_t values = w.value_heads / w.key_heads * w.value_dim;
  const int64_t most_values = std::min<int64_t>(MAX_STEP_VALUES, device_->threads_for(MAX_STEP_VALUES));
  if (p.rows <= step_tokens && values <= most_values) {
    run("gated_delta_step", constants,
        {reads(p), reads(w.conv), reads(w.decay), reads(w.dt_bias), reads(w.norm.weight), updates(*conv.window),
         updates(*state.state), writes(o)},
        params, groups(static_cast<size_t>(w.key_heads), 1, narrow(values)));
    return o;
  }
  const Tensor qkv = conv_silu(p, *w.conv, conv);
  params.qkv_stride = narrow(qkv.stride);
  for (int64_t first = 0; first < p.rows; first += scan_tokens) {
    const int64_t count = std::min(scan_tokens, p.rows - first);
    const auto part = [&](const Tensor& x) { return x.row_range(first, count); };
    params.tokens = narrow(count);
    run("gated_delta_scan", constants,
        {reads(part(qkv)), reads(part(p)), reads(w.decay), reads(w.dt_bias), updates(*state.state), writes(part(o))},
        params, elements(static_cast<size_t>(w.value_dim), static_cast<size_t>(w.value_heads), scan_threads));
  }
  params.tokens = narrow(p.rows);
  run("gated_norm", constants, {reads(p), reads(w.norm.weight), updates(o)}, params,
      groups(static_cast<size_t>(w.value_heads), static_cast<size_t>(p.rows), norm_threads));
  return o;
}

}  // namespace longhand::vulkan
