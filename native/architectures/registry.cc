#include "architectures/registry.h"

#include <algorithm>

namespace longhand {

namespace {

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> list = {
      {"llama", {"llama"}, make_llama},
      {"qwen3", {"qwen3"}, make_qwen3},
      {"qwen3_5", {"qwen3_5", "qwen3_5_text", "qwen35"}, make_qwen3_5},
  };
  return list;
}

}  // namespace

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture& entry : architectures()) {
    if (std::ranges::find(entry.names, name) != entry.names.end()) return &entry;
  }
  return nullptr;
}

std::string architecture_list() {
  std::string out;
  for (const Architecture& entry : architectures()) out += (out.empty() ? "" : ", ") + std::string(entry.family);
  return out;
}

}  // namespace longhand
