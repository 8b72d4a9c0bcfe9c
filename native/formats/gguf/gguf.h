// GGUF, versions 2 and 3, little-endian: metadata keys, a table of tensors, aligned data (ggml, docs/gguf.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/parts.h"

namespace longhand {

struct GgufFile {
  Json metadata;                    // every key but the long lists of strings; u64 above 2^63 - 1 become doubles
  std::vector<StringList> lists;    // lists of more than 1024 strings, left in the file
  std::vector<WeightView> tensors;  // as listed; shapes row-major, `data` points into the bytes given
};

// `name` is the file's name for messages, `file` the number put into the views. Nothing is allocated from a declared
// count before the bytes are seen. Throws FormatError "[gguf] ...".
GgufFile read_gguf(std::span<const std::byte> bytes, const std::string& name, int file);

std::vector<std::string> read_strings(const StringList& list);

// "Q4_K" and the like; none for types the engine does not know.
std::optional<DType> gguf_type(std::string_view name);

// Opens one file, or all files of a split set from any one of them, and the vision tower if the model has one:
// `tower`, or if empty, the first matching file beside it with "mmproj" in its name.
void open_gguf(const std::string& path, const std::string& tower, CheckpointParts& parts);

}  // namespace longhand
