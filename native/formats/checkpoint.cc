#include "formats/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "formats/adapter.h"
#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/fp8.h"
#include "formats/gguf/gguf.h"
#include "formats/mlx.h"
#include "formats/parts.h"
#include "formats/safetensors.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

namespace fs = std::filesystem;
// The largest configurations list every module left unquantised, 60 bytes each: 31,000 make 2 MB.
constexpr size_t max_config = 4u << 20;

class OpenCheckpoint final : public Checkpoint {
 public:
  explicit OpenCheckpoint(CheckpointParts parts) : parts_(std::move(parts)) {
    for (const MappedFile& file : parts_.files) mappings_.push_back({file.path(), file.bytes()});
    for (WeightView& view : parts_.tensors)
      if (view.data != nullptr && view.file >= 0)
        view.mapping = parts_.files.at(static_cast<size_t>(view.file)).bytes();
    by_name_.reserve(parts_.tensors.size());
    for (const WeightView& view : parts_.tensors) {
      if (!by_name_.emplace(view.name, &view).second)
        throw FormatError("[checkpoint] two tensors are called \"" + printable(view.name) + "\"");
    }
  }

  Container container() const override { return parts_.container; }
  const Json& config() const override { return parts_.config; }
  std::span<const WeightView> tensors() const override { return parts_.tensors; }
  const WeightView* find(std::string_view name) const override {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  std::vector<std::string> metadata_strings(std::string_view key) const override;
  std::vector<std::string> files() const override {
    std::vector<std::string> paths;
    for (const Mapping& mapping : mappings_) paths.push_back(mapping.path);
    return paths;
  }
  std::span<const Mapping> mappings() const override { return mappings_; }
  std::span<const std::string> notices() const override { return parts_.notices; }
  void release(const WeightView& view) const override {
    if (view.data == nullptr || view.file < 0) return;
    release_pages({view.data, view.data_bytes});
  }

 private:
  CheckpointParts parts_;
  std::vector<Mapping> mappings_;
  std::unordered_map<std::string_view, const WeightView*> by_name_;
};

std::vector<std::string> OpenCheckpoint::metadata_strings(std::string_view key) const {
  const auto list =
      std::find_if(parts_.lists.begin(), parts_.lists.end(), [&](const StringList& l) { return l.key == key; });
  if (list != parts_.lists.end()) return read_strings(*list);
  std::vector<std::string> result;
  const Json* value = parts_.config.find(key);
  if (value == nullptr || value->array() == nullptr) return result;
  for (const Json& item : *value->array()) {
    if (item.string() == nullptr) return {};
    result.push_back(*item.string());
  }
  return result;
}

Json read_config(const fs::path& folder) {
  const fs::path path = folder / "config.json";
  if (!fs::exists(path)) throw FormatError("[config] " + printable(folder.string()) + " has no config.json");
  Json config = Json::parse(read_text(path.string(), "config", max_config), "config", "config.json");
  if (config.object() == nullptr) throw FormatError("[config] config.json is not an object");
  return config;
}

// Computes sizes for a table that came without a file. No file bounds its numbers, so sizes that no disk can hold are
// refused, which keeps later products of sizes within 64 bits.
void size_headers(std::vector<WeightView>& tensors) {
  constexpr size_t largest = size_t{1} << 50;
  constexpr size_t max_dimensions = 8;
  for (WeightView& view : tensors) {
    const std::optional<size_t> bytes = tensor_bytes(view.type, view.shape);
    if (!bytes || *bytes > largest || view.shape.size() > max_dimensions)
      throw FormatError("[checkpoint] tensor \"" + printable(view.name) + "\" has a shape that a tensor of type " +
                        name_of(view.type) + " cannot have");
    view.data_bytes = *bytes;
    view.data = nullptr;
    view.file = -1;
  }
}

}  // namespace

std::shared_ptr<const Checkpoint> assemble(CheckpointParts parts, Read what, const std::string& adapter) {
  if (parts.container != Container::gguf) {
    if (const std::optional<MlxQuantisation> quantisation = read_mlx_quantisation(parts.config)) {
      parts.container = Container::mlx;
      fuse_mlx(*quantisation, parts);
    }
  }
  // Applied after codes and scales are joined, to complete matrices.
  if (!adapter.empty()) adapt(parts, adapter);
  if (parts.container != Container::gguf) expose_fp8_as_bf16(parts, what == Read::all);
  return std::make_shared<OpenCheckpoint>(std::move(parts));
}

std::shared_ptr<const Checkpoint> open_checkpoint(const std::string& path, Read what, const std::string& adapter,
                                                  const std::string& tower) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status)) throw FormatError("[checkpoint] there is no file or folder " + printable(path));
  CheckpointParts parts;
  if (fs::is_directory(status)) {
    parts.config = read_config(path);
    open_safetensors_folder(path, parts);
  } else if (path.ends_with(".safetensors")) {
    parts.config = read_config(fs::path(path).parent_path());
    open_safetensors_file(path, parts);
  } else if (path.ends_with(".gguf")) {
    open_gguf(path, tower, parts);
  } else {
    throw FormatError(
        "[checkpoint] " + printable(path) +
        " is not a model; expected a folder with config.json and safetensors, a .safetensors file beside its "
        "config.json, or a .gguf file");
  }
  return assemble(std::move(parts), what, adapter);
}

std::shared_ptr<const Checkpoint> checkpoint_from_headers(Container container, Json config,
                                                          std::vector<WeightView> tensors) {
  size_headers(tensors);
  CheckpointParts parts;
  parts.container = container;
  parts.config = std::move(config);
  parts.tensors = std::move(tensors);
  return assemble(std::move(parts), Read::headers);
}

std::optional<DType> type_named(Container container, std::string_view name) {
  return container == Container::gguf ? gguf_type(name) : safetensors_type(name);
}

}  // namespace longhand
