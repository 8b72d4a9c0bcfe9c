// Projections and what fuses around them: norm and gate before, bias, activation, scale and residual after.
#include <algorithm>
#include <vector>

#include "cpu/backend.h"
#include "cpu/matmul.h"

namespace longhand::cpu {
namespace {

// Rows of one item of work. Long runs keep the memory streams going (256 rows of a matrix are 100 KB and more), short
// ones spread a small matrix over the threads.
int64_t rows_an_item(int64_t rows, int threads) {
  constexpr int64_t pair = 2 * panel_rows, items_a_thread = 8;
  const int64_t share = rows / (threads * items_a_thread) / pair * pair;
  return std::clamp(share, pair, 8 * pair);
}

// + bias -> activation -> * scale
void finish_row(const Kernels& kernels, const Linear& options, const float* bias, int64_t count, float* sums) {
  if (bias) kernels.add_scaled(sums, 1.0f, bias, count);
  switch (options.activation) {
    case Activation::silu: kernels.silu(sums, count); break;
    case Activation::gelu_erf: kernels.gelu_erf(sums, count); break;
    case Activation::gelu_tanh: kernels.gelu_tanh(sums, count); break;
    case Activation::none: break;
  }
  for (int64_t i = 0; options.scale != 1.0f && i < count; ++i) sums[i] *= options.scale;
}

}  // namespace

Activations CpuBackend::activations(Tensor x, const CpuWeight& weight, std::span<const int64_t> order) {
  const bool fast = weight.any_packed() && pass_.path == Path::fast, direct = order.empty();
  const bool wants_floats = direct || !fast || !weight.all_packed();
  const int64_t rows = direct ? x.rows : static_cast<int64_t>(order.size());
  const Tensor in = direct || !wants_floats ? x : scratch(rows, x.cols);
  const auto from = [&](int64_t t) { return row(x, direct ? t : order[static_cast<size_t>(t)]); };
  if (!direct && wants_floats) parallel(rows, [&](int64_t t) { std::copy_n(from(t), x.cols, row(in, t)); });
  Activations forms{.x = wants_floats ? data(in) : nullptr, .stride = in.stride, .tokens = rows, .in = x.cols};
  if (fast) {
    forms.rounded = room_for_rounding(rows, x.cols);
    parallel(rows, [&](int64_t t) {
      const Rounding at = forms.rounded.token(t, x.cols);
      kernels_.quantise(from(t), x.cols, at.codes, at.codes + x.cols, at.scales, at.code_sums);
    });
  } else if (weight.any_packed()) {
    const Tensor sums = scratch(rows, x.cols / 16);
    parallel(rows, [&](int64_t t) {
      for (int64_t i = 0; i < sums.cols; ++i) {
        float sum = 0;
        for (int64_t c = 0; c < 16; ++c) sum += from(t)[16 * i + c];
        row(sums, t)[i] = sum;
      }
    });
    forms.sums = data(sums);
  }
  if (pass_.path == Path::fast && kernels_.rows_bf16_rounded && weight.any_bf16()) {
    auto* halves = reinterpret_cast<uint16_t*>(data(scratch(rows, (x.cols + 1) / 2)));
    parallel(rows, [&](int64_t t) { kernels_.round_bf16(from(t), x.cols, halves + t * x.cols); });
    forms.halves = halves;
  }
  return forms;
}

Rounding CpuBackend::room_for_rounding(int64_t rows, int64_t cols) {
  const Tensor codes = scratch(rows, cols / 2), scales = scratch(rows, cols / block_columns);
  return {reinterpret_cast<int8_t*>(data(codes)), data(scales),
          reinterpret_cast<int32_t*>(data(scratch(rows, cols / 16)))};
}

Tensor CpuBackend::linear(Tensor x, const Weight& weight, const Linear& options) {
  const CpuWeight& w = cpu_weight(weight);
  assert(x.cols == w.in && w.experts == 1);
  Tensor in = normalised(x, options.norm);
  if (options.gate_kind != Gate::none) {
    assert(options.gate.rows == x.rows && options.gate.cols == x.cols);
    const Tensor gated = scratch(x.rows, x.cols);
    parallel(x.rows, [&](int64_t t) {
      std::copy_n(row(in, t), x.cols, row(gated, t));
      (options.gate_kind == Gate::silu ? kernels_.multiply_silu : kernels_.multiply_sigmoid)(
          row(gated, t), row(options.gate, t), x.cols);
    });
    in = gated;
  }
  const Activations x_forms = activations(in, w);
  const Tensor y = options.add_to ? options.add_to : scratch(x.rows, w.out);
  assert(y.rows == x.rows && y.cols == w.out);
  const float* bias = options.bias ? floats(*options.bias) : nullptr;
  const bool plain = !bias && options.activation == Activation::none && options.scale == 1.0f;
  const int64_t tile_rows = rows_an_item(w.out, threads_.count());
  parallel((w.out + tile_rows - 1) / tile_rows, [&](int64_t tile) {
    const int64_t first = tile * tile_rows;
    const int64_t count = std::min(tile_rows, w.out - first);
    thread_local std::vector<float> added;  // the residual stream stays in the cache
    for (int64_t token = 0; token < in.rows; token += tokens_a_tile) {
      const int64_t tokens = std::min(tokens_a_tile, in.rows - token), stride = options.add_to ? count : y.stride;
      if (options.add_to) added.resize(static_cast<size_t>(tokens * count));
      float* sums = options.add_to ? added.data() : row(y, token) + first;
      matmul_tile(kernels_, w, first, count, x_forms.token(token, tokens), sums, stride);
      for (int64_t t = 0; t < tokens; ++t) {
        if (!plain) finish_row(kernels_, options, bias ? bias + first : nullptr, count, sums + t * stride);
        if (options.add_to) kernels_.add_scaled(row(y, token + t) + first, 1.0f, sums + t * stride, count);
      }
    }
  });
  return y;
}

Tensor CpuBackend::gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) {
  const CpuWeight& w = cpu_weight(gate_and_up);
  assert(x.cols == w.in && w.out % 2 == 0);
  const int64_t half = w.out / 2;
  const Tensor in = normalised(x, norm);
  const Activations x_forms = activations(in, w);
  const Tensor y = scratch(x.rows, half);
  const int64_t tile_rows = rows_an_item(half, threads_.count());
  parallel((half + tile_rows - 1) / tile_rows, [&](int64_t tile) {
    const int64_t first = tile * tile_rows;
    const int64_t count = std::min(tile_rows, half - first);
    thread_local std::vector<float> ups;
    for (int64_t token = 0; token < in.rows; token += tokens_a_tile) {
      const Activations part = x_forms.token(token, std::min(tokens_a_tile, in.rows - token));
      ups.resize(static_cast<size_t>(part.tokens * count));
      matmul_tile(kernels_, w, first, count, part, row(y, token) + first, y.stride);
      matmul_tile(kernels_, w, half + first, count, part, ups.data(), count);
      for (int64_t t = 0; t < part.tokens; ++t) {
        float *gate = row(y, token + t) + first, *up = ups.data() + t * count;
        kernels_.multiply_silu(up, gate, count);
        std::copy_n(up, count, gate);
      }
    }
  });
  return y;
}

Tensor CpuBackend::logits(Tensor x, const Weight& head, const Norm& norm, float scale) {
  return linear(x, head, {.norm = &norm, .scale = scale});
}

}  // namespace longhand::cpu
