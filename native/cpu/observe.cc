// A CPU back end that records the inputs of its matrices. Results are the same as without it.
#include "ops/observe.h"

#include <algorithm>
#include <cmath>

#include "cpu/backend.h"

namespace longhand {

namespace cpu {

namespace {

class ObservingBackend final : public CpuBackend {
 public:
  ObservingBackend(const Kernels& kernels, const CpuOptions& options, std::shared_ptr<Observations> seen)
      : CpuBackend(kernels, options), seen_(std::move(seen)) {}

  WeightPtr prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                    int64_t experts) override {
    WeightPtr weight = CpuBackend::prepare(views, std::move(keep_alive), experts);
    Observed& observed = seen_->found[weight.get()];
    for (const WeightView& view : views)
      if (observed.names.empty() || observed.names.back() != view.name) observed.names.push_back(view.name);
    return weight;
  }

  Tensor linear(Tensor x, const Weight& weight, const Linear& options) override {
    observe(x, weight, options.norm, options.gate, options.gate_kind);
    const Tensor y = CpuBackend::linear(x, weight, options);
    if (!options.add_to) observe_pairs(y, weight);
    return y;
  }
  Tensor gate_up(Tensor x, const Weight& weight, const Norm* norm) override {
    observe(x, weight, norm);
    return CpuBackend::gate_up(x, weight, norm);
  }
  Tensor logits(Tensor x, const Weight& head, const Norm& norm, float scale) override {
    observe(x, head, &norm);
    return CpuBackend::logits(x, head, norm, scale);
  }
  Tensor expert_gate_up(Tensor x, const Weight& experts, const Norm* norm, const Routes& routes) override {
    observe(x, experts, norm);
    return CpuBackend::expert_gate_up(x, experts, norm, routes);
  }
  void expert_down(Tensor h, const Weight& experts, const Routes& routes, Tensor add_to) override {
    observe(h, experts, nullptr);
    CpuBackend::expert_down(h, experts, routes, add_to);
  }

 private:
  // One row of x as the matrix will see it.
  static void input_row(Tensor x, int64_t t, const Norm* norm, Tensor gate, Gate kind, std::vector<double>& to) {
    const float* from = row(x, t);
    std::copy_n(from, x.cols, to.begin());
    if (norm) {
      double squares = 0;
      for (int64_t i = 0; i < x.cols; ++i) squares += static_cast<double>(from[i]) * from[i];
      const double scale = 1.0 / std::sqrt(squares / static_cast<double>(x.cols) + norm->eps);
      const float* gain = floats(norm->weight);
      for (int64_t i = 0; i < x.cols; ++i) to[static_cast<size_t>(i)] *= scale * gain[i];
    }
    if (kind == Gate::none) return;
    const float* gates = row(gate, t);
    for (int64_t i = 0; i < x.cols; ++i) {
      const double sigmoid = 1.0 / (1.0 + std::exp(-static_cast<double>(gates[i])));
      to[static_cast<size_t>(i)] *= kind == Gate::silu ? gates[i] * sigmoid : sigmoid;
    }
  }

  void observe(Tensor x, const Weight& weight, const Norm* norm, Tensor gate = {}, Gate kind = Gate::none) {
    const auto found = seen_->found.find(&weight);
    if (found == seen_->found.end()) return;
    Observed& observed = found->second;
    const auto in = static_cast<size_t>(x.cols);
    observed.squares.resize(in);
    const bool covariance =
        !seen_->covariance_of.empty() && std::ranges::any_of(observed.names, [&](const std::string& name) {
          return name.ends_with(seen_->covariance_of);
        });
    if (covariance) observed.covariance.resize(in * in);
    std::vector<double> values(in);
    for (int64_t t = 0; t < x.rows; ++t) {
      input_row(x, t, norm, gate, kind, values);
      for (size_t i = 0; i < in; ++i) observed.squares[i] += values[i] * values[i];
      for (size_t i = 0; covariance && i < in; ++i) {
        double* to = observed.covariance.data() + i * in;
        for (size_t j = 0; j < in; ++j) to[j] += values[i] * values[j];
      }
    }
    observed.tokens += x.rows;
  }

  void observe_pairs(Tensor y, const Weight& weight) {
    const int64_t dim = seen_->pair_dim;
    if (dim == 0 || y.cols % dim != 0) return;
    Observed& observed = seen_->found[&weight];
    if (std::ranges::none_of(observed.names, [](const std::string& name) { return name.ends_with("k_proj.weight"); }))
      return;
    observed.pairs.resize(static_cast<size_t>(y.cols / 2));
    for (int64_t t = 0; t < y.rows; ++t) {
      const float* values = row(y, t);
      for (int64_t i = 0; i < y.cols / 2; ++i) {
        const float* pair = values + i / (dim / 2) * dim + i % (dim / 2);
        observed.pairs[static_cast<size_t>(i)] += std::hypot(static_cast<double>(pair[0]), pair[dim / 2]);
      }
    }
  }

  std::shared_ptr<Observations> seen_;
};

}  // namespace

}  // namespace cpu

Creation create_observing_cpu(int threads, std::shared_ptr<Observations> seen) {
  const auto available = cpu::available_kernels();
  CpuOptions options;
  options.threads = threads;
  for (const cpu::Kernels* kernels : available) {
    if (kernels->permitted && !kernels->permitted()) continue;
    return {std::make_unique<cpu::ObservingBackend>(*kernels, options, std::move(seen)), ""};
  }
  return {nullptr, "[cpu] this processor has no instructions that can be used"};
}

}  // namespace longhand
