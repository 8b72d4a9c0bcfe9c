// What `prepare` makes of a matrix: segments of rows, one a view, each in its own type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ops/weight.h"

namespace longhand::cpu {

// Rows [first, first + rows) of every expert of [first_expert, first_expert + experts), read where they stand.
struct Segment {
  DType type = DType::f32;  // f32, f16 or bf16
  int64_t first = 0;
  int64_t rows = 0;
  int64_t first_expert = 0;
  int64_t experts = 1;
  const std::byte* data = nullptr;  // [experts, rows, in]
};

class CpuWeight final : public Weight {
 public:
  std::vector<Segment> segments;
  std::vector<std::vector<float>> decoded;  // rows whose file type has no kernel of its own
  std::shared_ptr<const void> keep_alive;   // the mapping that `data` points into
};

inline const CpuWeight& cpu_weight(const Weight& weight) { return static_cast<const CpuWeight&>(weight); }

// Row `index` of the stacked matrix [experts * out, in] and the rows that follow it in the same segment and expert.
struct RowRun {
  DType type;
  const std::byte* data;
  int64_t rows;
};
RowRun find_rows(const CpuWeight& weight, int64_t index);
// One row as fp32.
void decode_row(const CpuWeight& weight, int64_t index, float* to);

}  // namespace longhand::cpu
