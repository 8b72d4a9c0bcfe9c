#include "architectures/registry.h"

#include <algorithm>

namespace longhand {

namespace {

const std::vector<ArchitectureEntry>& architectures() {
  static const std::vector<ArchitectureEntry> list = {
      {"bert", {"bert"}, make_bert},
      {"lfm2", {"lfm2"}, make_lfm2},
      {"lfm2_moe", {"lfm2_moe", "lfm2moe"}, make_lfm2},
      {"llama-mla", {"llama"}, make_llama_mla, has_mla},
      {"llama", {"llama"}, make_llama},
      {"minicpm_sala", {"minicpm_sala"}, make_minicpm_sala},
      {"qwen2", {"qwen2"}, make_qwen2},
      {"qwen3", {"qwen3"}, make_qwen3},
      {"qwen3_5", {"qwen3_5", "qwen3_5_text", "qwen35"}, make_qwen3_5},
      {"qwen3_5_moe", {"qwen3_5_moe", "qwen3_5_moe_text", "qwen35moe"}, make_qwen3_5},
      {"qwen3_next", {"qwen3_next", "qwen3next"}, make_qwen3_5},
  };
  return list;
}

}  // namespace

const ArchitectureEntry* find_architecture(const Checkpoint& checkpoint) {
  const std::string name = architecture_name(checkpoint);
  for (const ArchitectureEntry& entry : architectures()) {
    const bool named = std::ranges::find(entry.names, name) != entry.names.end();
    if (named && (!entry.recognises || entry.recognises(checkpoint))) return &entry;
  }
  return nullptr;
}

std::string architecture_list() {
  std::string out;
  for (const ArchitectureEntry& entry : architectures()) out += (out.empty() ? "" : ", ") + std::string(entry.family);
  return out;
}

}  // namespace longhand
