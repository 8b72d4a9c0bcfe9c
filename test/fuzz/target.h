// What every fuzz target shares: a refusal is a good answer, anything else that is thrown is a bug.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/checkpoint.h"
#include "formats/error.h"
#include "formats/verify.h"

namespace longhand {

inline std::span<const std::byte> as_bytes(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}

template <class Body>
int refusable(Body body) {
  try {
    body();
  } catch (const FormatError&) {
  } catch (const Unsupported&) {
  } catch (const OutOfMemory&) {
  }
  return 0;
}

// Touches every byte that a view promises.
inline void read_all(std::span<const WeightView> views) {
  constexpr int64_t limit = 1 << 20;  // elements: one-byte elements of a big stack only cost time
  for (const WeightView& view : views) {
    find_non_finite(view, Verify::values);
    if (view.data != nullptr && view.elements() < limit) to_floats(view);
  }
}

}  // namespace longhand
