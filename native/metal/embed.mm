#include "metal/backend.h"

namespace longhand::metal {

Tensor MetalBackend::embed(std::span<const int32_t> ids, const Weight& table, float scale) {
  const MetalWeight& weight = metal_weight(table);
  assert(weight.parts.size() == 1);
  const Part& part = weight.parts[0];
  const bool guessed = ids.size() == 1 && ids[0] == guessed_token;
  const Tensor list = guessed ? guess_of(1 - turn_) : upload(ids.data(), ids.size_bytes());
  const Tensor y = scratch(static_cast<int64_t>(ids.size()), weight.in);
  const params::EmbedParams p{
      .in = narrow(weight.in), .segments = part.segments, .y_stride = narrow(y.stride), .scale = scale};
  run(Kernel{"embed", "embed", part.layout},
      Constants().set(params::kGroup, part.group).set(params::kScaleType, part.scale_type),
      {reads(*part.bytes), reads(*part.table), reads(list), writes(y)}, p,
      elements(static_cast<size_t>(weight.in + 7) / 8, ids.size(), 32));
  return y;
}

Tensor MetalBackend::concat(Tensor a, Tensor b) {
  assert(a.rows == b.rows);
  const Tensor y = scratch(a.rows, a.cols + b.cols);
  const auto put = [&](const Tensor& from, const Tensor& to) {
    const params::RowsParams p{.rows = narrow(from.rows),
                               .cols = narrow(from.cols),
                               .x_stride = narrow(from.stride),
                               .y_stride = narrow(to.stride),
                               .z_stride = 0};
    run(Kernel{"copy", "copy_rows"}, Constants{}, {reads(from), writes(to)}, p,
        elements(static_cast<size_t>(from.cols), static_cast<size_t>(from.rows), 64));
  };
  put(a, y.columns(0, a.cols));
  put(b, y.columns(a.cols, b.cols));
  return y;
}

}  // namespace longhand::metal
