#include "formats/fp8.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <unordered_map>

#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

[[noreturn]] void refuse_fp8(const std::string& tensor, const std::string& what) {
  throw FormatError("[fp8] \"" + printable(tensor) + "\" " + what);
}

bool is_f8(const WeightView& view) { return view.type == DType::f8_e4m3 || view.type == DType::f8_e5m2; }

struct BlockShape {
  int64_t rows = 128, columns = 128;
  bool declared = false;  // in config.json
};

BlockShape block_shape(const Json& config) {
  const Json* quantisation = config.find("quantization_config");
  const Json* size = quantisation == nullptr ? nullptr : quantisation->find("weight_block_size");
  if (size == nullptr || size->is_null()) return {};
  const JsonArray* pair = size->array();
  const bool whole =
      pair != nullptr && pair->size() == 2 && (*pair)[0].integer() != nullptr && (*pair)[1].integer() != nullptr;
  if (!whole || *(*pair)[0].integer() < 1 || *(*pair)[1].integer() < 1)
    throw FormatError("[config] \"quantization_config.weight_block_size\" is not a list of two whole numbers above 0");
  return {*(*pair)[0].integer(), *(*pair)[1].integer(), true};
}

// How one scale tensor covers a stack of matrices [experts, rows, columns]: element (e, r, c) is scaled by number
// e * expert_stride + r / row_block * row_stride + c / column_block.
struct Coverage {
  int64_t expert_stride = 0, row_block = 1, row_stride = 0, column_block = 1;
};

struct Stack {
  int64_t experts = 1, rows = 1, columns = 1;
};
Stack stack_of(const WeightView& view) {
  if (view.elements() == 0) return {0, 0, 0};
  Stack stack;
  if (!view.shape.empty()) stack.columns = view.shape.back();
  if (view.shape.size() > 1) stack.rows = view.shape[view.shape.size() - 2];
  stack.experts = view.elements() / (stack.rows * stack.columns);
  return stack;
}

Coverage coverage_of(const WeightView& view, const WeightView& scale, const BlockShape& block) {
  const Stack s = stack_of(view);
  const int64_t count = scale.elements();
  const int64_t row_blocks = s.rows / block.rows + (s.rows % block.rows != 0);
  const int64_t column_blocks = s.columns / block.columns + (s.columns % block.columns != 0);
  const Coverage whole{0, s.rows, 0, s.columns};
  const Coverage experts{1, s.rows, 0, s.columns};
  const Coverage rows{s.rows, 1, 1, s.columns};
  const Coverage blocks{row_blocks * column_blocks, block.rows, column_blocks, block.columns};
  const bool named_block = block.declared || scale.name.ends_with("_scale_inv");
  if (count == 1) return whole;
  if (named_block && count == s.experts * row_blocks * column_blocks) return blocks;
  if (count == s.experts) return experts;
  if (count == s.experts * s.rows) return rows;
  refuse_fp8(scale.name, "has " + std::to_string(count) + " scales; allowed for " + std::to_string(s.rows) +
                             " rows of " + std::to_string(s.columns) + ": 1, one a row, or one a block of " +
                             std::to_string(block.rows) + " x " + std::to_string(block.columns) + " (" +
                             std::to_string(row_blocks * column_blocks) + " a matrix)");
}

// Scales as fp32. Bytes are E8M0 powers of two (safetensors F8_E8M0).
std::vector<float> scale_values(const WeightView& scale) {
  std::vector<float> values = to_floats(scale);
  for (float& value : values) {
    if (scale.type == DType::u8) value = e8m0_to_f32(static_cast<uint8_t>(value));
    if (!std::isfinite(value)) refuse_fp8(scale.name, "holds a scale that is not finite");
  }
  return values;
}

std::array<float, 256> table_of(DType type) {
  std::array<float, 256> table;
  for (size_t i = 0; i < table.size(); ++i)
    table[i] = type == DType::f8_e4m3 ? e4m3_to_f32(static_cast<uint8_t>(i)) : e5m2_to_f32(static_cast<uint8_t>(i));
  return table;
}

// One run of elements under one scale.
const std::byte* convert_run(const std::array<float, 256>& table, float scale, const std::byte* from, int64_t count,
                             std::byte*& to) {
  for (int64_t i = 0; i < count; ++i, to += 2) {
    const uint16_t bits = f32_to_bf16(table[std::to_integer<uint8_t>(from[i])] * scale);
    std::memcpy(to, &bits, sizeof bits);
  }
  return from + count;
}

