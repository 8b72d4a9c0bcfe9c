#include "cpu/weights/weight.h"

#include <algorithm>
#include <cstring>

#include "cpu/backend.h"
#include "cpu/weights/floats.h"
#include "formats/checkpoint.h"
#include "formats/error.h"
#include "formats/mapped_file.h"
#include "formats/utf8.h"
#include "formats/verify.h"

namespace longhand::cpu {
namespace {

int64_t element_bytes(DType type) { return type == DType::f32 ? 4 : 2; }
// Bytes of a file that are packed between two releases of its pages, so that a load needs little memory beyond its
// result.
constexpr int64_t slab_bytes = int64_t{16} << 20;

bool in_place(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::bf16; }

// Small floats (FP8, MX) become bf16: it holds each of their values, scales being powers of two.
void decode_to_bf16(const WeightView& view, int64_t row, int64_t in, std::vector<float>& values, std::byte* to) {
  values.resize(static_cast<size_t>(in));
  dequantise_rows(view, row, 1, values.data());
  for (int64_t i = 0; i < in; ++i) {
    const uint16_t bits = to_bf16(values[static_cast<size_t>(i)]);
    std::memcpy(to + 2 * (row * in + i), &bits, sizeof bits);
  }
}

// Checks the scales of packed rows [first, first + count) while their pages are in memory, then releases the pages.
void leave_rows(const WeightView& view, int64_t first, int64_t count) {
  const WeightView done = rows_of(view, first, count);
  if (find_non_finite(done, Verify::scales)) {
    throw FormatError("[weights] tensor \"" + printable(view.name) +
                      "\": " + find_non_finite(view, Verify::scales).value_or("") + "; the file is damaged");
  }
  if (!view.mapping.empty()) release_pages({done.data, done.data_bytes});
}

}  // namespace

const std::byte* Segment::row(int64_t expert, int64_t index, int64_t in) const {
  return data + (expert * rows + index) * in * element_bytes(type);
}

bool CpuWeight::any_packed() const {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.packed; });
}

bool CpuWeight::all_packed() const {
  return std::all_of(segments.begin(), segments.end(), [](const Segment& s) { return s.packed; });
}

bool CpuWeight::any_bf16() const {
  return std::any_of(segments.begin(), segments.end(),
                     [](const Segment& s) { return !s.packed && s.type == DType::bf16; });
}

// Every view is one segment. 3-D views lie beside each other in every expert; 2-D views with `experts` > 1 are grouped
// by expert, so the row counter starts again with each group.
WeightPtr CpuBackend::prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                              int64_t experts) {
  assert(!views.empty() && static_cast<int64_t>(views.size()) % experts == 0);
  const bool stacked = views[0].shape.size() == 3;
  const int64_t group = static_cast<int64_t>(views.size()) / experts, in = views[0].shape.back();
  auto weight = std::make_shared<CpuWeight>();
  weight->in = in;
  weight->experts = stacked ? views[0].shape[0] : experts;
  for (int64_t i = 0; i < static_cast<int64_t>(views.size()); ++i) {
    const WeightView& view = views[static_cast<size_t>(i)];
    assert(view.shape.back() == in && (view.shape.size() == 3) == stacked);
    if (i % group == 0) weight->out = 0;
    Segment segment{.type = view.type,
                    .first = weight->out,
                    .rows = view.shape[view.shape.size() - 2],
                    .first_expert = i / group,
                    .experts = stacked ? weight->experts : 1,
                    .data = view.data};
    if (in_place(view.type)) {
      weight->in_place = true;
      weight->bytes += view.data_bytes;
    } else {
      weight->packed.push_back(pack(view, segment));
      weight->bytes += weight->packed.back()->bytes();
    }
    weight->out += segment.rows;
    weight->segments.push_back(segment);
  }
  if (weight->in_place) weight->keep_alive = std::move(keep_alive);
  return weight;
}

// Rows [first, first + count) of one expert, in their place in `memory`.
void CpuBackend::pack_rows(const WeightView& view, const Segment& segment, int64_t first, int64_t count,
                           std::byte* memory) {
  if (!segment.packed) {
    threads_.run(count, [&](int64_t i) {
      thread_local std::vector<float> values;
      decode_to_bf16(view, first + i, segment.layout.in, values, memory);
    });
    return;
  }
  const int64_t expert = first / segment.rows, panel = first % segment.rows / panel_rows;
  threads_.run((count + panel_rows - 1) / panel_rows, [&](int64_t i) {
    const int64_t row = (panel + i) * panel_rows;
    pack_panel(view, segment.layout, expert * segment.rows + row, std::min(panel_rows, segment.rows - row),
               memory + (expert * segment.panels() + panel + i) * segment.layout.panel_bytes());
  });
}

