#include "engine/prompt_cache/boundaries.h"

#include <algorithm>

namespace longhand {

std::vector<Boundary> boundaries_within(std::span<const int32_t> prefix, std::span<const int32_t> stops) {
  std::vector<Boundary> out;
  bool first = true;
  for (size_t i = 0; i < prefix.size(); ++i) {
    const auto end = static_cast<int64_t>(i) + 1;
    if (std::ranges::find(stops, prefix[i]) != stops.end()) {
      out.push_back({end, first ? Boundary::Kind::first_message : Boundary::Kind::message});
      first = false;
    } else if (end % prefill_chunk == 0) {
      out.push_back({end, Boundary::Kind::chunk});
    }
  }
  return out;
}

std::vector<Boundary> boundaries_of(std::span<const int32_t> prompt, std::span<const int32_t> stops, bool has_states) {
  const auto total = static_cast<int64_t>(prompt.size());
  std::vector<Boundary> out = boundaries_within(prompt, stops);
  std::erase_if(out, [&](const Boundary& boundary) { return boundary.end >= total; });
  // An additional boundary costs a pass. It is worth it if repeating the prompt would otherwise read many tokens again,
  // but not after the last message of a chat, where the template adds only a few.
  constexpr int64_t many = 12;
  const int64_t before = out.empty() ? 0 : out.back().end;
  if (has_states && total - before > many) out.push_back({total - 1, Boundary::Kind::last});
  out.push_back({total, Boundary::Kind::end});
  return out;
}

}  // namespace longhand