void convert_rows(const WeightView& view, const std::vector<float>& scales, const Coverage& c, std::byte* to) {
  const std::array<float, 256> table = table_of(view.type);
  const Stack s = stack_of(view);
  const std::byte* from = view.data;
  for (int64_t row = 0; row < s.experts * s.rows; ++row) {
    int64_t scale = row / s.rows * c.expert_stride + row % s.rows / c.row_block * c.row_stride;
    for (int64_t column = 0; column < s.columns; column += c.column_block, ++scale) {
      const int64_t count = std::min(c.column_block, s.columns - column);
      from = convert_run(table, scales[static_cast<size_t>(scale)], from, count, to);
    }
  }
}

// Converted weights are allocated: refused if they exceed the machine's memory, before it starts to swap.
void check_memory(const CheckpointParts& parts) {
  size_t needed = 0;
  for (const WeightView& view : parts.tensors) needed += is_f8(view) ? view.data_bytes * 2 : 0;
  const size_t installed =
      static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  if (needed > installed)
    throw OutOfMemory("[fp8] the weights need " + std::to_string(needed >> 20) + " MiB as bf16, this machine has " +
                      std::to_string(installed >> 20) + " MiB");
}

class Exposer {
 public:
  Exposer(CheckpointParts& parts, bool convert) : parts_(parts), convert_(convert), block_(block_shape(parts.config)) {
    for (const WeightView& view : parts.tensors) by_name_.emplace(view.name, &view);
  }

  void run() {
    std::vector<WeightView> result;
    size_t count = 0;
    for (const WeightView& view : parts_.tensors) {
      if (is_side_tensor(view.name)) continue;
      result.push_back(is_f8(view) ? exposed(view) : view);
      count += is_f8(view);
    }
    parts_.notices.push_back(std::to_string(count) +
                             " FP8 tensors are used as bf16: they take twice the memory of the file");
    parts_.tensors = std::move(result);
  }

 private:
  const WeightView* find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  const WeightView* scale_of(const std::string& name) const {
    const WeightView* inverse = find(name + "_scale_inv");
    return inverse != nullptr ? inverse : find(name + "_scale");
  }

  // Scales of weights, and those of activations and caches, which only run-time quantisation needs.
  bool is_side_tensor(const std::string& name) const {
    for (const std::string_view suffix : {"_scale_inv", "_scale"}) {
      if (!name.ends_with(suffix)) continue;
      const WeightView* weight = find(name.substr(0, name.size() - suffix.size()));
      if (weight != nullptr && is_f8(*weight)) return true;
    }
    for (const std::string_view suffix : {".input_scale", ".activation_scale", ".k_scale", ".v_scale"}) {
      if (name.ends_with(suffix)) return true;
    }
    return false;
  }

  WeightView exposed(const WeightView& view) {
    const WeightView* scale = scale_of(view.name);
    if (scale == nullptr)
      refuse_fp8(view.name,
                 "is an FP8 matrix without a tensor \"" + printable(view.name) + "_scale_inv\" or \"_scale\"");
    const bool number = scale->type == DType::f32 || scale->type == DType::bf16 || scale->type == DType::f16 ||
                        scale->type == DType::u8;
    if (!number)
      refuse_fp8(scale->name, std::string("is of type ") + name_of(scale->type) + "; allowed: f32, f16, bf16, F8_E8M0");
    const Coverage coverage = coverage_of(view, *scale, block_);
    WeightView result = view;
    result.type = DType::bf16;
    result.data_bytes = view.data_bytes * 2;
    result.file = -1;
    result.data = nullptr;
    if (!convert_ || view.data == nullptr) return result;
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[result.data_bytes]);
    if (memory == nullptr)
      throw OutOfMemory("[fp8] no memory for \"" + printable(view.name) + "\" as bf16 (" +
                        std::to_string(result.data_bytes) + " bytes)");
    convert_rows(view, scale_values(*scale), coverage, memory.get());
    if (view.file >= 0) release_pages({view.data, view.data_bytes});
    result.data = memory.get();
    parts_.owned.push_back(std::move(memory));
    return result;
  }

  CheckpointParts& parts_;
  bool convert_;
  BlockShape block_;
  std::unordered_map<std::string_view, const WeightView*> by_name_;
};

}  // namespace

void expose_fp8_as_bf16(CheckpointParts& parts, bool convert) {
  bool any = false;
  for (const WeightView& view : parts.tensors) any = any || is_f8(view);
  if (!any) return;
  if (convert) check_memory(parts);
  Exposer(parts, convert).run();
}

}  // namespace longhand
