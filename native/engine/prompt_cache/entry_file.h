// One entry of the prompt cache as a file: a header, the tokens of the stretch, the bytes of its rows or states. It is
// written atomically, and used only if its checksums match. With a key, everything after the header is encrypted, the
// header is authenticated, and a tag follows.
#pragma once

#include <filesystem>
#include <span>

#include "engine/prompt_cache/blob.h"
#include "engine/prompt_cache/entry_name.h"
#include "engine/prompt_cache/store_key.h"

namespace longhand {

struct EntryHead {
  char magic[8];
  uint64_t build = 0, model = 0;   // which engine wrote it, and for which model
  uint64_t tokens = 0, bytes = 0;  // numbers of tokens and bytes that follow
  uint64_t name_high = 0, name_low = 0;
  uint32_t encrypted = 0;  // 1: encrypted
  AeadNonce nonce{};       // random; zeros if not encrypted
  uint64_t content = 0;  // checksum of what follows; 0 if that is encrypted, for a checksum would tell something of it
  uint64_t head = 0;     // checksum of the fields above
};
static_assert(sizeof(EntryHead) == 88);

// The engine that reads or writes the file, and the model it is for.
struct EntryOrigin {
  uint64_t build = 0, model = 0;
};

// The size of the file of an entry.
uint64_t entry_size(size_t tokens, size_t bytes, bool encrypted);

// Throws nothing. Returns false, leaving no file, if the disk is full, unavailable or not writable. `key`: null writes
// it as it is.
bool write_entry(const std::filesystem::path& path, const EntryOrigin& origin, const StoreKey* key,
                 const EntryName& name, std::span<const int32_t> tokens, std::span<const std::byte> bytes);

// Returns true, with the bytes in `into`, if the file matches its name and holds exactly this many bytes for these
// tokens, encrypted with this key, or with none. Otherwise `into` is not to be used.
bool read_entry(const std::filesystem::path& path, const EntryOrigin& origin, const StoreKey* key,
                const EntryName& name, std::span<const int32_t> tokens, std::span<std::byte> into);

}  // namespace longhand
