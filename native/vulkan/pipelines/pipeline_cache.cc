#include "vulkan/pipelines/pipeline_cache.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace longhand::vulkan {
namespace {

namespace fs = std::filesystem;

// FNV-1a.
uint64_t hash_of(const void* data, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3u;
  return hash;
}

struct Header {
  char magic[8] = {'L', 'H', 'V', 'K', 'P', 'I', 'P', '1'};
  uint64_t bytes = 0;
  uint64_t hash = 0;
};

fs::path cache_folder() {
  if (const char* chosen = std::getenv("LONGHAND_VULKAN_CACHE")) return chosen;
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) return fs::path(folder) / "longhand";
  const char* home = std::getenv("HOME");
  return home && *home ? fs::path(home) / ".cache/longhand" : fs::path();
}

}  // namespace

std::string pipeline_cache_path(const std::string& identity) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return "";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return "";
  return (folder / ("pipelines-" + std::to_string(hash_of(identity.data(), identity.size())) + ".vkcache")).string();
}

std::vector<std::byte> read_pipeline_cache(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<size_t>(file.tellg());
  Header header, expected;
  if (size < sizeof header) return {};
  file.seekg(0);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0 || header.bytes != size - sizeof header)
    return {};
  std::vector<std::byte> data(size - sizeof header);
  file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
  if (!file || hash_of(data.data(), data.size()) != header.hash) return {};
  return data;
}

// Beside, then renamed: a start that reads it meanwhile sees the old file or the new one.
void write_pipeline_cache(const std::string& path, const std::vector<std::byte>& data) {
  Header header;
  header.bytes = data.size();
  header.hash = hash_of(data.data(), data.size());
  const std::string fresh = path + ".new";
  std::error_code error;
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    if (!file) {
      fs::remove(fresh, error);
      return;
    }
  }
  fs::rename(fresh, path, error);
}

}  // namespace longhand::vulkan
