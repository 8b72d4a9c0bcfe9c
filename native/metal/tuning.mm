#include "metal/tuning.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "formats/error.h"

namespace longhand::metal {

namespace {

struct Row {
  std::string_view device;  // begins with
  Tuning tuning;
};
// Products pay where there are matrix units: from 256 tokens on in the engines that have both forms (engine-techniques
// 2.2: uzu, MNN). Everything before is faster with the state in registers, token by token.
constexpr Row rows[] = {{"Apple M5", {.delta_chunk_from = 256}}, {"", {}}};

void choose(Tuning& tuning, std::string_view words) {
  constexpr std::string_view name = "delta_chunk_from=";
  const char* end = words.data() + words.size();
  if (words.starts_with(name)) {
    const auto [last, error] = std::from_chars(words.data() + name.size(), end, tuning.delta_chunk_from);
    if (error == std::errc{} && last == end && tuning.delta_chunk_from >= 0) return;
  }
  throw DeviceError("[metal] LONGHAND_METAL_TUNING is \"" + std::string(words) +
                    "\", allowed is delta_chunk_from=<tokens>, 0 for never");
}

}  // namespace

Tuning tuning_for(const std::string& device) {
  Tuning tuning;
  for (const Row& row : rows) {
    if (!device.starts_with(row.device)) continue;
    tuning = row.tuning;
    break;
  }
  if (const char* words = std::getenv("LONGHAND_METAL_TUNING")) choose(tuning, words);
  return tuning;
}

}  // namespace longhand::metal
