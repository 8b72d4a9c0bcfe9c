#include "quantize/feedback.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace longhand {

namespace {

// One row on its way: its values, and for the plain codes, the codes with feedback and the values themselves what their
// errors so far add to each term of |V^T e|^2.
struct Row {
  std::vector<float> w, plain, fed, whole;  // [in], in the order of rounding
  std::vector<uint8_t> plain_codes, codes;  // [in], in the order of the columns
  std::vector<AffineGroup> groups;
  double plain_error = 0, error = 0, energy = 0;
};

void begin(Row& row, const float* values, const float* importance, int64_t in, const AffineFormat& format,
           const InputFactor& inputs) {
  const auto size = static_cast<size_t>(in);
  row = {};
  row.plain.resize(size);
  row.fed.resize(size);
  row.whole.resize(size);
  row.codes.resize(size);
  for (const int32_t column : inputs.order) row.w.push_back(values[column]);
  for (int64_t first = 0; first < in; first += format.group) {
    AffineGroup group = rounded_group(values + first, importance ? importance + first : nullptr, format);
    group.scale = rounded_to(format.scale_type, group.scale);
    group.bias = rounded_to(format.scale_type, group.bias);
    row.plain_codes.insert(row.plain_codes.end(), group.codes, group.codes + format.group);
    row.groups.push_back(group);
  }
}

// In four sums, which do not wait for each other.
double dot(const double* a, const double* b, size_t count) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (size_t part = 0; part < 4; ++part) sums[part] += a[i + part] * b[i + part];
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add_scaled(float* to, float factor, const float* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

// Rounds column k of the order; term k of |V^T e|^2 is then known.
void step(Row& row, int64_t k, int64_t in, const AffineFormat& format, const InputFactor& inputs) {
  const auto at = static_cast<size_t>(k);
  const auto column = static_cast<size_t>(inputs.order[at]);
  const float* triangle = inputs.triangle.data() + k * in;
  const float pivot = triangle[k], w = row.w[at];
  const AffineGroup& group = row.groups[column / static_cast<size_t>(format.group)];
  const auto value = [&](uint8_t code) { return group.scale * static_cast<float>(code) + group.bias; };
  const auto bins = static_cast<float>((1 << format.bits) - 1);
  const bool flat = group.scale == 0 || !std::isfinite(group.scale);
  const uint8_t code = flat ? 0 : code_of(w + row.fed[at] / pivot, group.scale, group.bias, bins);
  row.codes[column] = code;
  const float lost = w - value(code), lost_plainly = w - value(row.plain_codes[column]);
  const auto square = [&](float own, float before) {
    const double term = static_cast<double>(pivot) * own + before;
    return term * term;
  };
  row.error += square(lost, row.fed[at]);
  row.plain_error += square(lost_plainly, row.plain[at]);
  row.energy += square(w, row.whole[at]);
  const int64_t left = in - k - 1;
  add_scaled(row.fed.data() + k + 1, lost, triangle + k + 1, left);
  add_scaled(row.plain.data() + k + 1, lost_plainly, triangle + k + 1, left);
  add_scaled(row.whole.data() + k + 1, w, triangle + k + 1, left);
}

Loss finish(const Row& row, int64_t in, const AffineFormat& format, const AffineTo& to) {
  const bool helps = row.error < row.plain_error;
  pack_codes((helps ? row.codes : row.plain_codes).data(), static_cast<int>(in), format.bits, to.codes);
  const size_t scale_bytes = format.scale_type == DType::f32 ? 4 : 2;
  for (size_t g = 0; g < row.groups.size(); ++g) {
    store_as(format.scale_type, row.groups[g].scale, to.scales + g * scale_bytes);
    store_as(format.scale_type, row.groups[g].bias, to.biases + g * scale_bytes);
  }
  return {.error = std::min(row.error, row.plain_error), .energy = row.energy};
}

}  // namespace

InputFactor factor_inputs(std::vector<double> covariance, int64_t in, double damping) {
  const auto n = static_cast<size_t>(in);
  double trace = 0;
  for (size_t i = 0; i < n; ++i) trace += covariance[i * n + i];
  if (!(trace > 0) || !std::isfinite(trace))
    throw std::invalid_argument("[quantise] the covariance of the inputs has the trace " + std::to_string(trace) +
                                ", expected a positive number");
  InputFactor out;
  out.order.resize(n);
  std::iota(out.order.begin(), out.order.end(), 0);
  std::ranges::stable_sort(out.order, [&](int32_t a, int32_t b) {
    return covariance[static_cast<size_t>(a) * (n + 1)] > covariance[static_cast<size_t>(b) * (n + 1)];
  });
  // Backwards, the upper triangle is Cholesky's lower one: row i is column order[in - 1 - i]. Rows stand one after the
  // other, and the covariance goes before the result comes: it has 1.2 GB for 12288 columns.
  std::vector<double> lower(n * (n + 1) / 2);
  const auto row_of = [&](size_t i) { return lower.data() + i * (i + 1) / 2; };
  const double more = damping * trace / static_cast<double>(in);
  for (size_t i = 0; i < n; ++i) {
    const double* from = covariance.data() + static_cast<size_t>(out.order[n - 1 - i]) * n;
    double* to = row_of(i);
    for (size_t j = 0; j <= i; ++j) to[j] = from[out.order[n - 1 - j]];
    to[i] += more;
  }
  std::vector<double>().swap(covariance);
  for (size_t i = 0; i < n; ++i) {
    double* to = row_of(i);
    for (size_t j = 0; j <= i; ++j) {
      const double* earlier = row_of(j);
      const double value = to[j] - dot(to, earlier, j);
      if (i == j && !(value > 0))
        throw std::invalid_argument("[quantise] the covariance of the inputs is not positive definite");
      to[j] = i == j ? std::sqrt(value) : value / earlier[j];
    }
  }
  out.triangle.resize(n * n);
  for (size_t i = 0; i < n; ++i) {
    const double* from = row_of(n - 1 - i);
    for (size_t j = i; j < n; ++j) out.triangle[i * n + j] = static_cast<float>(from[n - 1 - j]);
  }
  return out;
}

Loss quantise_with_feedback(const float* rows, int64_t count, int64_t in, const float* importance,
                            const AffineFormat& format, const InputFactor& inputs, std::span<const AffineTo> to) {
  std::vector<Row> own(static_cast<size_t>(count));
  for (size_t r = 0; r < own.size(); ++r)
    begin(own[r], rows + static_cast<int64_t>(r) * in, importance, in, format, inputs);
  for (int64_t k = 0; k < in; ++k)
    for (Row& row : own) step(row, k, in, format, inputs);
  Loss loss;
  for (size_t r = 0; r < own.size(); ++r) {
    const Loss one = finish(own[r], in, format, to[r]);
    loss.error += one.error;
    loss.energy += one.energy;
  }
  return loss;
}

}  // namespace longhand
