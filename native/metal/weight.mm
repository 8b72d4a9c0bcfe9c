// Matrices in place: the mapped file is the GPU's memory, a projection of several matrices is a table of where each
// stands. Copied are only views that are not in a mapping, or so placed that the GPU could not load their elements.
#include <algorithm>
#include <cstring>

#include "formats/blocks.h"
#include "formats/error.h"
#include "metal/backend.h"

namespace longhand::metal {
namespace {

struct Layout {
  const char* name;
  size_t alignment;  // of the widest load
};

Layout layout_of(const WeightView& view) {
  switch (view.type) {
    case DType::f32: return {"F32", 4};
    case DType::f16: return {"F16", 2};
    case DType::bf16: return {"BF16", 2};
    case DType::q4_0: return {"Q4_0", 2};
    case DType::q4_1: return {"Q4_1", 2};
    case DType::q5_0: return {"Q5_0", 2};
    case DType::q5_1: return {"Q5_1", 2};
    case DType::q8_0: return {"Q8_0", 2};
    case DType::q2_k: return {"Q2K", 2};
    case DType::q3_k: return {"Q3K", 2};
    case DType::q4_k: return {"Q4K", 2};
    case DType::q5_k: return {"Q5K", 2};
    case DType::q6_k: return {"Q6K", 2};
    case DType::iq4_nl: return {"Iq4Nl", 2};
    case DType::iq4_xs: return {"Iq4Xs", 2};
    case DType::gguf_mxfp4: return {"GgufMxfp4", 1};
    case DType::mxfp4: return {"Mxfp4", 1};
    case DType::mxfp8: return {"Mxfp8", 1};
    case DType::nvfp4: return {"Nvfp4", 1};
    case DType::affine:
      switch (view.affine.bits) {
        case 2: return {"Affine2", 2};
        case 3: return {"Affine3", 1};
        case 4: return {"Affine4", 2};
        case 5: return {"Affine5", 1};
        case 6: return {"Affine6", 2};
        case 8: return {"Affine8", 1};
        default: break;
      }
      [[fallthrough]];
    default: break;
  }
  throw Unsupported("[metal] \"" + view.name + "\" is of type " + name_of(view.type) + ", which has no matrix kernel");
}

bool has_scales(const WeightView& view) { return view.affine.scales != nullptr; }
size_t scale_bytes(const WeightView& view) {
  return view.affine.scale_type == DType::f32 ? 4 : view.affine.scale_type == DType::u8 ? 1 : 2;
}
uint32_t scale_type(const WeightView& view) {
  return view.affine.scale_type == DType::f16 ? 1 : view.affine.scale_type == DType::bf16 ? 2 : 0;
}
int64_t columns(const WeightView& view) { return view.shape.back(); }
int64_t rows(const WeightView& view) { return view.shape[view.shape.size() - 2]; }
size_t groups(const WeightView& view) { return static_cast<size_t>(columns(view) / view.affine.group); }

size_t row_bytes(const WeightView& view) {
  if (has_scales(view)) return static_cast<size_t>(columns(view) * view.affine.bits / 8);
  const BlockSize block = block_size(view.type);
  return static_cast<size_t>(columns(view) / block.elements * block.bytes);
}
size_t all_scale_bytes(const WeightView& view) {
  return has_scales(view) ? static_cast<size_t>(view.elements() / view.affine.group) * scale_bytes(view) : 0;
}
size_t all_data_bytes(const WeightView& view) {
  return static_cast<size_t>(view.elements() / columns(view)) * row_bytes(view);
}

bool aligned(const void* p, size_t alignment) { return reinterpret_cast<uintptr_t>(p) % alignment == 0; }
bool usable_in_place(const WeightView& view) {
  return !view.mapping.empty() && aligned(view.data, layout_of(view).alignment) &&
         aligned(view.affine.scales, has_scales(view) ? scale_bytes(view) : 1) &&
         aligned(view.affine.biases, has_scales(view) ? scale_bytes(view) : 1);
}
bool same_form(const WeightView& a, const WeightView& b) {
  return layout_of(a).name == layout_of(b).name && a.affine.group == b.affine.group &&
         a.affine.scale_type == b.affine.scale_type && usable_in_place(a) == usable_in_place(b) &&
         (!usable_in_place(a) || a.mapping.data() == b.mapping.data());
}

// From the first to the last byte of several views of one file.
struct Reach {
  const std::byte* low = nullptr;
  const std::byte* high = nullptr;

