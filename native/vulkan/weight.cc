// Matrices as they stand in the file, copied into memory of the GPU: a projection of several matrices is a table of
// where each stands. What does not fit into one binding comes in parts, each a dispatch of its own.
#include <algorithm>

#include "formats/blocks.h"
#include "formats/error.h"
#include "vulkan/backend.h"

namespace longhand::vulkan {
namespace {

using namespace shared;

constexpr size_t piece_alignment = 16;

uint32_t layout_of(const WeightView& view) {
  switch (view.type) {
    case DType::f32: return kLayoutF32;
    case DType::f16: return kLayoutF16;
    case DType::bf16: return kLayoutBF16;
    case DType::q4_0: return kLayoutQ4_0;
    case DType::q4_1: return kLayoutQ4_1;
    case DType::q5_0: return kLayoutQ5_0;
    case DType::q5_1: return kLayoutQ5_1;
    case DType::q8_0: return kLayoutQ8_0;
    case DType::q2_k: return kLayoutQ2K;
    case DType::q3_k: return kLayoutQ3K;
    case DType::q4_k: return kLayoutQ4K;
    case DType::q5_k: return kLayoutQ5K;
    case DType::q6_k: return kLayoutQ6K;
    case DType::iq4_nl: return kLayoutIq4Nl;
    case DType::iq4_xs: return kLayoutIq4Xs;
    case DType::gguf_mxfp4: return kLayoutGgufMxfp4;
    case DType::mxfp4: return kLayoutMxfp4;
    case DType::mxfp8: return kLayoutMxfp8;
    case DType::nvfp4: return kLayoutNvfp4;
    case DType::affine:
      if (view.affine.bits >= 2 && view.affine.bits <= 8 && view.affine.bits != 7) return kLayoutAffine;
      [[fallthrough]];
    default: break;
  }
  throw Unsupported("[vulkan] linear has no kernel for \"" + view.name + "\" of type " + name_of(view.type));
}

bool has_scales(const WeightView& view) { return view.affine.scales != nullptr; }
size_t scale_bytes(const WeightView& view) {
  return view.affine.scale_type == DType::f32 ? 4 : view.affine.scale_type == DType::u8 ? 1 : 2;
}
uint32_t scale_type(const WeightView& view) {
  return view.affine.scale_type == DType::f16 ? 1 : view.affine.scale_type == DType::bf16 ? 2 : 0;
}
int64_t columns(const WeightView& view) { return view.shape.back(); }
int64_t rows_of(const WeightView& view) { return view.shape[view.shape.size() - 2]; }
int64_t stacked(const WeightView& view) { return view.shape.size() == 3 ? view.shape[0] : 1; }

size_t row_bytes(const WeightView& view) {
  if (has_scales(view)) return static_cast<size_t>(columns(view) * view.affine.bits / 8);
  const BlockSize block = block_size(view.type);
  return static_cast<size_t>(columns(view) / block.elements * block.bytes);
}
size_t scale_row_bytes(const WeightView& view) {
  return has_scales(view) ? static_cast<size_t>(columns(view) / view.affine.group) * scale_bytes(view) : 0;
}
size_t full_row_bytes(const WeightView& view) {
  return row_bytes(view) + scale_row_bytes(view) * (view.affine.biases ? 2 : 1);
}

bool same_form(const WeightView& a, const WeightView& b) {
  return layout_of(a) == layout_of(b) && a.affine.bits == b.affine.bits && a.affine.group == b.affine.group &&
         a.affine.scale_type == b.affine.scale_type;
}

size_t aligned(size_t bytes) { return (bytes + piece_alignment - 1) / piece_alignment * piece_alignment; }

size_t bytes_of(const Slice& slice) {
  const auto n = static_cast<size_t>(slice.count);
  const size_t scales = aligned(n * scale_row_bytes(*slice.view));
  return aligned(n * row_bytes(*slice.view)) + scales * (slice.view->affine.biases ? 2 : 1);
}

}  // namespace

// The slices of every expert, one after the other: the data of each, its scales, its biases.
Part VulkanBackend::make_part(const std::vector<Slice>& slices, int64_t experts) {
  const WeightView& form = *slices[0].view;
  Part part{.layout = layout_of(form),
            .bits = static_cast<uint32_t>(form.affine.bits),
            .group = has_scales(form) ? narrow(form.affine.group) : 1,
            .scale_type = scale_type(form),
            .segments = narrow(static_cast<int64_t>(slices.size()) / experts),
            .expert_tables = experts > 1};
  size_t bytes = 0;
  for (const Slice& slice : slices) bytes += bytes_of(slice);
  part.bytes = device_->allocate(bytes, Device::Place::device);
  // Allocated before the first copy: if there is no room, no copy has to be waited for.
  part.table = device_->allocate(slices.size() * sizeof(params::WeightSegment), Device::Place::device);
  size_t used = 0;
  const auto put = [&](const std::byte* from, size_t row, const Slice& slice) {
    const size_t at = used, count = static_cast<size_t>(slice.count) * row;
    const auto first = static_cast<size_t>(slice.index * rows_of(*slice.view) + slice.first);
    if (count > 0) place(*part.bytes, at, from + first * row, count);
    used += aligned(count);
    return at;
  };
  std::vector<params::WeightSegment> table;
  int64_t row = 0;
  for (const Slice& slice : slices) {
    const WeightView& view = *slice.view;
    if (table.size() % part.segments == 0) row = 0;  // the next expert
    params::WeightSegment segment{.row_bytes = row_bytes(view),
                                  .row_scale_bytes = scale_row_bytes(view),
                                  .first = narrow(row),
                                  .rows = narrow(slice.count),
                                  .global_scale = view.affine.global_scale};
    segment.data = put(view.data, row_bytes(view), slice);
    segment.scales = put(view.affine.scales, scale_row_bytes(view), slice);
    if (view.affine.biases) segment.biases = put(view.affine.biases, scale_row_bytes(view), slice);
    table.push_back(segment);
    row += slice.count;
  }
  part.rows = narrow(row);
  place(*part.table, 0, table.data(), part.table->bytes());
  return part;
}

WeightPtr VulkanBackend::prepare(std::span<const WeightView> views, std::shared_ptr<const void>, int64_t experts) {
  assert(!views.empty() && static_cast<int64_t>(views.size()) % experts == 0);
  auto weight = std::make_shared<VulkanWeight>();
  weight->in = columns(views[0]);
  weight->experts = std::max(experts, stacked(views[0]));
  for (const WeightView& view : views) {
    assert(columns(view) == weight->in);
    weight->bytes += static_cast<size_t>(rows_of(view) * stacked(view)) * full_row_bytes(view);
  }
  try {
    fill(*weight, views, experts);
    staging_.flush();
  } catch (...) {
    staging_.drop();  // before the buffers that copies are in flight to are freed
    throw;
  }
  return weight;
}

void VulkanBackend::fill(VulkanWeight& weight, std::span<const WeightView> views, int64_t experts) {
  const int64_t group = static_cast<int64_t>(views.size()) / experts;
  const auto view_at = [&](int64_t e, int64_t i) -> const WeightView& {
    return views[static_cast<size_t>((experts > 1 ? e * group : 0) + i)];
  };
  const auto alike = [&](int64_t i, int64_t j) {  // in every expert
    for (int64_t e = 0; e < experts; e++)
      if (!same_form(view_at(0, i), view_at(e, j))) return false;
    return true;
  };
  // Whole views as long as they are alike and fit, else as many rows of the next as do.
  const uint64_t room = device_->limits().range - 4096;
  std::vector<Slice> taken;  // `index` is the place in the group
  uint64_t taken_bytes = 0;
  const auto close = [&] {
    std::vector<Slice> slices;
    for (int64_t e = 0; e < weight.experts; e++)
      for (const Slice& one : taken)
        slices.push_back({&view_at(e, one.index), experts > 1 ? 0 : e, one.first, one.count});
    Part part = make_part(slices, weight.experts);
    part.first = narrow(weight.out);
    weight.out += part.rows;
    weight.parts.push_back(std::move(part));
    taken.clear();
    taken_bytes = 0;
  };
  for (int64_t i = 0; i < group; i++) {
    const WeightView& view = view_at(0, i);
    if (!alike(i, i)) throw Unsupported("[vulkan] the experts of \"" + view.name + "\" are stored in different types");
    if (!taken.empty() && !alike(taken[0].index, i)) close();
    const uint64_t row = (full_row_bytes(view) + 3 * piece_alignment) * static_cast<uint64_t>(weight.experts);
    if (row > room) throw Unsupported("[vulkan] one row of \"" + view.name + "\" is larger than a binding of this GPU");
    for (int64_t first = 0; first < rows_of(view);) {
      if (taken_bytes + row > room) close();
      const int64_t count = std::min(rows_of(view) - first, static_cast<int64_t>((room - taken_bytes) / row));
      taken.push_back({&view, i, first, count});
      taken_bytes += static_cast<uint64_t>(count) * row;
      first += count;
    }
  }
  close();
}

}  // namespace longhand::vulkan
