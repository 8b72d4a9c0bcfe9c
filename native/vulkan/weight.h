// What `prepare` makes of a matrix: parts of rows, each in one layout and one buffer, each one dispatch.
#pragma once

#include <vector>

#include "ops/params.h"
#include "ops/weight.h"
#include "vulkan/device/buffer.h"

namespace longhand::vulkan {

namespace shared {
using namespace longhand::params;
#include "vulkan/shaders/shared.h"
}  // namespace shared

struct Part {
  uint32_t layout = 0;      // kLayout... of shaders/shared.h
  uint32_t bits = 0;        // MLX: of a code
  uint32_t group = 0;       // MLX: elements a scale
  uint32_t scale_type = 0;  // MLX: 0 f32, 1 f16, 2 bf16
  VulkanBufferPtr bytes{};
  VulkanBufferPtr table{};  // params::WeightSegment, `segments` an expert
  uint32_t segments = 0;
  bool expert_tables = false;  // every expert has its own segments
  uint32_t first = 0, rows = 0;
};

// Rows [first, first + count) of matrix `index` (of a stack) of a view.
struct Slice {
  const WeightView* view;
  int64_t index, first, count;
};

class VulkanWeight final : public Weight {
 public:
  std::vector<Part> parts;
};

inline const VulkanWeight& vulkan_weight(const Weight& weight) { return static_cast<const VulkanWeight&>(weight); }

}  // namespace longhand::vulkan
