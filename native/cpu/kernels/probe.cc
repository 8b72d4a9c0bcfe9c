// Measures at start-up whether matrix tiles are worth having: a hypervisor may emulate them, or neighbours use them up.
#include "cpu/kernels/probe.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "cpu/weights/packed_weights.h"

namespace longhand::cpu {
namespace {

constexpr int64_t probe_tokens = 64, probe_columns = 1024, probe_blocks = probe_columns / block_columns;
constexpr int tries = 8;

// Two panels of 4 bits and what they are multiplied with: zeros, whose products take no less time than others.
struct alignas(64) Work {
  uint8_t codes[2 * probe_blocks * 4 * quad_bytes] = {}, unpacked[2 * probe_blocks * unpacked_block_bytes] = {};
  float scales[2 * probe_blocks * panel_rows] = {}, sums[probe_tokens * 2 * panel_rows] = {};
  uint16_t decoded[probe_blocks * decoded_block] = {}, halves[probe_tokens * probe_columns] = {};
  int8_t x[probe_tokens * 2 * probe_columns] = {};
  float x_scales[probe_tokens * probe_blocks] = {};
  int32_t x_sums[probe_tokens * 2 * probe_blocks] = {};
};

void by_tiles(const Kernels& kernels, Work& work) {
  for (int64_t p = 0; p < 2; ++p)
    kernels.decode_bf16({.codes = work.codes + p * probe_blocks * 4 * quad_bytes,
                         .bits = 4,
                         .table = nullptr,
                         .zero = 8,
                         .scales = work.scales,
                         .biases = nullptr,
                         .group = block_columns,
                         .blocks = probe_blocks,
                         .to = work.decoded + p * decoded_tile});
  kernels.multiply_decoded(
      {work.decoded, 2, probe_columns, work.halves, probe_columns, probe_tokens, work.sums, 2 * panel_rows, false});
}

void by_vectors(const Kernels& kernels, Work& work) {
  for (int64_t p = 0; p < 2; ++p)
    kernels.unpack({work.codes + p * probe_blocks * 4 * quad_bytes, 4, nullptr, probe_blocks,
                    work.unpacked + p * probe_blocks * unpacked_block_bytes});
  kernels.panel_fast({.codes = work.unpacked,
                      .scales = work.scales,
                      .panels = 2,
                      .code_stride = probe_blocks * unpacked_block_bytes,
                      .scale_stride = probe_blocks * panel_rows,
                      .blocks = probe_blocks,
                      .group = block_columns,
                      .zero = 8,
                      .tokens = probe_tokens,
                      .x_codes = work.x,
                      .x_scales = work.x_scales,
                      .x_code_sums = work.x_sums,
                      .x_stride = probe_columns,
                      .scale_step = probe_blocks,
                      .sum_step = 2 * probe_blocks,
                      .sums = work.sums});
}

template <class Task>
double seconds(const Task& task) {
  const auto began = std::chrono::steady_clock::now();
  task();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

// The least of some tries each, in turn, so that an interruption or another load of the machine meets both.
bool tiles_are_faster(const Kernels& tiles, const Kernels& vectors) {
  const auto work = std::make_unique<Work>();
  double with = 1, without = 1;
  for (int i = 0; i < tries; ++i) {
    with = std::min(with, seconds([&] { by_tiles(tiles, *work); }));
    without = std::min(without, seconds([&] { by_vectors(vectors, *work); }));
  }
  return with < without;
}

}  // namespace longhand::cpu
