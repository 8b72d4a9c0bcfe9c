#include "formats/safetensors.h"

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace longhand;
  return refusable([&] { read_all(read_safetensors(as_bytes(data, size), "file", 0).tensors); });
}
