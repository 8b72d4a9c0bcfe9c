// Mixture of experts: the router's product, the choice, then matvecs whose matrix is looked up by the chosen id. Only
// the bytes of chosen experts are read.
#include "vulkan/backend.h"

namespace longhand::vulkan {

using namespace params;

Routes VulkanBackend::route(Tensor x, const Norm* norm, const Router& router) {
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
  run("route",
      Constants().set(kSigmoid, router.kind == Router::Kind::sigmoid_bias).set(kHasBias, router.bias != nullptr),
      {reads(scores), router.bias ? reads(router.bias) : unused(scores), writes(ids), writes(weights)}, p,
      groups(static_cast<size_t>(x.rows), 1, 32));
  return {ids.buffer, ids.offset * sizeof(float), weights, router.topk};
}

Tensor VulkanBackend::expert_gate_up(Tensor x, const Weight& experts, const Norm* norm, const Routes& routes) {
  const VulkanWeight& w = vulkan_weight(experts);
  assert(x.cols == w.in && routes.weights.rows == x.rows);
  const Tensor h = scratch(x.rows * routes.topk, w.out / 2);
  expert_bytes_read_ += w.bytes / static_cast<size_t>(w.experts) * static_cast<size_t>(h.rows);
  if (w.parts.size() == 1) {
    project(x, w.parts[0], {.options = {.norm = norm}, .swiglu = true, .routes = &routes}, h);
    return h;
  }
  const Tensor both = scratch(h.rows, w.out);
  for (const Part& part : w.parts) project(x, part, {.options = {.norm = norm}, .routes = &routes}, both);
  copy_rows(vulkan::shared::kSwigluRows, both.columns(0, h.cols), both.columns(h.cols, h.cols), h, Access::write,
            both.stride);
  return h;
}

void VulkanBackend::expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) {
  const VulkanWeight& w = vulkan_weight(experts);
  assert(h.rows == add_to.rows * routes.topk && h.cols == w.in && add_to.cols == w.out);
  expert_bytes_read_ += w.bytes / static_cast<size_t>(w.experts) * static_cast<size_t>(h.rows);
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
    const uint32_t threads = device_->threads_for(64), subgroups = threads / device_->limits().subgroup;
    run("expert_down",
        Constants()
            .set(kGroup, part.group)
            .set(kScaleType, part.scale_type)
            .set(kLayout, part.layout)
            .set(kBits, part.bits),
        {reads(*part.bytes), reads(*part.table), reads(h), ids, reads(routes.weights),
         updates(add_to.columns(part.first, part.rows))},
        p, Grid{{(part.rows + subgroups - 1) / subgroups, static_cast<size_t>(add_to.rows), 1}, threads});
  }
}

void VulkanBackend::add_gated(Tensor x, const Norm* norm, const Weight& gate, Tensor shared, Tensor add_to) {
  assert(gate.out == 1 && shared.cols == add_to.cols);
  const Tensor score = linear(x, gate, {.norm = norm});
  copy_rows(vulkan::shared::kAddScaled, shared, score, add_to, Access::update, score.stride);
}

}  // namespace longhand::vulkan
