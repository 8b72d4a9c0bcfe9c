#include "engine/decode/exemplars.h"

#include <algorithm>
#include <map>

namespace longhand {

// So many shared tokens count as much as any more, between the two texts and from their beginnings.
static constexpr size_t enough_between = 4, enough_whole = 8;

// The share of its weight that an exemplar gives its token `next`.
static float share(std::span<const int32_t> exemplar, size_t next, std::span<const int32_t> answer) {
  if (next == answer.size() && std::ranges::equal(answer, exemplar.first(next)))
    return 1 + static_cast<float>(std::min(next, enough_whole)) / enough_whole;
  const size_t most = std::min({next, answer.size(), enough_between});
  size_t length = 0;
  while (length < most && exemplar[next - 1 - length] == answer[answer.size() - 1 - length]) ++length;
  return static_cast<float>(length) / enough_between;
}

std::vector<TokenBias> exemplar_biases(std::span<const Exemplar> exemplars, std::span<const int32_t> answer) {
  std::map<int32_t, float> largest;
  for (const auto& [tokens, weight] : exemplars) {
    for (size_t next = 0; next < tokens.size(); ++next) {
      const float bias = weight * share(tokens, next, answer);
      if (bias > 0) largest[tokens[next]] = std::max(largest[tokens[next]], bias);
    }
  }
  std::vector<TokenBias> out;
  for (const auto& [token, bias] : largest) out.push_back({token, bias});
  return out;
}

}  // namespace longhand
