// Mixture of experts (model-specs 6.3, 10.3). Tokens are grouped by expert, so that every chosen expert is read once.
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

const int32_t* chosen_experts(const Routes& routes) {
  return reinterpret_cast<const int32_t*>(routes.ids->host() + routes.ids_offset);
}

// Slots (token * topk + i) by expert, in order.
std::vector<std::vector<int64_t>> slots_by_expert(const Routes& routes, int64_t experts) {
  std::vector<std::vector<int64_t>> slots(static_cast<size_t>(experts));
  const int32_t* ids = chosen_experts(routes);
  for (int64_t slot = 0; slot < routes.weights.rows * routes.topk; ++slot)
    slots[static_cast<size_t>(ids[slot])].push_back(slot);
  std::erase_if(slots, [](const auto& list) { return list.empty(); });
  return slots;
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
  const Tensor in = normalised(x, norm);
  const Activations forms = activations(in, w);
  const Tensor h = scratch(x.rows * routes.topk, half);
  const auto chosen = slots_by_expert(routes, w.experts);
  const int32_t* ids = chosen_experts(routes);
  parallel(static_cast<int64_t>(chosen.size()) * tiles, [&](int64_t item) {
    const int64_t first = item % tiles * tile_rows, count = std::min(tile_rows, half - first);
    for (const int64_t slot : chosen[static_cast<size_t>(item / tiles)]) {
      const int64_t base = ids[slot] * w.out + first;
      float up[tile_rows];
      float* gate = row(h, slot) + first;
      matmul_tile(kernels_, w, base, count, forms.token(slot / routes.topk, 1), gate, h.stride);
      matmul_tile(kernels_, w, base + half, count, forms.token(slot / routes.topk, 1), up, tile_rows);
      kernels_.silu(gate, count);
      for (int64_t i = 0; i < count; ++i) gate[i] *= up[i];
    }
  });
  expert_bytes_read_ += w.bytes / static_cast<size_t>(w.experts) * chosen.size();
  return h;
}

void CpuBackend::expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) {
  const CpuWeight& w = cpu_weight(experts);
  assert(h.rows == add_to.rows * routes.topk && h.cols == w.in && add_to.cols == w.out);
  const int64_t tiles = (w.out + tile_rows - 1) / tile_rows;
  const Activations forms = activations(h, w);
  const Tensor product = scratch(h.rows, w.out);
  const auto chosen = slots_by_expert(routes, w.experts);
  const int32_t* ids = chosen_experts(routes);
  parallel(static_cast<int64_t>(chosen.size()) * tiles, [&](int64_t item) {
    const int64_t first = item % tiles * tile_rows, count = std::min(tile_rows, w.out - first);
    for (const int64_t slot : chosen[static_cast<size_t>(item / tiles)])
      matmul_tile(kernels_, w, ids[slot] * w.out + first, count, forms.token(slot, 1), row(product, slot) + first,
                  product.stride);
  });
  parallel(add_to.rows, [&](int64_t t) {
    for (int64_t c = 0; c < w.out; ++c) {
      float sum = 0;
      for (int64_t i = 0; i < routes.topk; ++i) sum += row(routes.weights, t)[i] * row(product, t * routes.topk + i)[c];
      row(add_to, t)[c] += sum;
    }
  });
  expert_bytes_read_ += w.bytes / static_cast<size_t>(w.experts) * chosen.size();
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
