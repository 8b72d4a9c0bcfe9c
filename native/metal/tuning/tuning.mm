#include "metal/tuning/tuning.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "formats/error.h"

namespace longhand::metal {

namespace {

constexpr int64_t rows_tried[] = {4, 8}, simdgroups_tried[] = {2, 4, 8}, switch_tried[] = {0, 1},
                  slices_tried[] = {1, 2, 4, 8}, scan_tried[] = {1, 2, 4}, chunks_tried[] = {0, 512, 256, 64},
                  groups_tried[] = {0, 16, 40, 80, 160};
constexpr std::array<Choice, 9> all = {{{"matvec_rows", &Tuning::matvec_rows, rows_tried},
                                        {"matvec_simdgroups", &Tuning::matvec_simdgroups, simdgroups_tried},
                                        {"attention_shared", &Tuning::attention_shared, switch_tried},
                                        {"delta_slices", &Tuning::delta_slices, slices_tried},
                                        {"scan_simdgroups", &Tuning::scan_simdgroups, scan_tried},
                                        {"delta_chunk_from", &Tuning::delta_chunk_from, chunks_tried},
                                        {"attention_groups", &Tuning::attention_groups, groups_tried},
                                        {"matmul_half", &Tuning::matmul_half, switch_tried},
                                        {"matmul_tensor", &Tuning::matmul_tensor, switch_tried}}};

// Threadgroups for one token's attention over a long context, two for each core of the largest such chip, of which an
// Ultra has 80, a Max 40 and a Pro 20: one for 1024 keys of a group of heads would be 8 at 4096 keys of Qwen3.5-0.8B.
struct Size {
  std::string_view suffix;
  int64_t attention_groups;
};
constexpr Size sizes[] = {{" Ultra", 160}, {" Max", 80}, {" Pro", 40}, {"", 16}};

std::string allowed(const Choice& choice) {
  if (choice.value == &Tuning::delta_chunk_from) return "<tokens>, 0 for never";
  std::string text;
  for (const int64_t value : choice.tried) text += (text.empty() ? "" : " or ") + std::to_string(value);
  return text;
}

bool may_be(const Choice& choice, int64_t value) {
  if (choice.value == &Tuning::delta_chunk_from) return value >= 0;
  return std::ranges::find(choice.tried, value) != choice.tried.end();
}

// One "name=value".
bool choose(Tuning& tuning, std::string_view word) {
  for (const Choice& choice : all) {
    const std::string name = std::string(choice.name) + "=";
    if (!word.starts_with(name)) continue;
    int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto [last, error] = std::from_chars(word.data() + name.size(), end, value);
    if (error != std::errc{} || last != end || !may_be(choice, value)) return false;
    tuning.*choice.value = value;
    return true;
  }
  return false;
}

}  // namespace

std::span<const Choice> choices() { return all; }

bool tuner_wanted() {
#if defined(__APPLE__)
  constexpr bool otherwise = true;
#else
  constexpr bool otherwise = false;
#endif
  const char* words = std::getenv("LONGHAND_METAL_TUNER");
  if (!words || !*words) return otherwise;
  const std::string_view chosen = words;
  if (chosen == "on" || chosen == "off") return chosen == "on";
  throw DeviceError("[metal] LONGHAND_METAL_TUNER is \"" + std::string(words) + "\", expected on or off");
}

std::string text_of(const Tuning& tuning) {
  std::string text;
  for (const Choice& choice : all)
    text += (text.empty() ? "" : " ") + std::string(choice.name) + "=" + std::to_string(tuning.*choice.value);
  return text;
}

Tuning tuning_of_chip(const std::string& device) {
  if (!device.starts_with("Apple M")) return {.origin = "general table"};
  const auto size = std::ranges::find_if(sizes, [&](const Size& each) { return device.ends_with(each.suffix); });
  Tuning tuning{.attention_groups = size->attention_groups, .origin = "table of the chip"};
  // Products pay where there are matrix units: from 256 tokens on in the engines that have both forms
  // (uzu, MNN). Everything before is faster with the state in registers, token by token.
  // Only tensor operations reach those units: 2 to 3 times the tokens of a prompt.
  if (device.starts_with("Apple M5")) {
    tuning.delta_chunk_from = 256;
    tuning.matmul_tensor = 1;
  }
  return tuning;
}

bool choose_by_environment(Tuning& tuning) {
  const char* words = std::getenv("LONGHAND_METAL_TUNING");
  if (!words || !*words) return false;
  std::string_view rest = words;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (choose(tuning, word)) continue;
    std::string message = "[metal] LONGHAND_METAL_TUNING is \"" + std::string(words) + "\", expected";
    for (const Choice& choice : all)
      message += (&choice == all.data() ? " " : ", ") + std::string(choice.name) + "=" + allowed(choice);
    throw DeviceError(message);
  }
  tuning.origin = "LONGHAND_METAL_TUNING";
  return true;
}

}  // namespace longhand::metal
