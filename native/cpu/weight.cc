#include <cstring>
#include <stdexcept>
#include <string>

#include "cpu/backend.h"
#include "cpu/floats.h"
#include "formats/checkpoint.h"

namespace longhand::cpu {
namespace {

size_t element_bytes(DType type) { return type == DType::f32 ? 4 : 2; }
bool in_place(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::bf16; }

}  // namespace

WeightPtr CpuBackend::prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive) {
  assert(!views.empty());
  auto weight = std::make_shared<CpuWeight>();
  weight->in = views[0].shape.back();
  weight->experts = views[0].shape.size() == 3 ? views[0].shape[0] : 1;
  weight->keep_alive = std::move(keep_alive);
  int64_t rows = 0;
  for (const WeightView& view : views) {
    assert(view.shape.back() == weight->in && (views.size() == 1 || view.shape.size() == 2));
    Segment segment{view.type, rows, view.elements() / weight->in, view.data};
    if (in_place(view.type)) {
      weight->in_place = true;
    } else {
      std::vector<float>& decoded = weight->decoded.emplace_back(static_cast<size_t>(view.elements()));
      dequantise_rows(view, 0, segment.rows, decoded.data());
      segment.type = DType::f32;
      segment.data = reinterpret_cast<const std::byte*>(decoded.data());
    }
    weight->bytes += static_cast<size_t>(view.elements()) * element_bytes(segment.type);
    weight->segments.push_back(segment);
    rows += segment.rows;
  }
  weight->out = rows / weight->experts;
  return weight;
}

void decode_row(const CpuWeight& weight, int64_t index, float* to) {
  for (const Segment& segment : weight.segments) {
    if (index >= segment.first + segment.rows) continue;
    const std::byte* from =
        segment.data + static_cast<size_t>((index - segment.first) * weight.in) * element_bytes(segment.type);
    if (segment.type == DType::f32) {
      std::memcpy(to, from, static_cast<size_t>(weight.in) * sizeof(float));
      return;
    }
    for (int64_t i = 0; i < weight.in; ++i) {
      const uint16_t bits = load_u16(from + 2 * i);
      to[i] = segment.type == DType::bf16 ? from_bf16(bits) : from_f16(bits);
    }
    return;
  }
}

}  // namespace longhand::cpu