  void include(const std::byte* from, size_t bytes) {
    if (!from) return;
    low = low ? std::min(low, from) : from;
    high = std::max(high, from + bytes);
  }
  void include(const WeightView& view) {
    include(view.data, all_data_bytes(view));
    include(view.affine.scales, all_scale_bytes(view));
    include(view.affine.biases, all_scale_bytes(view));
  }
  std::span<const std::byte> bytes() const { return {low, high}; }
};

// Where data, scales and biases of one view begin in the buffer that holds them.
struct Places {
  size_t data = 0, scales = 0, biases = 0;
};

params::WeightSegment segment_of(const WeightView& view, const Places& at, int64_t first) {
  const bool stacked = view.shape.size() == 3;
  const size_t scale_row = has_scales(view) ? groups(view) * scale_bytes(view) : 0;
  const auto count = static_cast<size_t>(rows(view));
  return {.data = at.data,
          .scales = at.scales,
          .biases = at.biases,
          .expert_bytes = stacked ? count * row_bytes(view) : 0,
          .expert_scale_bytes = stacked ? count * scale_row : 0,
          .row_bytes = row_bytes(view),
          .row_scale_bytes = scale_row,
          .first = narrow(first),
          .rows = narrow(rows(view)),
          .global_scale = view.affine.global_scale,
          .unused = 0};
}

size_t copied_bytes(const WeightView& view) {
  const size_t each = (all_scale_bytes(view) + 15) / 16 * 16;
  return (all_data_bytes(view) + 15) / 16 * 16 + each * (view.affine.biases ? 2 : 1);
}

Places copy_view(const WeightView& view, std::byte* to, size_t& used) {
  const auto put = [&](const std::byte* from, size_t bytes) {
    const size_t at = used;
    if (from && bytes) std::memcpy(to + at, from, bytes);
    used += (bytes + 15) / 16 * 16;
    return at;
  };
  Places places;
  places.data = put(view.data, all_data_bytes(view));
  places.scales = put(view.affine.scales, all_scale_bytes(view));
  if (view.affine.biases) places.biases = put(view.affine.biases, all_scale_bytes(view));
  return places;
}

}  // namespace

// The buffer that holds `wanted`, bytes of a mapped file, and what stands at its `first` byte. One buffer a file,
// shared by every matrix in it; where a file is longer than a buffer may be, one for each stretch of that length and
// one of their own for matrices that lie across two.
MetalBufferPtr MetalBackend::mapping(std::span<const std::byte> file, std::span<const std::byte> wanted,
                                     const std::shared_ptr<const void>& keep_alive, const std::byte*& first) {
  const size_t most = device_->most_borrowed();
  const auto low = static_cast<size_t>(wanted.data() - file.data());
  const size_t start = low / most * most;
  std::span<const std::byte> stretch = file.subspan(start, std::min(most, file.size() - start));
  if (low + wanted.size() > start + stretch.size()) stretch = wanted;
  if (stretch.size() > most) return nullptr;
  Borrowed& known = mappings_[{stretch.data(), stretch.size()}];
  MetalBufferPtr buffer = known.buffer.lock();
  if (!buffer) {
    buffer = device_->borrow(stretch.data(), stretch.size(), keep_alive, known.offset);
    known.buffer = buffer;
  }
  first = stretch.data() - known.offset;
  return buffer;
}

// Views [first, first + count) of every expert's group.
Part MetalBackend::make_part(std::span<const WeightView> views, int64_t experts, int64_t group, int64_t first,
                             int64_t count, const std::shared_ptr<const void>& keep_alive, bool& copied) {
  const WeightView& form = views[static_cast<size_t>(first)];
  Part part{.layout = layout_of(form).name,
            .group = has_scales(form) ? narrow(form.affine.group) : 0,
            .scale_type = scale_type(form),
            .bytes = nullptr,
            .table = nullptr,
            .only = {},
            .segments = narrow(count),
            .expert_tables = experts > 1};
  const auto view_at = [&](int64_t e, int64_t i) -> const WeightView& {
    return views[static_cast<size_t>(e * group + first + i)];
  };
  Reach reach;
  for (int64_t e = 0; e < experts; e++)
    for (int64_t i = 0; i < count; i++) reach.include(view_at(e, i));
  const std::byte* start = nullptr;  // of the buffer
  if (usable_in_place(form)) part.bytes = mapping(form.mapping, reach.bytes(), keep_alive, start);
  copied = !part.bytes;
  if (copied) {
    size_t bytes = 0;
    for (int64_t e = 0; e < experts; e++)
      for (int64_t i = 0; i < count; i++) bytes += copied_bytes(view_at(e, i));
    part.bytes = device_->allocate(bytes, "weights");
  }
  std::vector<params::WeightSegment> table;
  size_t used = 0;
  for (int64_t e = 0; e < experts; e++) {
    int64_t row = 0;
    for (int64_t i = 0; i < count; i++) {
      const WeightView& view = view_at(e, i);
      const auto place = [&](const std::byte* p) { return p ? static_cast<size_t>(p - start) : 0; };
      const Places at = copied ? copy_view(view, part.bytes->host(), used)
                               : Places{place(view.data), place(view.affine.scales), place(view.affine.biases)};
      table.push_back(segment_of(view, at, row));
      row += rows(view);
    }
    part.rows = narrow(row);
  }
  part.table = device_->allocate(table.size() * sizeof table[0], "weights");
  part.only = table[0];
  std::memcpy(part.table->host(), table.data(), table.size() * sizeof table[0]);
  return part;
}

WeightPtr MetalBackend::prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                                int64_t experts) {
  assert(!views.empty() && static_cast<int64_t>(views.size()) % experts == 0);
  auto weight = std::make_shared<MetalWeight>();
  const int64_t group = static_cast<int64_t>(views.size()) / experts;
  weight->in = columns(views[0]);
  weight->experts = views[0].shape.size() == 3 ? views[0].shape[0] : experts;
  for (const WeightView& view : views) {
    assert(columns(view) == weight->in);
    weight->bytes += all_data_bytes(view) + all_scale_bytes(view) * (view.affine.biases ? 2 : 1);
  }
  const auto alike = [&](int64_t i, int64_t j) {  // in every expert
    for (int64_t e = 0; e < experts; e++)
      if (!same_form(views[static_cast<size_t>(i)], views[static_cast<size_t>(e * group + j)])) return false;
    return true;
  };
  for (int64_t first = 0; first < group;) {
    if (!alike(first, first))
      throw Unsupported("[metal] the experts of \"" + views[0].name + "\" are stored in different types");
    Reach reach;
    const auto within = [&](int64_t i) {  // one buffer, with those before it
      for (int64_t e = 0; e < experts; e++) reach.include(views[static_cast<size_t>(e * group + i)]);
      return !usable_in_place(views[static_cast<size_t>(i)]) || reach.bytes().size() <= device_->most_borrowed();
    };
    within(first);
    int64_t end = first + 1;
    while (end < group && alike(first, end) && within(end)) end++;
    bool copied = false;
    Part part = make_part(views, experts, group, first, end - first, keep_alive, copied);
    part.first = narrow(weight->out);
    weight->out += part.rows;
    weight->in_place |= !copied;
    weight->parts.push_back(std::move(part));
    first = end;
  }
  return weight;
}

}  // namespace longhand::metal
