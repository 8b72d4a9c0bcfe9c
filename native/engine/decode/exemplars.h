// Texts that an answer may follow: a language model of nearest neighbours beside the network (Khandelwal et al. 2020,
// "Generalization through Memorization"), whose keys are the last tokens of the answer (as in REST, He et al. 2023)
// instead of hidden states.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ops/operands.h"

namespace longhand {

struct Exemplar {
  std::vector<int32_t> tokens;  // with the stop token, if the answer may end where this one does
  float weight = 0;             // what is added to the logit of the first
};

// What is added to the logits of tokens that go on as an exemplar does, of several the most. It grows with the number
// of tokens before them that the exemplar shares with the end of the answer. An answer that has not begun is led with
// the whole weight, and one that has followed from its beginning with up to twice that: what leaves a text halfway is
// seldom sense.
std::vector<TokenBias> exemplar_biases(std::span<const Exemplar> exemplars, std::span<const int32_t> answer);

}  // namespace longhand
