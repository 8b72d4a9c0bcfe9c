// How projections are launched: see gpu/linear.h.
#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

// Rows of separate timelines go to the matvec, however many they are: alone each would too, and M rows give the bits of
// M single rows.
void MetalBackend::project(const Tensor& x, const Part& part, const gpu::Projection& projection, const Tensor& y) {
  if (pass_.separate && !projection.routes) project_stretches(x, part, projection, y, kMatvecTokens, false);
  else SharedOps::project(x, part, projection, y);
}

void MetalBackend::launch(const gpu::ProjectionLaunch<MetalBackend>& l) {
  const auto& [w, table, x, norm, gate, bias] = l.inputs;
  const bool swiglu = l.projection.swiglu, routed = l.projection.routes != nullptr;
  if (l.tiled) {
    const ExpertTiles* tiles = l.projection.tiles;
    const size_t tile = swiglu ? kTile / 2 : kTile;
    const size_t down = tiles ? tiles->count : static_cast<size_t>(l.x.rows + kTile - 1) / kTile;
    run(Kernel{"matmul", "linear_mat", l.part.layout}, l.constants,
        {w, table, x, norm, gate, bias, tiles ? reads(tiles->tiles) : unused(l.x),
         tiles ? reads(tiles->order) : unused(l.x), l.written},
        l.params, Grid{{(l.outputs + tile - 1) / tile, down, 1}, {128, 1, 1}, 0, l.work});
    return;
  }
  // What was tuned is one row of x; more of them need the registers.
  const bool single = routed || l.x.rows == 1;
  const auto simdgroups = static_cast<size_t>(single ? tuning_.matvec_simdgroups : kMatvecSimdgroups);
  const auto rows = static_cast<size_t>(single ? tuning_.matvec_rows : kRowsPerSimdgroup);
  const size_t per_group = simdgroups * (swiglu ? rows / 2 : rows);
  Constants constants = l.constants;
  constants.set(kTokens, routed ? 1 : narrow(l.x.rows)).set(kMatvecRows, narrow(rows));
  run(Kernel{"linear", "linear_vec", l.part.layout}, constants, {w, table, x, norm, gate, bias, l.ids(), l.written},
      LinearVecParams{l.params, l.part.only},
      Grid{{(l.outputs + per_group - 1) / per_group, l.slots(), 1}, {simdgroups * 32, 1, 1}, 0, l.work});
}

Tensor MetalBackend::logits(Tensor x, const Weight& head, const Norm& norm, float scale) {
  return linear(x, head, {.norm = &norm, .scale = scale});
}

}  // namespace longhand::metal
