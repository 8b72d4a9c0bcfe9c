// What `prepare` makes of a matrix: segments of rows, one a view, each in its own form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/weights/packed_weights.h"
#include "ops/tensor.h"
#include "ops/weight.h"

namespace longhand::cpu {

// Rows [first, first + rows) of every expert of [first_expert, first_expert + experts). Floats are read where they
// stand, [experts, rows, in]; codes are packed, [experts, panels, panel bytes].
struct Segment {
  DType type = DType::f32;  // f32, f16 or bf16 unless packed
  bool packed = false;
  PanelLayout layout{};
  int64_t first = 0;
  int64_t rows = 0;
  int64_t first_expert = 0;
  int64_t experts = 1;
  const std::byte* data = nullptr;

  int64_t panels() const { return (rows + panel_rows - 1) / panel_rows; }
  const std::byte* row(int64_t expert, int64_t index, int64_t in) const;
  const std::byte* panel(int64_t expert, int64_t index) const {
    return data + (expert * panels() + index) * layout.panel_bytes();
  }
};

class CpuWeight final : public Weight {
 public:
  std::vector<Segment> segments;
  std::vector<BufferPtr> packed;           // memory of packed and of decoded segments
  std::shared_ptr<const void> keep_alive;  // the mapping that `data` points into

  bool any_packed() const;
  bool all_packed() const;
  bool any_bf16() const;  // in place
};

inline const CpuWeight& cpu_weight(const Weight& weight) { return static_cast<const CpuWeight&>(weight); }

// Where row `index` of the stacked matrix [experts * out, in] stands.
struct RowPlace {
  const Segment* segment;
  int64_t expert, row;
};
RowPlace find_row(const CpuWeight& weight, int64_t index);
// One row as fp32.
void decode_row(const Kernels& kernels, const CpuWeight& weight, int64_t index, float* to);

}  // namespace longhand::cpu
