#include "formats/mlx.h"

#include <unordered_map>

#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

[[noreturn]] void fail(const std::string& module, const std::string& what) {
  throw FormatError("[mlx] \"" + printable(module) + "\" " + what);
}

std::string text_of(const std::vector<int64_t>& shape) {
  std::string result = "[";
  for (const int64_t size : shape) (result += result.size() > 1 ? ", " : "") += std::to_string(size);
  return result + "]";
}

class Fuser {
 public:
  Fuser(const MlxQuantisation& quantisation, CheckpointParts& parts) : quantisation_(quantisation), parts_(parts) {
    for (const WeightView& view : parts.tensors) by_name_.emplace(view.name, &view);
  }

  void run() {
    std::vector<WeightView> result;
    for (const WeightView& view : parts_.tensors) {
      if (belongs_to_a_weight(view.name)) continue;
      result.push_back(is_packed(view) ? fused(view) : view);
    }
    parts_.tensors = std::move(result);
  }

 private:
  const WeightView* find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  static std::string module_of(std::string_view name, std::string_view suffix) {
    return name.ends_with(suffix) ? std::string(name.substr(0, name.size() - suffix.size())) : std::string();
  }

  // A matrix is quantised when it has scales (the rule of mlx-lm).
  bool is_packed(const WeightView& view) const {
    const std::string module = module_of(view.name, ".weight");
    if (module.empty()) return false;
    const bool scaled = find(module + ".scales") != nullptr;
    if (view.type == DType::u32 && !scaled) fail(module, "has a packed weight (u32) but no scales");
    return scaled;
  }
  bool belongs_to_a_weight(const std::string& name) const {
    for (const char* suffix : {".scales", ".biases", ".global_scale"}) {
      const std::string module = module_of(name, suffix);
      if (!module.empty() && find(module + ".weight") != nullptr && find(module + ".scales") != nullptr) return true;
    }
    return false;
  }

  WeightView fused(const WeightView& packed) const {
    const std::string module = module_of(packed.name, ".weight");
    const std::optional<MlxMode> mode = quantisation_.of(module);
    if (!mode) fail(module, "has scales, but config.json says that it is not quantised");
    if (packed.type != DType::u32)
      fail(module, std::string("has a packed weight of type ") + name_of(packed.type) + "; allowed: u32");
    WeightView view = packed;
    view.type = mode->type;
    view.shape = logical_shape(packed, module, *mode);
    view.affine.bits = mode->bits;
    view.affine.group = mode->group;
    take_scales(module, *mode, view);
    return view;
  }

  // [.., out, words] of 32 bits -> [.., out, in].
  static std::vector<int64_t> logical_shape(const WeightView& packed, const std::string& module, const MlxMode& mode) {
    std::vector<int64_t> shape = packed.shape;
    if (shape.size() < 2)
      fail(module, "has a packed weight of shape " + text_of(shape) + ", a matrix or a stack of matrices is allowed");
    int64_t bits = 0;
    if (__builtin_mul_overflow(shape.back(), int64_t{32}, &bits)) fail(module, "has too many columns");
    if (bits % mode.bits != 0 || bits / mode.bits % mode.group != 0)
      fail(module, "has " + std::to_string(shape.back()) + " words a row: " + std::to_string(bits / mode.bits) +
                       " values of " + std::to_string(mode.bits) + " bits, which is not a whole number of groups of " +
                       std::to_string(mode.group));
    shape.back() = bits / mode.bits;
    return shape;
  }

  const WeightView& part(const std::string& module, const char* name, const WeightView& of) const {
    const WeightView* found = find(module + "." + name);
    if (found == nullptr) fail(module, std::string("has no ") + name);
    std::vector<int64_t> expected = of.shape;
    expected.back() /= of.affine.group;
    if (found->shape != expected)
      fail(module, std::string("has ") + name + " of shape " + text_of(found->shape) + ", a matrix " +
                       text_of(of.shape) + " in groups of " + std::to_string(of.affine.group) + " needs " +
                       text_of(expected));
    return *found;
  }

  void take_scales(const std::string& module, const MlxMode& mode, WeightView& view) const {
    const WeightView& scales = part(module, "scales", view);
    view.affine.scale_type = scales.type;
    view.affine.scales = scales.data;
    if (mode.type != DType::affine) {
      if (scales.type != DType::u8)
        fail(module, std::string("has scales of type ") + name_of(scales.type) + "; allowed for " + name_of(mode.type) +
                         ": u8");
      if (mode.type == DType::nvfp4) view.affine.global_scale = global_scale(module);
      return;
    }
    if (scales.type != DType::f32 && scales.type != DType::f16 && scales.type != DType::bf16)
      fail(module, std::string("has scales of type ") + name_of(scales.type) + "; allowed: f32, f16, bf16");
    const WeightView& biases = part(module, "biases", view);
    if (biases.type != scales.type)
      fail(module, std::string("has scales of type ") + name_of(scales.type) + " and biases of type " +
                       name_of(biases.type) + "; they must be the same");
    view.affine.biases = biases.data;
  }

  // An optional factor for the whole tensor, stored as the largest magnitude: g / (448 * 6).
  float global_scale(const std::string& module) const {
    const WeightView* stored = find(module + ".global_scale");
    if (stored == nullptr) return 1.0f;
    if (stored->type != DType::f32 || stored->elements() != 1)
      fail(module, "has a global_scale that is not one f32 number");
    return stored->data == nullptr ? 1.0f : load<float>(stored->data) / (448.0f * 6.0f);
  }

  const MlxQuantisation& quantisation_;
  CheckpointParts& parts_;
  std::unordered_map<std::string_view, const WeightView*> by_name_;
};

}  // namespace

void fuse_mlx(const MlxQuantisation& quantisation, CheckpointParts& parts) { Fuser(quantisation, parts).run(); }

}  // namespace longhand
