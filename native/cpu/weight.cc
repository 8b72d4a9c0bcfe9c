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

// Every view is one segment. 3-D views lie beside each other in every expert; 2-D views with `experts` > 1 are grouped
// by expert, so the row counter starts again with each group.
WeightPtr CpuBackend::prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                              int64_t experts) {
  assert(!views.empty() && static_cast<int64_t>(views.size()) % experts == 0);
  const bool stacked = views[0].shape.size() == 3;
  const int64_t group = static_cast<int64_t>(views.size()) / experts;
  auto weight = std::make_shared<CpuWeight>();
  weight->in = views[0].shape.back();
  weight->experts = stacked ? views[0].shape[0] : experts;
  weight->keep_alive = std::move(keep_alive);
  for (int64_t i = 0; i < static_cast<int64_t>(views.size()); ++i) {
    const WeightView& view = views[static_cast<size_t>(i)];
    assert(view.shape.back() == weight->in && (view.shape.size() == 3) == stacked);
    if (i % group == 0) weight->out = 0;
    Segment segment{.type = view.type,
                    .first = weight->out,
                    .rows = view.shape[view.shape.size() - 2],
                    .first_expert = i / group,
                    .experts = stacked ? weight->experts : 1,
                    .data = view.data};
    if (in_place(view.type)) {
      weight->in_place = true;
    } else {
      std::vector<float>& decoded = weight->decoded.emplace_back(static_cast<size_t>(view.elements()));
      dequantise_rows(view, 0, segment.rows * segment.experts, decoded.data());
      segment.type = DType::f32;
      segment.data = reinterpret_cast<const std::byte*>(decoded.data());
    }
    weight->bytes += static_cast<size_t>(view.elements()) * element_bytes(segment.type);
    weight->out += segment.rows;
    weight->segments.push_back(segment);
  }
  return weight;
}

RowRun find_rows(const CpuWeight& weight, int64_t index) {
  const int64_t expert = index / weight.out, row = index % weight.out;
  for (const Segment& s : weight.segments) {
    const int64_t e = expert - s.first_expert, r = row - s.first;
    if (e >= 0 && e < s.experts && r >= 0 && r < s.rows)
      return {s.type, s.data + static_cast<size_t>((e * s.rows + r) * weight.in) * element_bytes(s.type), s.rows - r};
  }
  assert(false && "a row outside the matrix");
  return {};
}

void decode_row(const CpuWeight& weight, int64_t index, float* to) {
  const RowRun run = find_rows(weight, index);
  if (run.type == DType::f32) std::memcpy(to, run.data, static_cast<size_t>(weight.in) * sizeof(float));
  for (int64_t i = 0; run.type == DType::f16 && i < weight.in; ++i) to[i] = from_f16(load_u16(run.data + 2 * i));
  for (int64_t i = 0; run.type == DType::bf16 && i < weight.in; ++i) to[i] = from_bf16(load_u16(run.data + 2 * i));
}

}  // namespace longhand::cpu
