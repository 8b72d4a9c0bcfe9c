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
    std::vector<double> values(in);
    const bool with_covariance = wants_covariance(observed);
    std::vector<float> turned(with_covariance ? in * static_cast<size_t>(x.rows) : 0);
    for (int64_t t = 0; t < x.rows; ++t) {
      input_row(x, t, norm, gate, kind, values);
      for (size_t i = 0; i < in; ++i) observed.squares[i] += values[i] * values[i];
      for (size_t i = 0; with_covariance && i < in; ++i)
        turned[i * static_cast<size_t>(x.rows) + static_cast<size_t>(t)] = static_cast<float>(values[i]);
    }
    if (with_covariance) add_covariance(turned, x.rows, observed.covariance);
    observed.tokens += x.rows;
  }

  bool wants_covariance(const Observed& observed) const {
    return std::ranges::any_of(observed.names, [&](const std::string& name) {
      return std::ranges::any_of(seen_->covariance_of, [&](const std::string& end) { return name.ends_with(end); });
    });
  }

  // X X^T of X [in, tokens], in tiles on and above the diagonal: sums of a pass in fp32, of all passes in fp64.
  void add_covariance(const std::vector<float>& turned, int64_t tokens, std::vector<double>& sums) {
    constexpr int64_t side = 64;
    const auto in = static_cast<int64_t>(turned.size()) / tokens;
    sums.resize(static_cast<size_t>(in * in));
    const int64_t tiles = (in + side - 1) / side;
    parallel(tiles * tiles, [&](int64_t tile) {
      const int64_t first = tile / tiles * side, from = tile % tiles * side;
      if (from < first) return;
      const int64_t rows = std::min(side, in - from), count = std::min(side, in - first);
      std::vector<float> products(static_cast<size_t>(side * side));
      kernels_.rows_f32({.weights = reinterpret_cast<const std::byte*>(turned.data() + from * tokens),
                         .rows = rows,
                         .in = tokens,
                         .x = turned.data() + first * tokens,
                         .x_stride = tokens,
                         .tokens = count,
                         .y = products.data(),
                         .y_stride = side});
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = 0; j < rows; ++j)
          sums[static_cast<size_t>((first + i) * in + from + j)] += products[static_cast<size_t>(i * side + j)];
    });
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
