// Mixture of experts: the router's product, the choice, then matvecs whose matrix is looked up by the chosen id; with
// many rows, tiles of rows that chose the same expert. Only the bytes of chosen experts are read.
#include <algorithm>

#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

Routes MetalBackend::route(Tensor x, const Norm* norm, const Router& router) {
  assert(router.weight->out == router.experts && router.topk <= router.experts);
  const Tensor scores = linear(x, *router.weight, {.norm = norm});
  const Tensor ids = scratch(x.rows, router.topk);  // int32 in the place of fp32
  const Tensor weights = scratch(x.rows, router.topk);
  const RouteParams p{.experts = narrow(router.experts),
                      .topk = narrow(router.topk),
                      .logits_stride = narrow(scores.stride),
                      .renormalise = router.renormalise,
                      .renormalise_eps = router.renormalise_eps,
                      .scale = router.scale,
                      .has_bias = router.bias != nullptr};
  run(Kernel{"moe", "route"},
      Constants().set(kSigmoid, router.kind == Router::Kind::sigmoid_bias).set(kHasBias, router.bias != nullptr),
      {reads(scores), router.bias ? reads(router.bias) : unused(scores), writes(ids), writes(weights)}, p,
      Grid{{static_cast<size_t>(x.rows), 1, 1}, {32, 1, 1}});
  return {ids.buffer, ids.offset * sizeof(float), weights, router.topk};
}

// A tile does the arithmetic of 32 rows: with few rows an expert, looking each matrix up again is cheaper.
static bool grouped(const Routes& routes, int64_t experts) {
  const int64_t tokens = routes.weights.rows;
  return tokens > kMatvecTokens && tokens * routes.topk >= 4 * experts && experts <= kMostGroupedExperts;
}

const MetalBackend::ExpertTiles& MetalBackend::tiles_of(const Routes& routes, int64_t experts) {
  ExpertTiles& made = expert_tiles_;
  if (made.ids == routes.ids && made.ids_offset == routes.ids_offset) return made;
  const int64_t slots = routes.weights.rows * routes.topk;
  made.ids = routes.ids;
  made.ids_offset = routes.ids_offset;
  made.count = narrow(std::min(slots / kTile + experts, slots));  // every expert may have one tile that is not full
  made.order = scratch(1, slots);
  made.tiles = scratch(1, static_cast<int64_t>(made.count * sizeof(ExpertTile) / sizeof(float)));
  const GroupParams p{.experts = narrow(experts), .slots = narrow(slots), .tile = kTile, .tiles = made.count};
  run(Kernel{"moe", "group_by_expert"}, Constants{},
      {part_of(*routes.ids, routes.ids_offset, static_cast<size_t>(slots) * 4, Access::read), writes(made.order),
       writes(made.tiles)},
      p, Grid{{1, 1, 1}, {256, 1, 1}});
  return made;
}

Tensor MetalBackend::expert_gate_up(Tensor x, const Weight& experts, const Norm* norm, const Routes& routes) {
  const MetalWeight& w = metal_weight(experts);
  assert(x.cols == w.in && routes.weights.rows == x.rows);
  const Tensor h = scratch(x.rows * routes.topk, w.out / 2);
  expert_bytes_read_ += w.bytes / static_cast<size_t>(w.experts) * static_cast<size_t>(h.rows);
  Projection how{.options = {.norm = norm}, .routes = &routes, .topk = narrow(routes.topk)};
  if (grouped(routes, w.experts)) how.tiles = &tiles_of(routes, w.experts);
  if (w.parts.size() == 1) {
    how.swiglu = true;
    project(x, w.parts[0], how, h);
    return h;
  }
  const Tensor both = scratch(h.rows, w.out);
  for (const Part& part : w.parts) project(x, part, how, both);
  const RowsParams p{.rows = narrow(h.rows),
                     .cols = narrow(h.cols),
                     .x_stride = narrow(both.stride),
                     .y_stride = narrow(h.stride),
                     .z_stride = 0};
  run(Kernel{"copy", "swiglu"}, Constants{},
      {reads(both.columns(0, h.cols)), reads(both.columns(h.cols, h.cols)), writes(h)}, p,
      elements(static_cast<size_t>(h.cols), static_cast<size_t>(h.rows), 64));
  return h;
}

void MetalBackend::expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) {
  const MetalWeight& w = metal_weight(experts);
  assert(h.rows == add_to.rows * routes.topk && h.cols == w.in && add_to.cols == w.out);
  expert_bytes_read_ += w.bytes / static_cast<size_t>(w.experts) * static_cast<size_t>(h.rows);
  if (grouped(routes, w.experts)) {
    const Tensor each = scratch(h.rows, w.out);
    const Projection how{.routes = &routes, .tiles = &tiles_of(routes, w.experts), .topk = 1};
    for (const Part& part : w.parts) project(h, part, how, each);
    const CombineParams p{.tokens = narrow(add_to.rows),
                          .cols = narrow(w.out),
                          .topk = narrow(routes.topk),
                          .h_stride = narrow(each.stride),
                          .weight_stride = narrow(routes.weights.stride),
                          .y_stride = narrow(add_to.stride)};
    run(Kernel{"moe", "combine_experts"}, Constants{}, {reads(each), reads(routes.weights), updates(add_to)}, p,
        elements(static_cast<size_t>(w.out), static_cast<size_t>(add_to.rows), 64));
    return;
  }
  const Argument ids = part_of(*routes.ids, routes.ids_offset, static_cast<size_t>(h.rows) * 4, Access::read);
  for (const Part& part : w.parts) {
    const ExpertDownParams p{.in = narrow(h.cols),
                             .rows = part.rows,
                             .topk = narrow(routes.topk),
                             .segments = part.segments,
                             .expert_tables = part.expert_tables,
                             .h_stride = narrow(h.stride),
                             .weight_stride = narrow(routes.weights.stride),
                             .y_stride = narrow(add_to.stride)};
    const auto simdgroups = static_cast<size_t>(tuning_.matvec_simdgroups);
    const size_t per_group = simdgroups * static_cast<size_t>(tuning_.matvec_rows);
    run(Kernel{"linear", "expert_down", part.layout},
        Constants()
            .set(kGroup, part.group)
            .set(kScaleType, part.scale_type)
            .set(kMatvecRows, narrow(tuning_.matvec_rows)),
        {reads(*part.bytes), reads(*part.table), reads(h), ids, reads(routes.weights),
         updates(add_to.columns(part.first, part.rows))},
        ExpertDownVecParams{p, part.only},
        Grid{{(part.rows + per_group - 1) / per_group, static_cast<size_t>(add_to.rows), 1}, {simdgroups * 32, 1, 1}});
  }
}

void MetalBackend::add_gated(Tensor x, const Norm* norm, const Weight& gate, Tensor shared, Tensor add_to) {
  assert(gate.out == 1 && shared.cols == add_to.cols);
  const Tensor score = linear(x, gate, {.norm = norm});
  const RowsParams p{.rows = narrow(shared.rows),
                     .cols = narrow(shared.cols),
                     .x_stride = narrow(shared.stride),
                     .y_stride = narrow(add_to.stride),
                     .z_stride = narrow(score.stride)};
  run(Kernel{"copy", "add_scaled_rows"}, Constants{}, {reads(score), reads(shared), updates(add_to)}, p,
      elements(static_cast<size_t>(shared.cols), static_cast<size_t>(shared.rows), 64));
}

}  // namespace longhand::metal
