// Libraries compiled when the app was packaged (app/launch/metallib.mjs), in the folder `metallib` beside the addon.
// They save the compiler's first half at a first start, and nothing depends on them: the text is always in the program.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace longhand::metal {

class EmbeddedMetallib {
 public:
  // Reads the index of the folder; empty if it is missing or was made from a different kernel text.
  // LONGHAND_METAL_LIBRARIES chooses another folder.
  EmbeddedMetallib();
  // The file of metal/<file>.metal for this layout, "" when there is none or its bytes are not those that were
  // packaged.
  std::string find(const std::string& file, const std::string& layout) const;

 private:
  struct Content {
    uint64_t bytes;
    uint32_t sum;  // CRC-32, as zlib counts it
  };
  std::string folder_;
  std::map<std::string, Content> files_;
};

}  // namespace longhand::metal
