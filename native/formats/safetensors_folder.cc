// Finds the files of a folder that belong to a model and checks its index against them.
#include <filesystem>
#include <map>
#include <unordered_map>

#include "formats/error.h"
#include "formats/safetensors.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

namespace fs = std::filesystem;
constexpr const char* index_name = "model.safetensors.index.json";
constexpr const char* single_name = "model.safetensors";
// 120 bytes a tensor: 4 MB for 31,000 of them (json.cc).
constexpr size_t max_index = 64u << 20;

[[noreturn]] void fail(const std::string& what) { throw FormatError("[safetensors] " + what); }

// A shard is a plain file name: an index from the network must not reach outside its folder.
void check_shard_name(const std::string& tensor, const std::string& shard) {
  const bool plain = shard.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos;
  if (!plain || !shard.ends_with(".safetensors") || shard.starts_with("."))
    fail(std::string(index_name) + ": \"" + printable(tensor) + "\" is said to be in \"" + printable(shard) +
         "\"; allowed: the name of a .safetensors file in the same folder");
}

// Tensor name -> shard.
using WeightMap = std::map<std::string, std::string>;

WeightMap read_index(const fs::path& path) {
  const Json index = Json::parse(read_text(path.string(), "safetensors", max_index), "safetensors", index_name);
  const Json* map = index.find("weight_map");
  if (map == nullptr || map->object() == nullptr) fail(std::string(index_name) + ": no object \"weight_map\"");
  if (map->object()->empty()) fail(std::string(index_name) + ": \"weight_map\" is empty");
  WeightMap result;
  for (const auto& [tensor, shard] : *map->object()) {
    if (shard.string() == nullptr)
      fail(std::string(index_name) + ": the file of \"" + printable(tensor) + "\" is not a string");
    check_shard_name(tensor, *shard.string());
    result.emplace(tensor, *shard.string());
  }
  return result;
}

void open_one(const fs::path& path, CheckpointParts& parts) {
  const MappedFile& file = parts.files.emplace_back(path.string(), "safetensors");
  SafetensorsFile read =
      read_safetensors(file.bytes(), path.filename().string(), static_cast<int>(parts.files.size()) - 1);
  if (read.format == "mlx") parts.container = Container::mlx;
  for (WeightView& view : read.tensors) parts.tensors.push_back(std::move(view));
}

// Every tensor of a shard is listed with that shard, and every listed one is there.
void check_index(const WeightMap& map, const CheckpointParts& parts) {
  size_t found = 0;
  for (const WeightView& view : parts.tensors) {
    const std::string shard = fs::path(parts.files[static_cast<size_t>(view.file)].path()).filename().string();
    const auto listed = map.find(view.name);
    if (listed == map.end())
      fail(std::string(index_name) + ": \"" + printable(view.name) + "\" of " + printable(shard) + " is not listed");
    if (listed->second != shard)
      fail(std::string(index_name) + ": \"" + printable(view.name) + "\" is said to be in " +
           printable(listed->second) + ", it is in " + printable(shard));
    ++found;
  }
  if (found == map.size()) return;
  std::unordered_map<std::string_view, int> present;
  for (const WeightView& view : parts.tensors) present.emplace(view.name, 0);
  for (const auto& [tensor, shard] : map) {
    if (!present.contains(tensor))
      fail(std::string(index_name) + ": \"" + printable(tensor) + "\" is said to be in " + printable(shard) +
           ", which does not hold it");
  }
}

void open_sharded(const fs::path& folder, const WeightMap& map, CheckpointParts& parts) {
  std::map<std::string, int> shards;
  for (const auto& [tensor, shard] : map) shards.emplace(shard, 0);
  for (const auto& [shard, unused] : shards) {
    if (!fs::exists(folder / shard))
      fail(std::string(index_name) + ": the shard " + printable(shard) + " is missing from the folder");
    open_one(folder / shard, parts);
  }
  check_index(map, parts);
}

}  // namespace

void open_safetensors_folder(const std::string& folder, CheckpointParts& parts) {
  const fs::path base(folder);
  if (fs::exists(base / index_name)) return open_sharded(base, read_index(base / index_name), parts);
  if (fs::exists(base / single_name)) return open_one(base / single_name, parts);
  fail(printable(folder) + " has neither " + single_name + " nor " + index_name);
}

void open_safetensors_file(const std::string& path, CheckpointParts& parts) {
  const fs::path file(path);
  const fs::path index = file.parent_path() / index_name;
  if (fs::exists(index)) {
    const WeightMap map = read_index(index);
    for (const auto& [tensor, shard] : map) {
      if (shard == file.filename().string()) return open_sharded(file.parent_path(), map, parts);
    }
  }
  open_one(file, parts);
}

}  // namespace longhand
