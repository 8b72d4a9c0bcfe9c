// Mixture of experts: the router's product, the choice, then matvecs whose matrix is looked up by the chosen id; where
// the back end can, tiles of rows that chose the same expert. Only the bytes of chosen experts are read.
#pragma once

#include "gpu/shared_ops.h"

namespace longhand::gpu {

template <class Api>
Routes SharedOps<Api>::route(Tensor x, const Norm* norm, const Router& router) {
  assert(router.weight->out == router.experts && router.topk <= router.experts);
  const Tensor scores = linear(x, *router.weight, {.norm = norm});
  const Tensor ids = api().scratch(x.rows, router.topk);  // int32 in the place of fp32
  const Tensor weights = api().scratch(x.rows, router.topk);
  const params::RouteParams p{.experts = narrow(router.experts),
                              .topk = narrow(router.topk),
                              .logits_stride = narrow(scores.stride),
                              .renormalise = router.renormalise,
                              .renormalise_eps = router.renormalise_eps,
                              .scale = router.scale,
                              .has_bias = router.bias != nullptr};
  api().run(Kinds::route,
            Constants()
                .set(params::kSigmoid, router.kind == Router::Kind::sigmoid_bias)
                .set(params::kHasBias, router.bias != nullptr),
            {reads(scores), router.bias ? reads(router.bias) : unused(scores), writes(ids), writes(weights)}, p,
            api().groups(static_cast<size_t>(x.rows), 1, 32));
  return {ids.buffer, ids.offset * sizeof(float), weights, router.topk};
}

template <class Api>
Tensor SharedOps<Api>::expert_gate_up(Tensor x, const Weight& experts, const Norm* norm, const Routes& routes) {
  const auto& w = Kinds::weight(experts);
  assert(x.cols == w.in && routes.weights.rows == x.rows);
  const Tensor h = api().scratch(x.rows * routes.topk, w.out / 2);
  count_expert_bytes(w, h.rows);
  Projection how{.options = {.norm = norm}, .routes = &routes, .topk = narrow(routes.topk)};
  if constexpr (Kinds::tiles_experts) how.tiles = api().tiles_for(routes, w.experts);
  if (w.parts.size() == 1) {
    how.swiglu = true;
    api().project(x, w.parts[0], how, h);
    return h;
  }
  const Tensor both = api().scratch(h.rows, w.out);
  for (const Part& part : w.parts) api().project(x, part, how, both);
  row_op(RowOp::swiglu, both.columns(0, h.cols), both.columns(h.cols, h.cols), h, both.stride);
  return h;
}

template <class Api>
void SharedOps<Api>::expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) {
  const auto& w = Kinds::weight(experts);
  assert(h.rows == add_to.rows * routes.topk && h.cols == w.in && add_to.cols == w.out);
  count_expert_bytes(w, h.rows);
  if constexpr (Kinds::tiles_experts) {
    if (const ExpertTiles* tiles = api().tiles_for(routes, w.experts)) {
      api().expert_down_tiled(h, w, routes, *tiles, add_to);
      return;
    }
  }
  const Argument ids = part_of(*routes.ids, routes.ids_offset, static_cast<size_t>(h.rows) * 4, Access::read);
  for (const Part& part : w.parts) {
    const params::ExpertDownParams p{.in = narrow(h.cols),
                                     .rows = part.rows,
                                     .topk = narrow(routes.topk),
                                     .segments = part.segments,
                                     .expert_tables = part.expert_tables,
                                     .h_stride = narrow(h.stride),
                                     .weight_stride = narrow(routes.weights.stride),
                                     .y_stride = narrow(add_to.stride)};
    api().run_expert_down(Constants().set(params::kGroup, part.group).set(params::kScaleType, part.scale_type), part,
                          {reads(*part.bytes), reads(*part.table), reads(h), ids, reads(routes.weights),
                           updates(add_to.columns(part.first, part.rows))},
                          p, static_cast<size_t>(add_to.rows));
  }
}

template <class Api>
void SharedOps<Api>::add_gated(Tensor x, const Norm* norm, const Weight& gate, Tensor shared, Tensor add_to) {
  assert(gate.out == 1 && shared.cols == add_to.cols);
  const Tensor score = linear(x, gate, {.norm = norm});
  row_op(RowOp::add_scaled, shared, score, add_to, score.stride);
}

}  // namespace longhand::gpu
