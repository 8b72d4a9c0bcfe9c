// The list of supported architectures: the names a checkpoint may give itself, and the family that runs it.
#pragma once

#include <memory>
#include <string_view>

#include "architectures/architecture.h"
#include "architectures/shared/config.h"
#include "architectures/shared/weights.h"

namespace longhand {

// Reads the configuration and requests every tensor. Errors are added to the diagnostics that `config` and `weights`
// share.
using MakeArchitecture = std::unique_ptr<Architecture> (*)(const Config& config, Weights& weights);

struct ArchitectureEntry {
  const char* family;                   // the name users see
  std::vector<std::string_view> names;  // model_type and general.architecture
  MakeArchitecture make;
  // Tells two architectures with the same name apart by their tensors; null for the one used when no other matches.
  bool (*recognises)(const Checkpoint& checkpoint) = nullptr;
};

const ArchitectureEntry* find_architecture(const Checkpoint& checkpoint);
std::string architecture_list();  // "llama, qwen3, ..."

bool has_mla(const Checkpoint& checkpoint);

std::unique_ptr<Architecture> make_bert(const Config& config, Weights& weights);
std::unique_ptr<Architecture> make_lfm2(const Config& config, Weights& weights);
std::unique_ptr<Architecture> make_llama(const Config& config, Weights& weights);
std::unique_ptr<Architecture> make_llama_mla(const Config& config, Weights& weights);
std::unique_ptr<Architecture> make_minicpm_sala(const Config& config, Weights& weights);
std::unique_ptr<Architecture> make_qwen2(const Config& config, Weights& weights);
std::unique_ptr<Architecture> make_qwen3(const Config& config, Weights& weights);
std::unique_ptr<Architecture> make_qwen3_5(const Config& config, Weights& weights);

}  // namespace longhand
