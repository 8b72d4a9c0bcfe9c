// A GGUF model in several files: NAME-00001-of-00003.gguf and so on; the first holds the metadata (llama.cpp
// gguf-split). Also the vision tower, which llama.cpp stores in a separate file (mmproj).
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "formats/error.h"
#include "formats/gguf/gguf.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

namespace fs = std::filesystem;
constexpr int64_t max_files = 99'999;

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw FormatError("[gguf] " + printable(file.filename().string()) + ": " + what);
}

// An integer key of the split set; `absent` when it is not there.
int64_t split_key(const fs::path& file, const Json& metadata, const char* key, int64_t absent) {
  const Json* value = metadata.find(key);
  if (value == nullptr) return absent;
  if (value->integer() == nullptr || *value->integer() < 0)
    fail(file, std::string("the key \"") + key + "\" is not a whole number from 0");
  return *value->integer();
}

std::string numbered(const std::string& prefix, int64_t number, int64_t count) {
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, "-%05lld-of-%05lld.gguf", static_cast<long long>(number + 1),
                static_cast<long long>(count));
  return prefix + suffix;
}

GgufFile open_one(const fs::path& path, CheckpointParts& parts) {
  const MappedFile& file = parts.files.emplace_back(path.string(), "gguf");
  return read_gguf(file.bytes(), path.filename().string(), static_cast<int>(parts.files.size()) - 1);
}

void add_tensors(GgufFile& from, CheckpointParts& parts) {
  for (WeightView& view : from.tensors) parts.tensors.push_back(std::move(view));
}

// NAME of NAME-00002-of-00003.gguf.
std::string prefix_of(const fs::path& path, int64_t number, int64_t count) {
  const std::string name = path.filename().string();
  const std::string suffix = numbered("", number, count);
  if (!name.ends_with(suffix))
    fail(path, "is file " + std::to_string(number + 1) + " of " + std::to_string(count) + ", its name must end with " +
                   suffix);
  return name.substr(0, name.size() - suffix.size());
}

void open_set(const fs::path& path, const std::string& prefix, int64_t count, CheckpointParts& parts) {
  for (int64_t i = 0; i < count; ++i) {
    const fs::path part = path.parent_path() / numbered(prefix, i, count);
    if (!fs::exists(part))
      fail(path,
           "the model has " + std::to_string(count) + " files, " + printable(part.filename().string()) + " is missing");
  }
  int64_t expected = -1;
  for (int64_t i = 0; i < count; ++i) {
    const fs::path part = path.parent_path() / numbered(prefix, i, count);
    GgufFile file = open_one(part, parts);
    if (split_key(part, file.metadata, "split.no", -1) != i ||
        split_key(part, file.metadata, "split.count", -1) != count)
      fail(part, "its keys split.no and split.count do not say " + std::to_string(i) + " of " + std::to_string(count));
    add_tensors(file, parts);
    if (i > 0) continue;
    expected = split_key(part, file.metadata, "split.tensors.count", -1);
    parts.config = std::move(file.metadata);
    parts.lists = std::move(file.lists);
  }
  if (expected >= 0 && static_cast<size_t>(expected) != parts.tensors.size())
    fail(path, "split.tensors.count is " + std::to_string(expected) + ", the " + std::to_string(count) +
                   " files hold " + std::to_string(parts.tensors.size()) + " tensors");
}

// ---- the tower ----------------------------------------------------------------------------------------------------

std::string text_of(const Json& metadata, std::string_view key) {
  const Json* value = metadata.find(key);
  return value && value->string() ? *value->string() : "";
}
int64_t number_of(const Json& metadata, std::string_view key) {
  const Json* value = metadata.find(key);
  return value && value->integer() ? *value->integer() : -1;
}

// Why the tower does not belong to the model; empty if it does.
std::string mismatch(const Json& model, const Json& tower) {
  const std::string projector = text_of(tower, "clip.projector_type"),
                    kind = projector.empty() ? text_of(tower, "clip.vision.projector_type") : projector;
  if (text_of(tower, "general.architecture") != "clip" || kind != "qwen3vl_merger")
    return "holds no tower of Qwen3.5 but \"" + printable(kind) + "\"";
  const int64_t gives = number_of(tower, "clip.vision.projection_dim"),
                wanted = number_of(model, text_of(model, "general.architecture") + ".embedding_length");
  if (gives == wanted) return "";
  return "gives rows of " + std::to_string(gives) + ", the model has " + std::to_string(wanted);
}

// Files beside the model with llama.cpp's names for a tower: bf16 first, then f16, then the others.
std::vector<fs::path> towers_beside(const fs::path& model) {
  std::vector<std::pair<std::string, fs::path>> found;
  std::error_code error;
  const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!name.ends_with(".gguf") || name.find("mmproj") == std::string::npos) continue;
    const char* order = name.find("bf16") != std::string::npos  ? "0"
                        : name.find("f16") != std::string::npos ? "1"
                                                                : "2";
    found.emplace_back(order + name, at->path());
  }
  std::ranges::sort(found);
  std::vector<fs::path> paths;
  for (const auto& [_, path] : found) paths.push_back(path);
  return paths;
}

// Adds the tower; returns why not, or empty.
std::string try_tower(const fs::path& path, CheckpointParts& parts) {
  std::string wrong;
  const size_t before = parts.files.size();
  try {
    GgufFile file = open_one(path, parts);
    wrong = mismatch(parts.config, file.metadata);
    if (wrong.empty()) {
      JsonObject keys = *parts.config.object();
      for (const auto& [key, value] : *file.metadata.object())
        if (key.starts_with("clip.")) keys.emplace_back(key, value);
      parts.config = Json(std::move(keys));
      add_tensors(file, parts);
      return "";
    }
  } catch (const FormatError& error) {
    wrong = std::string("cannot be read (") + error.what() + ")";
  }
  while (parts.files.size() > before) parts.files.pop_back();
  return wrong;
}

void add_tower(const std::string& model, const std::string& chosen, CheckpointParts& parts) {
  const std::string family = text_of(parts.config, "general.architecture");
  const bool sees = family == "qwen35" || family == "qwen35moe";
  if (!chosen.empty()) {
    const std::string wrong = sees ? try_tower(chosen, parts) : "belongs to no model of this family";
    if (!wrong.empty()) fail(chosen, wrong);
    return;
  }
  if (!sees) return;
  for (const fs::path& path : towers_beside(model)) {
    const std::string wrong = try_tower(path, parts);
    if (wrong.empty()) return;
    parts.notices.push_back("the vision tower " + printable(path.filename().string()) + " is not used: it " + wrong);
  }
}

}  // namespace

void open_gguf(const std::string& path, const std::string& tower, CheckpointParts& parts) {
  parts.container = Container::gguf;
  GgufFile file = open_one(path, parts);
  const int64_t count = split_key(path, file.metadata, "split.count", 0);
  if (count > max_files)
    fail(path, "split.count is " + std::to_string(count) + ", at most " + std::to_string(max_files) + " are allowed");
  if (count > 1) {
    parts.files.clear();
    open_set(path, prefix_of(path, split_key(path, file.metadata, "split.no", 0), count), count, parts);
  } else {
    add_tensors(file, parts);
    parts.config = std::move(file.metadata);
    parts.lists = std::move(file.lists);
  }
  add_tower(path, tower, parts);
}

}  // namespace longhand
