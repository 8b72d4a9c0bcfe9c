// Every block type decoded where nothing may be touched behind its last byte, nor behind the last number it stands for.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "formats/blocks.h"
#include "formats/checkpoint.h"

namespace {

using namespace longhand;

// The last `bytes` of mapped memory, behind which lies a page that nobody may touch.
std::byte* before_a_wall(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t room = (bytes + page - 1) / page * page;
  void* mapped = mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED || mprotect(static_cast<std::byte*>(mapped) + room, page, PROT_NONE) != 0) _exit(2);
  return static_cast<std::byte*>(mapped) + room - bytes;
}

}  // namespace

int main() {
  for (auto number = static_cast<uint8_t>(DType::q4_0); number <= static_cast<uint8_t>(DType::gguf_mxfp4); ++number) {
    const auto type = static_cast<DType>(number);
    const BlockSize block = block_size(type);
    std::printf("%s ", name_of(type));
    std::fflush(stdout);  // what is decoded when it ends
    constexpr int64_t blocks = 3;
    const auto bytes = static_cast<size_t>(blocks * block.bytes);
    std::byte* from = before_a_wall(bytes);
    std::memset(from, 0x11, bytes);
    WeightView view{
        .name = "w", .type = type, .shape = {1, blocks * block.elements}, .data = from, .data_bytes = bytes};
    auto* to = reinterpret_cast<float*>(before_a_wall(static_cast<size_t>(view.elements()) * sizeof(float)));
    dequantise_rows(view, 0, 1, to);
  }
  std::printf("all\n");
  return 0;
}
