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

// A product in items of work: a run of rows of W by all tokens, so that memory is read for W once. Products of bf16 are
// so fast that they wait for what passes by meanwhile. Where that is more than W (a picture), an item is a run of rows
// by a tile of tokens, which stays in the second-level cache while item after item brings all rows.
struct Items {
  int64_t rows, tokens, rows_a_run, runs, tokens_a_run, tokens_an_item;

  Items(int64_t all_rows, const Activations& x, int threads)
      : rows(all_rows),
        tokens(x.tokens),
        rows_a_run(rows_an_item(rows, threads)),
        runs((rows + rows_a_run - 1) / rows_a_run),
        tokens_a_run(x.decodes ? tokens_a_decoded_tile : tokens_a_tile),
        tokens_an_item(x.halves && !x.rounded.codes && tokens >= rows ? tokens_a_run : std::max(tokens, tokens_a_run)) {
  }

  int64_t count() const { return runs * ((tokens + tokens_an_item - 1) / tokens_an_item); }
  // Calls use(first row, rows, first token, tokens) for each of the item's tiles of tokens.
  template <class Use>
  void tiles(int64_t item, const Use& use) const {
    const int64_t row = item % runs * rows_a_run, from = item / runs * tokens_an_item;
    const int64_t to = std::min(from + tokens_an_item, tokens);
    for (int64_t token = from; token < to; token += tokens_a_run)
      use(row, std::min(rows_a_run, rows - row), token, std::min(tokens_a_run, to - token));
  }
};

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
  const Activations x_forms = activations(in, w, x.rows);
  const Tensor y = options.add_to ? options.add_to : scratch(x.rows, w.out);
  assert(y.rows == x.rows && y.cols == w.out);
  const float* bias = options.bias ? floats(*options.bias) : nullptr;
  const bool plain = !bias && options.activation == Activation::none && options.scale == 1.0f;
  const Items items(w.out, x_forms, threads_.count());
  parallel(items.count(), [&](int64_t item) {
    thread_local std::vector<float> added;  // the residual stream stays in the cache
    items.tiles(item, [&](int64_t first, int64_t count, int64_t token, int64_t tokens) {
      const int64_t stride = options.add_to ? count : y.stride;
      if (options.add_to) added.resize(static_cast<size_t>(tokens * count));
      float* sums = options.add_to ? added.data() : row(y, token) + first;
      matmul_tile(kernels_, w, first, count, x_forms.token(token, tokens), sums, stride);
      for (int64_t t = 0; t < tokens; ++t) {
        if (!plain) finish_row(kernels_, options, bias ? bias + first : nullptr, count, sums + t * stride);
        if (options.add_to) kernels_.add_scaled(row(y, token + t) + first, 1.0f, sums + t * stride, count);
      }
    });
  });
  return y;
}

Tensor CpuBackend::gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) {
  const CpuWeight& w = cpu_weight(gate_and_up);
  assert(x.cols == w.in && w.out % 2 == 0);
  const int64_t half = w.out / 2;
  const Tensor in = normalised(x, norm);
  const Activations x_forms = activations(in, w, x.rows);
  const Tensor y = scratch(x.rows, half);
  const Items items(half, x_forms, threads_.count());
  parallel(items.count(), [&](int64_t item) {
    thread_local std::vector<float> ups;
    items.tiles(item, [&](int64_t first, int64_t count, int64_t token, int64_t tokens) {
      const Activations part = x_forms.token(token, tokens);
      ups.resize(static_cast<size_t>(tokens * count));
      matmul_tile(kernels_, w, first, count, part, row(y, token) + first, y.stride);
      matmul_tile(kernels_, w, half + first, count, part, ups.data(), count);
      for (int64_t t = 0; t < tokens; ++t) {
        float *gate = row(y, token + t) + first, *up = ups.data() + t * count;
        kernels_.multiply_silu(up, gate, count);
        std::copy_n(up, count, gate);
      }
    });
  });
  return y;
}

Tensor CpuBackend::logits(Tensor x, const Weight& head, const Norm& norm, float scale) {
  return linear(x, head, {.norm = &norm, .scale = scale});
}

}  // namespace longhand::cpu
