// One entry of the prompt cache as a file: a header, the tokens of the stretch, the bytes of its rows or states. It
// appears under its name whole or not at all, and is believed only when everything in it is as it was written.
#pragma once

#include <filesystem>
#include <span>

#include "engine/prompt_cache/blob.h"
#include "engine/prompt_cache/entry_name.h"

namespace longhand {

struct EntryHead {
  char magic[8];
  uint64_t build = 0, model = 0;   // who wrote it, and of what
  uint64_t tokens = 0, bytes = 0;  // how many of each follow
  uint64_t name_high = 0, name_low = 0;
  uint64_t content = 0, head = 0;  // checksums: of what follows, of the fields before
};

// Which engine reads and writes, and what of.
struct EntryOrigin {
  uint64_t build = 0, model = 0;
};

// Throws nothing: false where the disk is full, away or not to be written, and then nothing is left behind.
bool write_entry(const std::filesystem::path& path, const EntryOrigin& origin, const EntryName& name,
                 std::span<const int32_t> tokens, std::span<const std::byte> bytes);

// Whether the file is what its name says and holds so many bytes for these tokens: they stand in `into` then.
bool read_entry(const std::filesystem::path& path, const EntryOrigin& origin, const EntryName& name,
                std::span<const int32_t> tokens, std::span<std::byte> into);

}  // namespace longhand
