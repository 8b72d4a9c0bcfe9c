// Activations in the forms that weights are multiplied with: rounded to two bytes, to one, to bf16, or as they are.
#include <algorithm>
#include <cstring>

#include "cpu/backend.h"
#include "cpu/matmul.h"

namespace longhand::cpu {
namespace {

// The sum of sixteen codes, eight at a time: as bytes from 0, in pairs, then all in the topmost 16 bits of a product.
int32_t sum_of_sixteen(const int8_t* codes) {
  uint64_t halves[2];
  std::memcpy(halves, codes, sizeof halves);
  constexpr uint64_t signs = 0x8080808080808080, even = 0x00ff00ff00ff00ff, ones = 0x0001000100010001;
  uint64_t pairs = 0;
  for (uint64_t half : halves) {
    half ^= signs;
    pairs += (half & even) + (half >> 8 & even);
  }
  return static_cast<int32_t>(pairs * ones >> 48) - 16 * 128;
}

// With 8 bits for every activation a small, deep model changes its most likely token at 4 of 100 positions. Most of
// that comes from the blocks of a row whose step is far above the others': a block keeps its low bytes if the square of
// its step is twice the row's mean or more (a tenth of the blocks), the rest do without (test/bench/LEDGER.md).
void drop_low_bytes(const Rounding& row, int64_t in) {
  constexpr float least_share = 2.0f;
  const int64_t blocks = in / block_columns;
  float squares = 0;
  for (int64_t b = 0; b < blocks; ++b) squares += row.scales[b] * row.scales[b];
  const float least = least_share * squares / static_cast<float>(blocks);
  for (int64_t b = 0; b < blocks; ++b) {
    row.low[b] = row.scales[b] * row.scales[b] >= least;
    if (row.low[b]) continue;
    std::memset(row.codes + in + b * block_columns, 0, block_columns);
    for (int64_t half = 2 * b; half < 2 * b + 2; ++half)
      row.code_sums[half] = 128 * sum_of_sixteen(row.codes + half * 16);
  }
}

// The high bytes of a token as unsigned ones, block by block.
void spread(const Rounding& token, int64_t in) {
  for (int64_t b = 0; b < in / block_columns; ++b)
    for (int64_t i = 0; i < block_columns; ++i)
      token.blocks[b * token.block_stride + i] = static_cast<uint8_t>(token.codes[b * block_columns + i] + 128);
}

// to[i] = the sum of x[16 i] to x[16 i + 15]
void add_sixteens(const float* x, int64_t count, float* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = 0;
    for (int64_t c = 0; c < 16; ++c) to[i] += x[16 * i + c];
  }
}

}  // namespace

bool CpuBackend::reads(int64_t tokens) const {
  constexpr int64_t few_tokens = 16;
  const int64_t together = tokens == 1 || pass_.separate ? 1 : std::max(tokens, pass_.whole);
  return pass_.path == Path::fast && together > few_tokens;
}

bool CpuBackend::rounds_activations(int64_t tokens) const {
  return kernels_.rows_bf16_rounded && pass_.path == Path::fast && (!kernels_.rounds_when_reading || reads(tokens));
}

Activations CpuBackend::activations(Tensor x, const CpuWeight& weight, int64_t tokens, std::span<const int64_t> order) {
  const bool packed = weight.any_packed(), fast = packed && pass_.path == Path::fast, direct = order.empty();
  const bool rounds = rounds_activations(tokens), decodes = rounds && packed && kernels_.decode_bf16;
  const bool wants_floats = direct || !fast || !weight.all_packed();
  const int64_t rows = direct ? x.rows : static_cast<int64_t>(order.size());
  const Tensor in = direct || !wants_floats ? x : scratch(rows, x.cols);
  const auto from = [&](int64_t t) { return row(x, direct ? t : order[static_cast<size_t>(t)]); };
  if (!direct && wants_floats) parallel(rows, [&](int64_t t) { std::copy_n(from(t), x.cols, row(in, t)); });
  Activations forms{.x = wants_floats ? data(in) : nullptr, .stride = in.stride, .tokens = rows, .in = x.cols};
  forms.decodes = decodes;
  if (fast && !decodes) {
    forms.rounded = room_for_rounding(rows, x.cols, reads(tokens));
    parallel(rows, [&](int64_t t) {
      const Rounding at = forms.rounded.token(t, x.cols);
      kernels_.quantise(from(t), x.cols, at.codes, at.codes + x.cols, at.scales, at.code_sums);
      if (at.low) drop_low_bytes(at, x.cols);
      if (at.blocks) spread(at, x.cols);
    });
  }
  if (packed && pass_.path == Path::exact) {
    const Tensor sums = scratch(rows, x.cols / 16);
    parallel(rows, [&](int64_t t) { add_sixteens(from(t), sums.cols, row(sums, t)); });
    forms.sums = data(sums);
  }
  if (decodes || (rounds && weight.any_bf16())) {
    // Rows are a line longer than they need be: with a stride of a power of two all would share a few sets of the
    // cache.
    forms.halves_stride = (x.cols + 1) / 2 * 2 + 32;
    auto* halves = reinterpret_cast<uint16_t*>(data(scratch(rows, forms.halves_stride / 2)));
    parallel(rows, [&](int64_t t) { kernels_.round_bf16(from(t), x.cols, halves + t * forms.halves_stride); });
    forms.halves = halves;
  }
  return forms;
}

Rounding CpuBackend::room_for_rounding(int64_t rows, int64_t cols, bool may_drop) {
  const auto room = [&](int64_t floats_a_row) { return data(scratch(rows, floats_a_row)); };
  const bool blocks = may_drop && kernels_.reads_blocks && rows > kernels_.packed_tokens;
  return {reinterpret_cast<int8_t*>(room(cols / 2)),
          room(cols / block_columns),
          reinterpret_cast<int32_t*>(room(cols / 16)),
          may_drop ? reinterpret_cast<uint8_t*>(room((cols / block_columns + 3) / 4)) : nullptr,
          blocks ? reinterpret_cast<uint8_t*>(room(cols / 4)) : nullptr,
          rows * block_columns};
}

}  // namespace longhand::cpu
