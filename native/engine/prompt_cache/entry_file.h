// One entry of the prompt cache as a file: a header, the tokens of the stretch, the bytes of its rows or states. It is
// written atomically, and used only if its checksums match.
#pragma once

#include <filesystem>
#include <span>

#include "engine/prompt_cache/blob.h"
#include "engine/prompt_cache/entry_name.h"

namespace longhand {

struct EntryHead {
  char magic[8];
  uint64_t build = 0, model = 0;   // which engine wrote it, and for which model
  uint64_t tokens = 0, bytes = 0;  // numbers of tokens and bytes that follow
  uint64_t name_high = 0, name_low = 0;
  uint64_t content = 0, head = 0;  // checksums of the content that follows and of the fields above
};

// The engine that reads or writes the file, and the model it is for.
struct EntryOrigin {
  uint64_t build = 0, model = 0;
};

// Throws nothing. Returns false, leaving no file, if the disk is full, unavailable or not writable.
bool write_entry(const std::filesystem::path& path, const EntryOrigin& origin, const EntryName& name,
                 std::span<const int32_t> tokens, std::span<const std::byte> bytes);

// Returns true, with the bytes in `into`, if the file matches its name and holds exactly this many bytes for these
// tokens.
bool read_entry(const std::filesystem::path& path, const EntryOrigin& origin, const EntryName& name,
                std::span<const int32_t> tokens, std::span<std::byte> into);

}  // namespace longhand
