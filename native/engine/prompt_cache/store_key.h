// What encrypts a prompt cache on disk, derived from the 256 bits that the app keeps in the system's keychain.
#pragma once

#include <algorithm>

#include "engine/prompt_cache/aead.h"
#include "engine/prompt_cache/entry_name.h"

namespace longhand {

class StoreKey {
 public:
  static constexpr size_t bytes = 32;

  // The key itself is used for nothing but this block.
  explicit StoreKey(std::span<const std::byte, bytes> key) {
    std::array<uint32_t, 16> derived = chacha20_block(AeadKey(key), {});
    std::copy_n(derived.begin(), 8, contents_.words.begin());
    std::copy_n(derived.begin() + 8, 8, names_.words.begin());
    wipe(derived.data(), sizeof derived);
  }
  const AeadKey& contents() const { return contents_; }
  bool operator==(const StoreKey& other) const { return contents_.words == other.contents_.words; }

  // An entry's name is a hash of its tokens, so that whoever sees it can test a guess. Without the key, the name on
  // disk tells nothing: a seed would not do, since XXH64 can be computed backwards from one prompt that is known.
  EntryName hidden(const EntryName& name) const {
    const std::array<uint32_t, 16> out =
        chacha20_block(names_, {static_cast<uint32_t>(name.high), static_cast<uint32_t>(name.high >> 32),
                                static_cast<uint32_t>(name.low), static_cast<uint32_t>(name.low >> 32)});
    return {uint64_t{out[0]} << 32 | out[1], uint64_t{out[2]} << 32 | out[3]};
  }

 private:
  AeadKey contents_, names_;
};

}  // namespace longhand
