#include "formats/json.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace longhand;
  return refusable([&] { Json::parse({reinterpret_cast<const char*>(data), size}, "json"); });
}
