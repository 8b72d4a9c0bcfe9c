// Where prompts are cut into passes. Results depend on these cuts, so they are a function of the prompt alone, never of
// what is cached: cached results equal those of a new computation bit for bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace longhand {

// Passes over a prompt end at multiples of this, or earlier.
inline constexpr int64_t prefill_chunk = 512;

struct Boundary {
  enum class Kind : uint8_t {
    chunk,          // a multiple of prefill_chunk
    first_message,  // the end of the first message, which all branches of a chat share
    message,
    last,  // one token before the end, so that repeating the prompt reads only one token
    end,
  };
  int64_t end = 0;  // number of tokens before the boundary
  Kind kind = Kind::chunk;
};

// Ascending; the last is the end of the prompt. `stops`: tokens that end a message. `has_states`: the model has
// recurrent states, so it can only return to places where a pass ended.
std::vector<Boundary> boundaries_of(std::span<const int32_t> prompt, std::span<const int32_t> stops, bool has_states);
// The boundaries that every longer prompt beginning with `prefix` also has.
std::vector<Boundary> boundaries_within(std::span<const int32_t> prefix, std::span<const int32_t> stops);

}  // namespace longhand
