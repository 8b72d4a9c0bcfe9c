// Projections: few rows go to the matvec (bound by the bytes of W), many to the tiled matmul (bound by arithmetic).
#include "metal/backend.h"

namespace longhand::metal {

using namespace params;

// One part of a matrix: y[:, part.first ..] = W_part x with everything around it.
void MetalBackend::project(const Tensor& x, const Part& part, const Projection& projection, const Tensor& y) {
  const Linear& options = projection.options;
  const Routes* routes = projection.routes;
  const uint32_t outputs = projection.swiglu ? part.rows / 2 : part.rows;
  Constants constants;
  constants.set(kHasNorm, options.norm != nullptr)
      .set(kGateKind, static_cast<uint32_t>(options.gate_kind))
      .set(kHasBias, options.bias != nullptr)
      .set(kActivation, static_cast<uint32_t>(options.activation))
      .set(kAddTo, options.add_to ? 1 : 0)
      .set(kSwiGlu, projection.swiglu)
      .set(kByExpert, routes != nullptr)
      .set(kGroup, part.group)
      .set(kScaleType, part.scale_type);
  LinearParams p{.in = narrow(x.cols),
                 .rows = part.rows,
                 .tokens = narrow(x.rows),
                 .x_stride = narrow(x.stride),
                 .y_stride = narrow(y.stride),
                 .gate_stride = narrow(options.gate.stride),
                 .segments = part.segments,
                 .expert_tables = part.expert_tables,
                 .topk = projection.tiles ? projection.topk
                         : routes         ? narrow(routes->topk)
                                          : 1,
                 .eps = options.norm ? options.norm->eps : 0.0f,
                 .scale = options.scale};
  // Parts write columns of their own: bound where they begin, they do not wait for one another.
  const uint32_t first = projection.swiglu ? part.first / 2 : part.first;
  const Tensor out = y.columns(first, outputs);
  const Argument written = options.add_to ? updates(out) : writes(out);
  const auto bias = [&] {
    return part_of(**options.bias, first * sizeof(float), outputs * sizeof(float), Access::read);
  };
  const std::array a{reads(*part.bytes),
                     reads(*part.table),
                     reads(x),
                     options.norm ? reads(options.norm->weight) : unused(x),
                     options.gate ? reads(options.gate) : unused(x),
                     options.bias ? bias() : unused(x)};
  const double work = 2.0 * static_cast<double>(x.rows * p.topk) * part.rows * static_cast<double>(x.cols);
  const ExpertTiles* tiles = projection.tiles;
  if (x.rows > kMatvecTokens && (!routes || tiles)) {
    const size_t tile = projection.swiglu ? kTile / 2 : kTile;
    const size_t down = tiles ? tiles->count : static_cast<size_t>(x.rows + kTile - 1) / kTile;
    run(Kernel{"matmul", "linear_mat", part.layout}, constants,
        {a[0], a[1], a[2], a[3], a[4], a[5], tiles ? reads(tiles->tiles) : unused(x),
         tiles ? reads(tiles->order) : unused(x), written},
        p, Grid{{(outputs + tile - 1) / tile, down, 1}, {128, 1, 1}, 0, work});
    return;
  }
  // What was tuned is one row of x; more of them need the registers.
  const bool single = routes || x.rows == 1;
  const auto simdgroups = static_cast<size_t>(single ? tuning_.matvec_simdgroups : kMatvecSimdgroups);
  const auto rows = static_cast<size_t>(single ? tuning_.matvec_rows : kRowsPerSimdgroup);
  const size_t per_group = simdgroups * (projection.swiglu ? rows / 2 : rows);
  const size_t groups = (outputs + per_group - 1) / per_group;
  const Argument ids =
      routes ? part_of(*routes->ids, routes->ids_offset, static_cast<size_t>(x.rows * routes->topk) * 4, Access::read)
             : unused(x);
  const size_t slots = routes ? static_cast<size_t>(x.rows * routes->topk) : 1;
  constants.set(kTokens, routes ? 1 : narrow(x.rows)).set(kMatvecRows, narrow(rows));
  run(Kernel{"linear", "linear_vec", part.layout}, constants, {a[0], a[1], a[2], a[3], a[4], a[5], ids, written},
      LinearVecParams{p, part.only}, Grid{{groups, slots, 1}, {simdgroups * 32, 1, 1}, 0, work});
}

Tensor MetalBackend::linear(Tensor x, const Weight& weight, const Linear& options) {
  const MetalWeight& w = metal_weight(weight);
  assert(x.cols == w.in && w.experts == 1);
  const Tensor y = options.add_to ? options.add_to : scratch(x.rows, w.out);
  assert(y.rows == x.rows && y.cols == w.out);
  for (const Part& part : w.parts) project(x, part, {.options = options}, y);
  return y;
}

// The two halves of the SwiGLU stand in one part when they share a layout; otherwise they meet in a kernel of their
// own.
Tensor MetalBackend::gate_up(Tensor x, const Weight& gate_and_up, const Norm* norm) {
  const MetalWeight& w = metal_weight(gate_and_up);
  assert(x.cols == w.in && w.out % 2 == 0);
  const Tensor y = scratch(x.rows, w.out / 2);
  if (w.parts.size() == 1) {
    project(x, w.parts[0], {.options = {.norm = norm}, .swiglu = true}, y);
    return y;
  }
  const Tensor both = linear(x, gate_and_up, {.norm = norm});
  const RowsParams p{.rows = narrow(y.rows),
                     .cols = narrow(y.cols),
                     .x_stride = narrow(both.stride),
                     .y_stride = narrow(y.stride),
                     .z_stride = 0};
  run(Kernel{"copy", "swiglu"}, Constants{},
      {reads(both.columns(0, y.cols)), reads(both.columns(y.cols, y.cols)), writes(y)}, p,
      elements(static_cast<size_t>(y.cols), static_cast<size_t>(y.rows), 64));
  return y;
}

Tensor MetalBackend::logits(Tensor x, const Weight& head, const Norm& norm, float scale) {
  return linear(x, head, {.norm = &norm, .scale = scale});
}

}  // namespace longhand::metal
