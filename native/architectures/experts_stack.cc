#include "architectures/experts_stack.h"

#include <cstring>

namespace longhand {

namespace {

size_t scale_bytes(const WeightView& view) {
  if (!view.affine.scales) return 0;
  const size_t width = view.affine.scale_type == DType::f32 ? 4 : view.affine.scale_type == DType::u8 ? 1 : 2;
  return static_cast<size_t>(view.elements() / view.affine.group) * width;
}

void append(std::vector<std::byte>& to, const std::byte* from, size_t bytes) {
  if (from) to.insert(to.end(), from, from + bytes);
}

}  // namespace

bool same_layout(const std::vector<WeightView>& experts) {
  const WeightView& first = experts.front();
  for (const WeightView& view : experts) {
    const bool same = view.type == first.type && view.data_bytes == first.data_bytes &&
                      view.affine.bits == first.affine.bits && view.affine.group == first.affine.group &&
                      view.affine.scale_type == first.affine.scale_type &&
                      view.affine.global_scale == first.affine.global_scale;
    if (!same) return false;
  }
  return true;
}

ExpertStack stack_experts(const std::vector<WeightView>& experts) {
  ExpertStack stack;
  const WeightView& first = experts.front();
  stack.data.reserve(first.data_bytes * experts.size());
  for (const WeightView& view : experts) {
    append(stack.data, view.data, view.data_bytes);
    append(stack.scales, view.affine.scales, scale_bytes(view));
    append(stack.biases, view.affine.biases, scale_bytes(view));
  }
  stack.view = first;
  stack.view.shape = {static_cast<int64_t>(experts.size()), first.shape[0], first.shape[1]};
  stack.view.data = stack.data.data();
  stack.view.data_bytes = stack.data.size();
  stack.view.affine.scales = stack.scales.empty() ? nullptr : stack.scales.data();
  stack.view.affine.biases = stack.biases.empty() ? nullptr : stack.biases.data();
  return stack;
}

}  // namespace longhand
