#include "metal/pipelines/embedded_metallib.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "metal/pipelines/kernels.h"

namespace longhand::metal {

namespace {

namespace fs = std::filesystem;

// Of the shared object this code is in.
fs::path own_folder() {
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &self) || !self.dli_fname) return {};
  return fs::path(self.dli_fname).parent_path();
}

fs::path library_folder() {
  if (const char* chosen = std::getenv("LONGHAND_METAL_LIBRARIES")) return chosen;
  return own_folder() / "metallib";
}

uint32_t crc32(const std::string& bytes) {
  uint32_t sum = 0xffffffffu;
  for (const char c : bytes) {
    sum ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum & 1 ? 0xedb88320u : 0u);
  }
  return ~sum;
}

}  // namespace

EmbeddedMetallib::EmbeddedMetallib() : folder_(library_folder().string()) {
  std::ifstream manifest(fs::path(folder_) / "manifest");
  std::string word, hash, name;
  if (!(manifest >> word >> hash) || word != "kernels" || hash != kernel_hash()) return;
  Content content{};
  while (manifest >> name >> content.bytes >> content.sum) files_[name] = content;
}

std::string EmbeddedMetallib::find(const std::string& file, const std::string& layout) const {
  const auto known = files_.find(layout.empty() ? file : file + "-" + layout);
  if (known == files_.end()) return "";
  const std::string path = (fs::path(folder_) / (known->first + ".metallib")).string();
  std::error_code error;
  if (fs::file_size(path, error) != known->second.bytes || error) return "";
  std::ifstream content(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(content), {}};
  return crc32(bytes) == known->second.sum ? path : "";
}

}  // namespace longhand::metal
