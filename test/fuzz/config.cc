// A configuration and the tensors it speaks about: MLX modules are fused, FP8 is converted.
// Input: u32 length of the configuration, the configuration, a safetensors file.
#include "formats/numbers.h"
#include "formats/parts.h"
#include "formats/safetensors.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace longhand;
  if (size < 4) return 0;
  const auto length = load<uint32_t>(data);
  if (length > size - 4) return 0;
  return refusable([&] {
    CheckpointParts parts;
    parts.config = Json::parse({reinterpret_cast<const char*>(data) + 4, length}, "config");
    parts.tensors = read_safetensors(as_bytes(data + 4 + length, size - 4 - length), "file", -1).tensors;
    const std::shared_ptr<const Checkpoint> checkpoint = assemble(std::move(parts), Read::all);
    read_all(checkpoint->tensors());
    verify(*checkpoint, Verify::values);
  });
}
