// Mixture of experts (modeling_qwen3_5_moe.py, modeling_lfm2.py). Tokens are grouped by expert, so that every chosen
// expert is read once.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "cpu/activation.h"
#include "cpu/backend.h"
#include "cpu/matmul.h"

namespace longhand::cpu {
namespace {

constexpr int64_t tile_rows = 16;

// Slots (token * topk + i) sorted by expert, in order within one; the run of slots of every chosen expert.
struct Grouped {
  struct Run {
    int64_t expert, first, count;
  };
  std::vector<int64_t> slots;
  std::vector<Run> runs;
};

Grouped by_expert(const Routes& routes) {
  const auto* ids = reinterpret_cast<const int32_t*>(routes.ids->host() + routes.ids_offset);
  Grouped out;
  out.slots.resize(static_cast<size_t>(routes.weights.rows * routes.topk));
  std::iota(out.slots.begin(), out.slots.end(), 0);
  std::stable_sort(out.slots.begin(), out.slots.end(), [&](int64_t a, int64_t b) { return ids[a] < ids[b]; });
  for (size_t i = 0; i < out.slots.size(); ++i) {
    const int64_t expert = ids[out.slots[i]];
    if (out.runs.empty() || out.runs.back().expert != expert) out.runs.push_back({expert, static_cast<int64_t>(i), 0});
    ++out.runs.back().count;
  }
  return out;
}

// One token: probabilities of all experts, the best k (lower id of equals), their weights.
void choose(const Kernels& kernels, const float* logits, const Router& router, int32_t* ids, float* weights) {
  std::vector<float> probability(logits, logits + router.experts);
  std::vector<float> selection;
  if (router.kind == Router::Kind::softmax) {
    kernels.softmax(probability.data(), router.experts);
    selection = probability;
  } else {
    for (float& p : probability) p = sigmoid(p);
    selection = probability;
    const float* bias = floats(router.bias);
    for (size_t e = 0; bias && e < selection.size(); ++e) selection[e] += bias[e];
  }
  std::vector<int32_t> order(static_cast<size_t>(router.experts));
  std::iota(order.begin(), order.end(), 0);
  const auto better = [&](int32_t a, int32_t b) {
    const float x = selection[static_cast<size_t>(a)], y = selection[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + router.topk, order.end(), better);
  float sum = 0;
  for (int64_t i = 0; i < router.topk; ++i) sum += probability[static_cast<size_t>(order[static_cast<size_t>(i)])];
  const float factor = router.scale / (router.renormalise ? sum + router.renormalise_eps : 1.0f);
  for (int64_t i = 0; i < router.topk; ++i) {
    ids[i] = order[static_cast<size_t>(i)];
    weights[i] = probability[static_cast<size_t>(ids[i])] * factor;
  }
}

}  // namespace

Routes CpuBackend::route(Tensor x, const Norm* norm, const Router& router) {
  assert(router.weight->out == router.experts && router.topk <= router.experts);
  const Tensor logits = linear(x, *router.weight, {.norm = norm});
  const Tensor ids = scratch(x.rows, router.topk);  // int32 in the place of fp32
  const Tensor weights = scratch(x.rows, router.topk);
  parallel(x.rows, [&](int64_t t) {
    choose(kernels_, row(logits, t), router, reinterpret_cast<int32_t*>(row(ids, t)), row(weights, t));
  });
  return {ids.buffer, ids.offset * sizeof(float), weights, router.topk};
}

Tensor CpuBackend::expert_gate_up(Tensor x, const Weight& experts, const Norm* norm, const Routes& routes) {
  const CpuWeight& w = cpu_weight(experts);
  const int64_t half = w.out / 2, tiles = (half + tile_rows - 1) / tile_rows;
  const Grouped grouped = by_expert(routes);
  std::vector<int64_t> tokens = grouped.slots;
  for (int64_t& slot : tokens) slot /= routes.topk;
  const Activations forms = activations(normalised(x, norm), w, x.rows, tokens);
  const Tensor h = scratch(x.rows * routes.topk, half);
  parallel(static_cast<int64_t>(grouped.runs.size()) * tiles, [&](int64_t item) {
    const Grouped::Run& run = grouped.runs[static_cast<size_t>(item / tiles)];
    const int64_t first = item % tiles * tile_rows, count = std::min(tile_rows, half - first);
    const int64_t base = run.expert * w.out + first;
    float gates[tokens_a_tile * tile_rows], ups[tokens_a_tile * tile_rows];
    for (int64_t done = 0; done < run.count; done += tokens_a_tile) {
      const Activations part = forms.token(run.first + done, std::min(tokens_a_tile, run.count - done));
      matmul_tile(kernels_, w, base, count, part, gates, tile_rows);
      matmul_tile(kernels_, w, base + half, count, part, ups, tile_rows);
      for (int64_t t = 0; t < part.tokens; ++t) {
        kernels_.multiply_silu(ups + t * tile_rows, gates + t * tile_rows, count);
        std::copy_n(ups + t * tile_rows, count,
                    row(h, grouped.slots[static_cast<size_t>(run.first + done + t)]) + first);
      }
    }
  });
  expert_bytes_read_ += w.bytes / static_cast<size_t>(w.experts) * grouped.runs.size();
  return h;
}

// An item computes 16 outputs of all experts, so that a token's sum is taken in the order of its slots at once.
void CpuBackend::expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) {
  const CpuWeight& w = cpu_weight(experts);
  assert(h.rows == add_to.rows * routes.topk && h.cols == w.in && add_to.cols == w.out);
  const Grouped grouped = by_expert(routes);
  const Activations forms = activations(h, w, add_to.rows, grouped.slots);
  parallel((w.out + tile_rows - 1) / tile_rows, [&](int64_t tile) {
    const int64_t first = tile * tile_rows, count = std::min(tile_rows, w.out - first);
    thread_local std::vector<float> sorted, product;  // [slots, 16], by expert and by token
    sorted.resize(static_cast<size_t>(h.rows * tile_rows));
    product.resize(sorted.size());
    for (const Grouped::Run& run : grouped.runs)
      matmul_tile(kernels_, w, run.expert * w.out + first, count, forms.token(run.first, run.count),
                  sorted.data() + run.first * tile_rows, tile_rows);
    for (int64_t i = 0; i < h.rows; ++i)
      std::copy_n(sorted.data() + i * tile_rows, count,
                  product.data() + grouped.slots[static_cast<size_t>(i)] * tile_rows);
    for (int64_t t = 0; t < add_to.rows; ++t) {
      for (int64_t c = 0; c < count; ++c) {
        float sum = 0;
        for (int64_t i = 0; i < routes.topk; ++i)
          sum += row(routes.weights, t)[i] * product[static_cast<size_t>((t * routes.topk + i) * tile_rows + c)];
        row(add_to, t)[first + c] += sum;
      }
    }
  });
  expert_bytes_read_ += w.bytes / static_cast<size_t>(w.experts) * grouped.runs.size();
}

void CpuBackend::add_gated(Tensor x, const Norm* norm, const Weight& gate, Tensor shared, Tensor add_to) {
  assert(gate.out == 1 && shared.cols == add_to.cols);
  const Tensor score = linear(x, gate, {.norm = norm});
  parallel(x.rows, [&](int64_t t) {
    const float weight = sigmoid(*row(score, t));
    for (int64_t c = 0; c < shared.cols; ++c) row(add_to, t)[c] += weight * row(shared, t)[c];
  });
}

}  // namespace longhand::cpu
