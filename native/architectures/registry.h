// The one list of architectures: what a checkpoint calls itself, and the family that runs it.
#pragma once

#include <memory>
#include <string_view>

#include "architectures/config.h"
#include "architectures/family.h"
#include "architectures/weights.h"

namespace longhand {

// Reads the configuration and asks for every tensor; whatever is wrong goes into the problems that `config` and
// `weights` share.
using MakeFamily = std::unique_ptr<Family> (*)(const Config& config, Weights& weights);

struct Architecture {
  const char* family;                   // as shown to people
  std::vector<std::string_view> names;  // model_type and general.architecture
  MakeFamily make;
  // Tells two architectures of one name apart by their tensors; null for the one that takes what is left.
  bool (*recognises)(const Checkpoint& checkpoint) = nullptr;
};

const Architecture* find_architecture(const Checkpoint& checkpoint);
std::string architecture_list();  // "llama, qwen3, ..."

bool has_latent_attention(const Checkpoint& checkpoint);

std::unique_ptr<Family> make_bert(const Config& config, Weights& weights);
std::unique_ptr<Family> make_lfm2(const Config& config, Weights& weights);
std::unique_ptr<Family> make_llama(const Config& config, Weights& weights);
std::unique_ptr<Family> make_llama_mla(const Config& config, Weights& weights);
std::unique_ptr<Family> make_minicpm_sala(const Config& config, Weights& weights);
std::unique_ptr<Family> make_qwen2(const Config& config, Weights& weights);
std::unique_ptr<Family> make_qwen3(const Config& config, Weights& weights);
std::unique_ptr<Family> make_qwen3_5(const Config& config, Weights& weights);

}  // namespace longhand
