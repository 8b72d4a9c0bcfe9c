// The key/value part of a GGUF file.
#pragma once

#include <vector>

#include "formats/gguf/gguf_cursor.h"
#include "formats/parts.h"

namespace longhand {

struct GgufMetadata {
  JsonObject values;
  std::vector<StringList> lists;
  uint32_t alignment = 32;
};

GgufMetadata read_gguf_metadata(GgufCursor& cursor, uint64_t count);

}  // namespace longhand
