#include "formats/gguf/gguf.h"

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace longhand;
  return refusable([&] {
    const GgufFile file = read_gguf(as_bytes(data, size), "file", 0);
    for (const StringList& list : file.lists) read_strings(list);
    read_all(file.tensors);
  });
}