BufferPtr CpuBackend::pack_anew(const WeightView& view, const Segment& segment, int64_t bytes) {
  const int64_t rows = segment.experts * segment.rows, row_bytes = static_cast<int64_t>(view.data_bytes) / rows;
  BufferPtr memory = std::make_shared<HostBuffer>(static_cast<size_t>(bytes), Pages::huge);
  const int64_t slab = std::max<int64_t>(slab_bytes / std::max<int64_t>(row_bytes, 1) / panel_rows, 1) * panel_rows;
  for (int64_t first = 0; first < rows;) {
    const int64_t count = std::min(slab, segment.rows - first % segment.rows);  // panels end with their expert
    pack_rows(view, segment, first, count, memory->host());
    leave_rows(view, first, count);
    first += count;
  }
  return memory;
}

BufferPtr CpuBackend::pack(const WeightView& view, Segment& segment) {
  segment.packed = panel_layout(view, segment.layout);
  const int64_t bytes = segment.packed ? segment.experts * segment.panels() * segment.layout.panel_bytes()
                                       : view.elements() * element_bytes(DType::bf16);
  if (rehearses_) return std::make_shared<HostBuffer>(static_cast<size_t>(bytes), Pages::none);
  BufferPtr memory = packed_file_ ? packed_file_->find(view, static_cast<size_t>(bytes)) : nullptr;
  if (!memory) {
    memory = pack_anew(view, segment, bytes);
    if (packed_file_) packed_file_->add(view, memory);
  }
  if (!segment.packed) segment.type = DType::bf16;
  segment.data = memory->host();
  return memory;
}

void CpuBackend::prepared() {
  if (packed_file_) packed_file_->complete();
}

PackedCacheStatus CpuBackend::packed_cache_status() const {
  return packed_file_ ? packed_file_->state() : PackedCacheStatus::none;
}

RowPlace find_row(const CpuWeight& weight, int64_t index) {
  const int64_t expert = index / weight.out, row = index % weight.out;
  for (const Segment& s : weight.segments) {
    const int64_t e = expert - s.first_expert, r = row - s.first;
    if (e >= 0 && e < s.experts && r >= 0 && r < s.rows) return {&s, e, r};
  }
  assert(false && "a row outside the matrix");
  return {};
}

namespace {

void decode_packed_row(const Kernels& kernels, const RowPlace& place, float* to) {
  const PanelLayout& layout = place.segment->layout;
  const std::byte* panel = place.segment->panel(place.expert, place.row / panel_rows);
  const int64_t lane = place.row % panel_rows;
  std::vector<float> scales(static_cast<size_t>(layout.groups() * panel_rows)), biases(scales.size());
  decode_scales(kernels, packed_scales(layout, panel), 0, layout.groups(), scales.data(), biases.data());
  const auto* codes = reinterpret_cast<const uint8_t*>(panel + layout.scale_bytes());
  uint8_t block[unpacked_block_bytes];
  for (int64_t b = 0; b < layout.blocks(); ++b) {
    kernels.unpack({codes + b * layout.block_bytes(), layout.bits, layout.table, 1, block});
    for (int64_t c = 0; c < block_columns; ++c) {
      const auto at = static_cast<size_t>((b * block_columns + c) / layout.group * panel_rows + lane);
      const int code = block[c / 4 * quad_bytes + lane * 4 + c % 4] - layout.zero;
      to[b * block_columns + c] = scales[at] * static_cast<float>(code) + biases[at];
    }
  }
}

}  // namespace

void decode_row(const Kernels& kernels, const CpuWeight& weight, int64_t index, float* to) {
  const RowPlace place = find_row(weight, index);
  if (place.segment->packed) return decode_packed_row(kernels, place, to);
  const std::byte* from = place.segment->row(place.expert, place.row, weight.in);
  if (place.segment->type == DType::f32) std::memcpy(to, from, static_cast<size_t>(weight.in) * sizeof(float));
  else (place.segment->type == DType::f16 ? kernels.from_f16 : kernels.from_bf16)(from, weight.in, to);
}

}  // namespace longhand::cpu
