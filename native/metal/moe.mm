// Mixture of experts beside gpu/moe.h: tiles of rows that chose the same expert.
#include <algorithm>

#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

// A tile costs the arithmetic of 32 rows: with few rows an expert, a matvec per row is cheaper. Rows of separate
// timelines go to the matvec, as each would alone.
bool MetalBackend::grouped(const Routes& routes, int64_t experts) const {
  const int64_t tokens = whole_of(routes.weights.rows);
  return !pass_.separate && tokens > kMatvecTokens && tokens * routes.topk >= 4 * experts &&
         experts <= kMostGroupedExperts;
}

const gpu::ExpertTiles* MetalBackend::tiles_for(const Routes& routes, int64_t experts) {
  if (!grouped(routes, experts)) return nullptr;
  ExpertTiles& made = expert_tiles_;
  if (made.ids == routes.ids && made.ids_offset == routes.ids_offset) return &made;
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
  return &made;
}

void MetalBackend::expert_down_tiled(const Tensor& h, const MetalWeight& w, const Routes& routes,
                                     const ExpertTiles& tiles, const Tensor& add_to) {
  const Tensor each = scratch(h.rows, w.out);
  const gpu::Projection how{.routes = &routes, .tiles = &tiles, .topk = 1};
  for (const Part& part : w.parts) project(h, part, how, each);
  const CombineParams p{.tokens = narrow(add_to.rows),
                        .cols = narrow(w.out),
                        .topk = narrow(routes.topk),
                        .h_stride = narrow(each.stride),
                        .weight_stride = narrow(routes.weights.stride),
                        .y_stride = narrow(add_to.stride)};
  run(Kernel{"moe", "combine_experts"}, Constants{}, {reads(each), reads(routes.weights), updates(add_to)}, p,
      elements(static_cast<size_t>(w.out), static_cast<size_t>(add_to.rows), 64));
}

void MetalBackend::run_expert_down(Constants constants, const Part& part, std::initializer_list<Argument> arguments,
                                   const ExpertDownParams& p, size_t tokens) {
  const auto simdgroups = static_cast<size_t>(tuning_.matvec_simdgroups);
  const size_t per_group = simdgroups * static_cast<size_t>(tuning_.matvec_rows);
  run(Kernel{"linear", "expert_down", part.layout}, constants.set(kMatvecRows, narrow(tuning_.matvec_rows)), arguments,
      ExpertDownVecParams{p, part.only},
      Grid{{(part.rows + per_group - 1) / per_group, tokens, 1}, {simdgroups * 32, 1, 1}});
}

}  // namespace longhand::metal
