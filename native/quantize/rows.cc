#include "quantize/rows.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "formats/blocks.h"
#include "formats/error.h"
#include "formats/utf8.h"
#include "ops/backend.h"
#include "quantize/blocks.h"

namespace longhand {

namespace {

int64_t columns_of(const WeightView& view) { return view.shape.empty() ? 1 : view.shape.back(); }

// task(row) for every row of the stretch, or every `step` rows; each thread has neighbours.
template <class Task>
void on_all_cores(int64_t rows, const std::atomic<bool>* cancel, const Task& task, int64_t step = 1) {
  const int64_t threads = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, std::max<int64_t>(rows / 8, 1));
  const int64_t steps = (rows + step - 1) / step;
  const auto run = [&](int64_t thread) {
    for (int64_t row = steps * thread / threads * step; row < steps * (thread + 1) / threads * step; row += step) {
      if (cancel && cancel->load(std::memory_order_relaxed)) return;
      task(row);
    }
  };
  std::vector<std::thread> others;
  for (int64_t thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread& thread : others) thread.join();
  if (cancel && cancel->load()) throw Cancelled{};
}

void check_importance(const std::vector<float>& importance, int64_t in) {
  if (!importance.empty() && static_cast<int64_t>(importance.size()) != in)
    throw std::invalid_argument("[quantise] importance has " + std::to_string(importance.size()) +
                                " columns, expected " + std::to_string(in));
}

void check_inputs(const InputFactor& inputs, int64_t in) {
  const auto wanted = static_cast<size_t>(in);
  if (inputs.order.size() != wanted || inputs.triangle.size() != wanted * wanted)
    throw std::invalid_argument("[quantise] the factor of the inputs has " + std::to_string(inputs.order.size()) +
                                " columns and " + std::to_string(inputs.triangle.size()) + " values, expected " +
                                std::to_string(in) + " and their square");
  std::vector<bool> met(wanted);
  for (const int32_t column : inputs.order) {
    if (column < 0 || column >= in || met[static_cast<size_t>(column)])
      throw std::invalid_argument("[quantise] the order of the columns is no permutation");
    met[static_cast<size_t>(column)] = true;
  }
}

void check_finite(const WeightView& view, const Stretch& stretch, const std::vector<float>& values, int64_t in) {
  const auto bad = std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
  if (bad == values.end()) return;
  const int64_t at = bad - values.begin();
  throw FormatError("[weights] tensor \"" + printable(view.name) + "\": row " +
                    std::to_string(stretch.first + at / in) + ", column " + std::to_string(at % in) + " is " +
                    (std::isnan(*bad) ? "not a number" : "infinite") + "; weights must be finite");
}

}  // namespace

std::vector<float> read_stretch(const WeightView& view, const Stretch& stretch) {
  const int64_t in = columns_of(view);
  if (!stretch.rows.empty() && static_cast<int64_t>(stretch.rows.size()) != stretch.count)
    throw std::invalid_argument("[quantise] the order has another number of rows than are asked for");
  if (!stretch.columns.empty() && static_cast<int64_t>(stretch.columns.size()) != in)
    throw std::invalid_argument("[quantise] the order has another number of columns than the tensor");
  std::vector<float> out(static_cast<size_t>(stretch.count * in));
  if (stretch.rows.empty()) dequantise_rows(view, stretch.first, stretch.count, out.data());
  for (size_t i = 0; i < stretch.rows.size(); ++i)
    dequantise_rows(view, stretch.rows[i], 1, out.data() + static_cast<int64_t>(i) * in);
  check_finite(view, stretch, out, in);
  if (stretch.columns.empty()) return out;
  std::vector<float> row(static_cast<size_t>(in));
  for (int64_t i = 0; i < stretch.count; ++i) {
    float* at = out.data() + i * in;
    for (size_t c = 0; c < row.size(); ++c) {
      if (stretch.columns[c] < 0 || stretch.columns[c] >= in)
        throw std::invalid_argument("[quantise] the order names a column that does not exist");
      row[c] = at[stretch.columns[c]];
    }
    std::ranges::copy(row, at);
  }
  return out;
}

AffineRows affine_rows(const WeightView& view, const Stretch& stretch, const std::vector<float>& importance,
                       const AffineFormat& format, const InputFactor* inputs) {
  const int64_t in = columns_of(view);
  if (!is_affine(format.bits, format.group) || in % format.group != 0)
    throw std::invalid_argument("[quantise] a row of " + std::to_string(in) + " in groups of " +
                                std::to_string(format.group) + " with " + std::to_string(format.bits) + " bits");
  check_importance(importance, in);
  if (inputs) check_inputs(*inputs, in);
  const std::vector<float> values = read_stretch(view, stretch);
  const auto code_bytes = static_cast<size_t>(in * format.bits / 8);
  const size_t scale_bytes = static_cast<size_t>(in / format.group) * (format.scale_type == DType::f32 ? 4 : 2);
  const auto rows = static_cast<size_t>(stretch.count);
  AffineRows out;
  out.codes.resize(rows * code_bytes);
  out.scales.resize(rows * scale_bytes);
  out.biases.resize(rows * scale_bytes);
  std::vector<Loss> losses(rows);
  const float* weights = importance.empty() ? nullptr : importance.data();
  const auto place = [&](size_t r) -> AffineTo {
    return {out.codes.data() + r * code_bytes, out.scales.data() + r * scale_bytes,
            out.biases.data() + r * scale_bytes};
  };
  const auto plainly = [&](int64_t row) {
    const auto r = static_cast<size_t>(row);
    losses[r] = quantise_affine(values.data() + row * in, in, weights, format, place(r));
  };
  const auto with_feedback = [&](int64_t row) {
    std::vector<AffineTo> to;
    for (int64_t i = row; i < std::min(row + feedback_rows, stretch.count); ++i)
      to.push_back(place(static_cast<size_t>(i)));
    losses[static_cast<size_t>(row)] = quantise_with_feedback(values.data() + row * in, static_cast<int64_t>(to.size()),
                                                              in, weights, format, *inputs, to);
  };
  if (inputs) on_all_cores(stretch.count, stretch.cancel, with_feedback, feedback_rows);
  else on_all_cores(stretch.count, stretch.cancel, plainly);
  for (const Loss& loss : losses) {
    out.loss.error += loss.error;
    out.loss.energy += loss.energy;
  }
  return out;
}

std::vector<std::byte> block_rows(const WeightView& view, const Stretch& stretch, const std::vector<float>& importance,
                                  DType type) {
  const int64_t in = columns_of(view);
  const BlockSize block = block_size(type);
  if (!is_block_target(type) || in % block.elements != 0)
    throw std::invalid_argument("[quantise] a row of " + std::to_string(in) + " values as " + name_of(type));
  check_importance(importance, in);
  const std::vector<float> values = read_stretch(view, stretch);
  const auto bytes = static_cast<size_t>(in / block.elements * block.bytes);
  std::vector<std::byte> out(static_cast<size_t>(stretch.count) * bytes);
  on_all_cores(stretch.count, stretch.cancel, [&](int64_t row) {
    quantise_blocks(values.data() + row * in, in, importance.empty() ? nullptr : importance.data(), type,
                    out.data() + static_cast<size_t>(row) * bytes);
  });
  return out;
}

}  // namespace longhand
