// What `prepare` makes of a matrix: parts of rows, each in one layout and one buffer, each one dispatch.
#pragma once

#include <vector>

#include "metal/device/buffer.h"
#include "ops/params.h"
#include "ops/weight.h"

namespace longhand::metal {

struct Part {
  const char* layout;            // struct of metal/shared/blocks.h
  uint32_t group = 0;            // MLX: elements a scale
  uint32_t scale_type = 0;       // MLX: 0 f32, 1 f16, 2 bf16
  MetalBufferPtr bytes;          // the mapped file, or a copy
  MetalBufferPtr table;          // params::WeightSegment, `segments` an expert
  params::WeightSegment only{};  // the table's first
  uint32_t segments = 0;
  bool expert_tables = false;  // every expert has its own segments
  uint32_t first = 0, rows = 0;
};

class MetalWeight final : public Weight {
 public:
  std::vector<Part> parts;
};

inline const MetalWeight& metal_weight(const Weight& weight) { return static_cast<const MetalWeight&>(weight); }

}  // namespace longhand::metal
