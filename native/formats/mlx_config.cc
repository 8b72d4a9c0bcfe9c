#include <algorithm>

#include "formats/error.h"
#include "formats/mlx.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

struct ModeRow {
  std::string_view name;
  MlxMode standard;
};
// The defaults of mlx.core.quantize for each mode.
constexpr ModeRow modes[] = {
    {"affine", {DType::affine, 4, 64}},
    {"mxfp4", {DType::mxfp4, 4, 32}},
    {"mxfp8", {DType::mxfp8, 8, 32}},
    {"nvfp4", {DType::nvfp4, 4, 16}},
};

[[noreturn]] void refuse_mlx(const std::string& key, const std::string& what) {
  throw FormatError("[config] \"" + printable(key) + "\" " + what);
}

int integer(const Json& from, const std::string& path, const char* key, int absent) {
  const Json* value = from.find(key);
  if (value == nullptr) return absent;
  const int64_t* number = value->integer();
  if (number == nullptr || *number < 1 || *number > 1024)
    refuse_mlx(path + "." + key, "is not a whole number from 1 to 1024");
  return static_cast<int>(*number);
}

MlxMode named_mode(const Json& from, const std::string& path) {
  const Json* mode = from.find("mode");
  if (mode == nullptr) return modes[0].standard;
  for (const ModeRow& row : modes) {
    if (mode->string() != nullptr && *mode->string() == row.name) return row.standard;
  }
  refuse_mlx(path + ".mode", "is unknown; allowed: affine, mxfp4, mxfp8, nvfp4");
}

// A missing number takes the mode's own default, not that of the block above: so does mlx-lm.
MlxMode read_mode(const Json& from, const std::string& path) {
  const MlxMode standard = named_mode(from, path);
  const MlxMode mode{standard.type, integer(from, path, "bits", standard.bits),
                     integer(from, path, "group_size", standard.group)};
  if (mode.type != DType::affine) {
    if (mode.bits != standard.bits || mode.group != standard.group)
      refuse_mlx(path, std::string("is ") + name_of(mode.type) + " with " + std::to_string(mode.bits) +
                           " bits in groups of " + std::to_string(mode.group) + "; allowed: " +
                           std::to_string(standard.bits) + " bits in groups of " + std::to_string(standard.group));
    return mode;
  }
  constexpr int bits[] = {2, 3, 4, 5, 6, 8};
  constexpr int groups[] = {32, 64, 128};
  if (std::find(std::begin(bits), std::end(bits), mode.bits) == std::end(bits))
    refuse_mlx(path + ".bits", "is " + std::to_string(mode.bits) + "; allowed: 2, 3, 4, 5, 6, 8");
  if (std::find(std::begin(groups), std::end(groups), mode.group) == std::end(groups))
    refuse_mlx(path + ".group_size", "is " + std::to_string(mode.group) + "; allowed: 32, 64, 128");
  return mode;
}

// `quantization` is written by MLX alone; `quantization_config` belongs to other tools too, which name their method.
const Json* find_block(const Json& config, std::string& key) {
  key = "quantization";
  if (const Json* block = config.find(key)) return block->is_null() ? nullptr : block;
  key = "quantization_config";
  const Json* block = config.find(key);
  if (block == nullptr || block->find("quant_method") != nullptr || block->find("bits") == nullptr ||
      block->find("group_size") == nullptr)
    return nullptr;
  return block;
}

bool is_setting(std::string_view key) { return key == "bits" || key == "group_size" || key == "mode"; }

}  // namespace

std::optional<MlxMode> MlxQuantisation::of(std::string_view module) const {
  const auto found = modules.find(module);
  return found == modules.end() ? std::optional(standard) : found->second;
}

std::optional<MlxQuantisation> read_mlx_quantisation(const Json& config) {
  std::string key;
  const Json* block = find_block(config, key);
  if (block == nullptr) return std::nullopt;
  if (block->object() == nullptr) refuse_mlx(key, "is not an object");
  MlxQuantisation result;
  result.standard = read_mode(*block, key);
  for (const auto& [module, entry] : *block->object()) {
    if (is_setting(module) || entry.string() != nullptr) continue;  // strings only describe
    const std::string path = key + "." + module;
    if (const bool* flag = entry.boolean())
      result.modules[module] = *flag ? std::optional(result.standard) : std::nullopt;
    else if (entry.object() != nullptr) result.modules[module] = read_mode(entry, path);
    else refuse_mlx(path, "is neither false nor an object with bits and group_size");
  }
  return result;
}

}  // namespace longhand
