// A GGUF model in several files: NAME-00001-of-00003.gguf and so on; the first holds the metadata (llama.cpp
// gguf-split).
#include <cstdio>
#include <filesystem>

#include "formats/error.h"
#include "formats/gguf.h"
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

// What NAME is in NAME-00002-of-00003.gguf.
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

}  // namespace

void open_gguf(const std::string& path, CheckpointParts& parts) {
  parts.container = Container::gguf;
  GgufFile file = open_one(path, parts);
  const int64_t count = split_key(path, file.metadata, "split.count", 0);
  if (count > max_files)
    fail(path, "split.count is " + std::to_string(count) + ", at most " + std::to_string(max_files) + " are allowed");
  if (count > 1) {
    parts.files.clear();
    return open_set(path, prefix_of(path, split_key(path, file.metadata, "split.no", 0), count), count, parts);
  }
  add_tensors(file, parts);
  parts.config = std::move(file.metadata);
  parts.lists = std::move(file.lists);
}

}  // namespace longhand
