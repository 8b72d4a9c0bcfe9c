// How projections are launched: see gpu/linear.h.
#include "formats/error.h"
#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

// Rows of separate timelines go to the matvec, however many they are: alone each would too, and M rows give the bits of
// M single rows.
void MetalBackend::project(const Tensor& x, const Part& part, const gpu::Projection& projection, const Tensor& y) {
  if (pass_.separate && !projection.routes) project_stretches(x, part, projection, y, kMatvecTokens, false);
  else SharedOps::project(x, part, projection, y);
}

// x as products in halves read it (metal/pack.metal), its columns filled up to whole tiles.
MetalBackend::PackedRows MetalBackend::pack(const gpu::ProjectionLaunch<MetalBackend>& l, int64_t columns) {
  const auto& [w, table, x, norm, gate, bias] = l.inputs;
  const int64_t stride = (l.x.cols + columns - 1) / columns * columns;
  const PackedRows packed{.rows = scratch(l.x.rows, stride / 2), .scales = scratch(l.x.rows, 1)};
  const PackParams p{.in = l.params.in,
                     .x_stride = l.params.x_stride,
                     .gate_stride = l.params.gate_stride,
                     .y_stride = narrow(stride),
                     .eps = l.params.eps};
  const auto& around = l.constants.values();
  run(Kernel{"pack", "pack_rows"}, Constants().set(kHasNorm, around[kHasNorm]).set(kGateKind, around[kGateKind]),
      {x, norm, gate, writes(packed.rows), writes(packed.scales)}, p, groups(static_cast<size_t>(l.x.rows), 1, 32));
  return packed;
}

void MetalBackend::refuse_tensor(const std::string& reason) {
  if (reason.empty()) return;
  tuning_.matmul_tensor = 0;
  tuning_.tensor_refused = reason.substr(0, reason.find('\n'));
}

// False when its kernel does not compile for this layout. Not for tiles of an expert, which have kTile rows.
bool MetalBackend::launch_tensor(const gpu::ProjectionLaunch<MetalBackend>& l) {
  const auto& [w, table, x, norm, gate, bias] = l.inputs;
  const Kernel kernel{"matmul_tensor", "linear_mat_tensor", l.part.layout};
  const Constants constants = Constants(l.constants).set(kHasNorm, 0).set(kGateKind, 0);
  const size_t tile = kTensorTile / (l.projection.swiglu ? 2 : 1);
  const Grid grid{{(l.outputs + tile - 1) / tile, static_cast<size_t>(l.x.rows + kTensorTile - 1) / kTensorTile, 1},
                  {128, 1, 1},
                  0,
                  l.work};
  try {
    if (!pass_.warmup) pipelines_.get({kernel, constants, grid.threads_in_group()});
  } catch (const DeviceError& error) {
    refuse_tensor(error.what());
    return false;
  }
  const PackedRows packed = pack(l, kTensorTile);
  LinearParams p = l.params;
  p.x_stride = narrow(2 * packed.rows.stride);
  run(kernel, constants, {w, table, reads(packed.rows), reads(packed.scales), bias, l.written}, p, grid);
  return true;
}

void MetalBackend::launch_tiled(const gpu::ProjectionLaunch<MetalBackend>& l) {
  const auto& [w, table, x, norm, gate, bias] = l.inputs;
  const ExpertTiles* tiles = l.projection.tiles;
  if (pass_.path == Path::fast && tuning_.matmul_tensor != 0 && !tiles && launch_tensor(l)) return;
  const Argument expert_tiles = tiles ? reads(tiles->tiles) : unused(l.x),
                 order = tiles ? reads(tiles->order) : unused(l.x);
  const bool half = pass_.path == Path::fast && tuning_.matmul_half != 0;
  const size_t tile = (half ? kHalfTile : kTile) / (l.projection.swiglu ? 2 : 1);
  const size_t down = tiles ? tiles->count : static_cast<size_t>(l.x.rows + kTile - 1) / kTile;
  const Grid grid{{(l.outputs + tile - 1) / tile, down, 1}, {128, 1, 1}, 0, l.work};
  if (!half) {
    run(Kernel{"matmul", "linear_mat", l.part.layout}, l.constants,
        {w, table, x, norm, gate, bias, expert_tiles, order, l.written}, l.params, grid);
    return;
  }
  const PackedRows packed = pack(l, kTile);
  LinearParams p = l.params;
  p.x_stride = narrow(2 * packed.rows.stride);
  run(Kernel{"matmul_half", "linear_mat_half", l.part.layout},
      Constants(l.constants).set(kHasNorm, 0).set(kGateKind, 0),
      {w, table, reads(packed.rows), reads(packed.scales), bias, expert_tiles, order, l.written}, p, grid);
}

void MetalBackend::launch(const gpu::ProjectionLaunch<MetalBackend>& l) {
  if (l.tiled) {
    launch_tiled(l);
    return;
  }
  const auto& [w, table, x, norm, gate, bias] = l.inputs;
  const bool swiglu = l.projection.swiglu, routed = l.projection.routes != nullptr;
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
