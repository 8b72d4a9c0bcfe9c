#include "engine/pooling.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "formats/error.h"
#include "formats/mapped_file.h"

namespace longhand {

namespace {

namespace fs = std::filesystem;

constexpr size_t largest_file = 1 << 20;
// GGUF's numbers.
constexpr int64_t gguf_mean = 1, gguf_first = 2;

std::optional<Json> read_json(const fs::path& path) {
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return std::nullopt;
  return Json::parse(read_text(path.string(), "pooling", largest_file), "pooling", path.filename().string());
}

std::string text_of(const Json& object, const char* key) {
  const Json* value = object.find(key);
  return value && value->string() ? *value->string() : "";
}

// {"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false, ...}: exactly one must be true.
Pooling::Kind kind_of(const Json& config) {
  std::vector<std::string> on;
  if (const JsonObject* members = config.object()) {
    for (const auto& [key, value] : *members) {
      if (key.starts_with("pooling_mode_") && value.boolean() && *value.boolean()) on.push_back(key);
    }
  }
  if (on == std::vector<std::string>{"pooling_mode_mean_tokens"}) return Pooling::Kind::mean;
  if (on == std::vector<std::string>{"pooling_mode_cls_token"}) return Pooling::Kind::first;
  throw Unsupported("[pooling] the pooling is " + (on.empty() ? "not told" : on.front()) +
                    ", expected pooling_mode_mean_tokens or pooling_mode_cls_token");
}

Pooling from_folder(const fs::path& folder) {
  Pooling pooling;
  const std::optional<Json> modules = read_json(folder / "modules.json");
  if (!modules || !modules->array()) return pooling;
  pooling.normalise = false;
  for (const Json& module : *modules->array()) {
    const std::string type = text_of(module, "type");
    if (type.ends_with(".Normalize")) pooling.normalise = true;
    if (!type.ends_with(".Pooling")) continue;
    // Only a plain folder name is accepted, so that a path cannot lead elsewhere.
    const fs::path inside = fs::path(text_of(module, "path")).filename();
    const std::optional<Json> config = read_json(folder / inside / "config.json");
    if (config) pooling.kind = kind_of(*config);
  }
  return pooling;
}

Pooling from_gguf(const Json& metadata) {
  Pooling pooling;
  const Json* type = metadata.find("bert.pooling_type");
  if (!type || !type->integer()) return pooling;
  if (*type->integer() != gguf_mean && *type->integer() != gguf_first) {
    throw Unsupported("[pooling] \"bert.pooling_type\" is " + std::to_string(*type->integer()) +
                      ", expected 1 (mean) or 2 (CLS)");
  }
  pooling.kind = *type->integer() == gguf_mean ? Pooling::Kind::mean : Pooling::Kind::first;
  return pooling;
}

}  // namespace

Pooling read_pooling(const std::string& path, const Checkpoint& checkpoint) {
  if (checkpoint.container() == Container::gguf) return from_gguf(checkpoint.config());
  return from_folder(fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path());
}

std::vector<float> pool(const Pooling& pooling, std::span<const float> states, int64_t columns) {
  const auto width = static_cast<size_t>(columns);
  const size_t rows = pooling.kind == Pooling::Kind::first ? 1 : states.size() / width;
  std::vector<double> sum(width, 0.0);
  for (size_t i = 0; i < rows * width; ++i) sum[i % width] += static_cast<double>(states[i]);
  double square = 0;
  for (double& value : sum) {
    value /= static_cast<double>(rows);
    square += value * value;
  }
  // The smallest norm by which a vector is divided, as in the reference.
  const double length = pooling.normalise ? std::max(std::sqrt(square), 1e-12) : 1.0;
  std::vector<float> out;
  for (const double value : sum) out.push_back(static_cast<float>(value / length));
  return out;
}

}  // namespace longhand
