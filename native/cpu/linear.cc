// Projections and what fuses around them: norm and gate before, bias, activation, scale and residual after.
#include <algorithm>

#include "cpu/activation.h"
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
void finish_row(const Linear& options, const float* bias, int64_t count, float* sums) {
  for (int64_t i = 0; i < count; ++i)
    sums[i] = activate(options.activation, sums[i] + (bias ? bias[i] : 0.0f)) * options.scale;
}

}  // namespace

Activations CpuBackend::activations(Tensor x, const CpuWeight& weight) {
  Activations forms{.x = data(x), .stride = x.stride, .tokens = x.rows, .in = x.cols};
  if (!weight.any_packed()) return forms;
  if (pass_.path == Path::exact) {
    const Tensor sums = scratch(x.rows, x.cols / 16);
    parallel(x.rows, [&](int64_t t) {
      for (int64_t i = 0; i < sums.cols; ++i) {
        float sum = 0;
        for (int64_t c = 0; c < 16; ++c) sum += row(x, t)[16 * i + c];
        row(sums, t)[i] = sum;
      }
    });
    forms.sums = data(sums);
    return forms;
  }
  // One rounding to 8 bits costs a small, deep model its favourite at 4 of 100 positions (KLD 3.0e-3 on SmolLM2); with
  // the left-over rounded too it is 4e-7 and none.
  forms.rounded = rounded(x);
  const Tensor left = scratch(x.rows, x.cols);
  parallel(x.rows, [&](int64_t t) {
    for (int64_t i = 0; i < x.cols; ++i) {
      const int64_t at = t * x.cols + i;
      row(left, t)[i] =
          row(x, t)[i] - static_cast<float>(forms.rounded.codes[at]) * forms.rounded.scales[at / block_columns];
    }
  });
  forms.left_over = rounded(left);
  return forms;
}

// 8 bits a value with a scale every 32 columns.
Rounding CpuBackend::rounded(Tensor x) {
  const Tensor codes = scratch(x.rows, x.cols / 4), scales = scratch(x.rows, x.cols / block_columns);
  const Tensor sums = scratch(x.rows, x.cols / 16);
  auto* bytes = reinterpret_cast<int8_t*>(data(codes));
  auto* integers = reinterpret_cast<int32_t*>(data(sums));
  parallel(x.rows, [&](int64_t t) {
    kernels_.quantise(row(x, t), x.cols, bytes + t * x.cols, row(scales, t), integers + t * sums.cols);
  });
  return {bytes, data(scales), integers};
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
  const Tensor product = scratch(x.rows, w.out);
  const Tensor y = options.add_to ? options.add_to : product;
  assert(y.rows == x.rows && y.cols == w.out);
  const float* bias = options.bias ? floats(*options.bias) : nullptr;
  const bool plain = !bias && options.activation == Activation::none && options.scale == 1.0f;
  const int64_t tile_rows = rows_an_item(w.out, threads_.count());
  parallel((w.out + tile_rows - 1) / tile_rows, [&](int64_t tile) {
    const int64_t first = tile * tile_rows;
    const int64_t count = std::min(tile_rows, w.out - first);
    matmul_tile(kernels_, w, first, count, x_forms, data(product) + first, product.stride);
    for (int64_t t = 0; t < in.rows; ++t) {
      float* sums = row(product, t) + first;
      if (!plain) finish_row(options, bias ? bias + first : nullptr, count, sums);
      if (options.add_to) kernels_.add_scaled(row(y, t) + first, 1.0f, sums, count);
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
  const Tensor up = scratch(x.rows, half);
  const int64_t tile_rows = rows_an_item(half, threads_.count());
  parallel((half + tile_rows - 1) / tile_rows, [&](int64_t tile) {
    const int64_t first = tile * tile_rows;
    const int64_t count = std::min(tile_rows, half - first);
    matmul_tile(kernels_, w, first, count, x_forms, data(y) + first, y.stride);
    matmul_tile(kernels_, w, half + first, count, x_forms, data(up) + first, up.stride);
    for (int64_t t = 0; t < in.rows; ++t) {
      kernels_.multiply_silu(row(up, t) + first, row(y, t) + first, count);
      std::copy_n(row(up, t) + first, count, row(y, t) + first);
    }
  });
  return y;
}

Tensor CpuBackend::logits(Tensor x, const Weight& head, const Norm& norm, float scale) {
  return linear(x, head, {.norm = &norm, .scale = scale});
}

}  // namespace longhand::cpu
