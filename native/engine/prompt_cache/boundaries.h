// Where prompts are cut into passes. Numbers depend on these cuts, so they are a function of the prompt alone and never
// of what was known before: what was read once equals, bit for bit, what reading it anew would give.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace longhand {

// Prompts are read in passes that end at multiples of this, or earlier.
inline constexpr int64_t prefill_chunk = 512;

struct Boundary {
  enum class Kind : uint8_t {
    chunk,          // a multiple of prefill_chunk
    first_message,  // the end of the first message, where every branch of a chat begins
    message,
    last,  // one token before the end, so that the same prompt is answered again at the price of one token
    end,
  };
  int64_t end = 0;  // tokens up to here
  Kind kind = Kind::chunk;
};

// Ascending; the last is the end of the prompt. `stops`: tokens that end a message. `has_states`: of the model, for
// which going back to a place means having stopped there.
std::vector<Boundary> boundaries_of(std::span<const int32_t> prompt, std::span<const int32_t> stops, bool has_states);
// Those that every longer prompt beginning with `prefix` has too.
std::vector<Boundary> boundaries_within(std::span<const int32_t> prefix, std::span<const int32_t> stops);

}  // namespace longhand
