#include "architectures/vision/tower.h"

#include <algorithm>

#include "architectures/shared/rope.h"

namespace longhand {

namespace {

constexpr double layer_norm_eps = 1e-6;

// The first quarter of a head's pairs is rotated by the row, the second by the column, with the same frequencies. The
// rope op assigns frequencies to axes alternately (`Rope::sections`), so the pairs of q and k are reordered
// accordingly; attention scores are unaffected.
struct AxialRope {
  std::vector<int64_t> order;  // [head]: position of each value of a head in the file
  std::vector<float> frequencies;
  int sections[3];
};

AxialRope axial_rope(const TowerShape& shape) {
  const int64_t half = shape.head() / 2, quarter = half / 2;
  const std::vector<double> plain = plain_frequencies(shape.theta, half);
  AxialRope out{std::vector<int64_t>(static_cast<size_t>(2 * half)), {}, {}};
  out.sections[1] = static_cast<int>((quarter + 1) / 2);
  out.sections[2] = static_cast<int>(quarter / 2);
  out.sections[0] = static_cast<int>(quarter);
  int64_t row = 0, column = 0;
  for (int64_t j = 0; j < half; ++j) {
    const bool by_column = (j % 3 == 1 && j < 3 * out.sections[1]) || (j % 3 == 2 && j < 3 * out.sections[2]);
    const int64_t k = by_column ? column++ : row++, from = by_column ? quarter + k : k;
    out.frequencies.push_back(static_cast<float>(plain[static_cast<size_t>(k)]));
    out.order[static_cast<size_t>(j)] = from;
    out.order[static_cast<size_t>(half + j)] = half + from;
  }
  return out;
}

// A matrix [out, in] and a bias [out].
struct Floats {
  std::vector<float> matrix, bias;
  int64_t out, in;

  // No data is read while a checkpoint is only checked.
  bool read() const { return !matrix.empty() && !bias.empty(); }
  std::span<float> row(int64_t index) { return std::span(matrix).subspan(static_cast<size_t>(index * in), in); }
};

// Subtracts the mean of every column, and that of the bias.
void take_out_mean(Floats& of) {
  std::vector<double> mean(static_cast<size_t>(of.in));
  for (int64_t r = 0; r < of.out; ++r) std::ranges::transform(mean, of.row(r), mean.begin(), std::plus<>());
  for (double& each : mean) each /= static_cast<double>(of.out);
  for (int64_t r = 0; r < of.out; ++r)
    std::ranges::transform(of.row(r), mean, of.row(r).begin(),
                           [](float x, double m) { return static_cast<float>(static_cast<double>(x) - m); });
  double sum = 0;
  for (const float each : of.bias) sum += static_cast<double>(each);
  for (float& each : of.bias) each -= static_cast<float>(sum / static_cast<double>(of.out));
}

class Binder {
 public:
  Binder(Weights& weights, const TowerNames& names, const TowerShape& shape, bool fused)
      : weights_(weights), names_(names), shape_(shape), axial_(axial_rope(shape)), fused_(fused) {}

  Tower tower() {
    Tower out{.fused = fused_};
    out.patches = added(patches());
    out.places = weights_.floats(names_("pos_embed.weight", "v.position_embd.weight"),
                                 {shape_.side * shape_.side, shape_.width});
    if (fused_ && !out.places.empty()) center_rows(out.places);
    out.rope = {.rotary_dim = shape_.head(), .inv_freq = weights_.constant(axial_.frequencies)};
    std::copy_n(axial_.sections, 3, out.rope.sections);
    for (int64_t i = 0; i < shape_.depth; ++i) out.blocks.push_back(block(names_.block(i)));
    const int64_t wide = shape_.merged_width();
    out.merge_norm = norm(names_("merger.norm", "v.post_ln"));
    out.merge_up = dense(names_("merger.linear_fc1", "mm.0"), wide, wide);
    out.merge_down = dense(names_("merger.linear_fc2", "mm.2"), shape_.hidden, wide);
    return out;
  }

 private:
  TowerBlock block(const LayerNames& at) {
    const int64_t width = shape_.width, mlp = shape_.mlp;
    TowerBlock out;
    out.qkv = behind_norm(at("norm1", "ln1"), reordered(floats(at("attn.qkv", "attn_qkv"), 3 * width, width)));
    out.out = into_stream(at("attn.proj", "attn_out"), width, width);
    const std::string up = at("mlp.linear_fc1", "ffn_up");
    if (fused_) {
      // The matrix stays as stored; only the bias changes.
      out.up = behind_norm(at("norm2", "ln2"), floats(up, mlp, width), weights_.matrix(up + ".weight", mlp, width));
    } else {
      out.up.norm = norm(at("norm2", "ln2"));
      out.up.dense = dense(up, mlp, width);
    }
    out.down = into_stream(at("mlp.linear_fc2", "ffn_down"), width, mlp);
    return out;
  }

  LayerNorm norm(const std::string& name) {
    return weights_.layer_norm(name + ".weight", name + ".bias", shape_.width, layer_norm_eps);
  }
  Dense dense(const std::string& name, int64_t out, int64_t in) {
    return {weights_.matrix(name + ".weight", out, in), weights_.vector(name + ".bias", out)};
  }
  Floats floats(const std::string& name, int64_t out, int64_t in) {
    return {weights_.floats(name + ".weight", {out, in}), weights_.floats(name + ".bias", out), out, in};
  }
  Dense owned(Floats from) {
    if (!from.read()) return {};
    return {weights_.owned(std::move(from.matrix), from.out, from.in), weights_.constant(from.bias)};
  }
  // For projections whose output starts the residual stream or is added to it.
  Dense added(Floats from) {
    if (fused_ && from.read()) take_out_mean(from);
    return owned(std::move(from));
  }
  Dense into_stream(const std::string& name, int64_t out, int64_t in) {
    return fused_ ? added(floats(name, out, in)) : dense(name, out, in);
  }

  NormedDense behind_norm(const std::string& name, Floats from, WeightPtr as_stored = nullptr) {
    NormedDense out;
    if (!fused_) {
      out.norm = norm(name);
      out.dense = owned(std::move(from));
      return out;
    }
    out.fused = weights_.norm(name + ".weight", shape_.width, layer_norm_eps);
    const std::vector<float> shift = weights_.floats(name + ".bias", shape_.width);
    for (int64_t r = 0; r < from.out; ++r) {
      double sum = 0;
      const std::span<float> row = from.row(r);
      for (size_t i = 0; i < shift.size(); ++i) sum += static_cast<double>(row[i]) * static_cast<double>(shift[i]);
      from.bias[static_cast<size_t>(r)] += static_cast<float>(sum);
    }
    if (as_stored) out.dense = {std::move(as_stored), weights_.constant(from.bias)};
    else out.dense = owned(std::move(from));
    return out;
  }

  // Rows of [q | k | v, width]: the values of each head of q and k in the order of the rope op.
  Floats reordered(Floats from) {
    if (!from.read()) return from;
    Floats to = from;
    const int64_t head = shape_.head();
    for (int64_t row = 0; row < 2 * shape_.width; ++row) {
      const int64_t source = row / head * head + axial_.order[static_cast<size_t>(row % head)];
      std::ranges::copy(from.row(source), to.row(row).begin());
      to.bias[static_cast<size_t>(row)] = from.bias[static_cast<size_t>(source)];
    }
    return to;
  }

  void center_rows(std::vector<float>& rows) const {
    const auto width = static_cast<size_t>(shape_.width);
    for (size_t first = 0; first < rows.size(); first += width) {
      double sum = 0;
      for (size_t i = 0; i < width; ++i) sum += static_cast<double>(rows[first + i]);
      const auto mean = static_cast<float>(sum / static_cast<double>(width));
      for (size_t i = 0; i < width; ++i) rows[first + i] -= mean;
    }
  }

  // In the order of the pixels: [width, channel, frame, row, column], as in Hugging Face files. MLX has the channels
  // last, GGUF one tensor per frame.
  Floats patches() {
    const auto& [c, f, s, w] = std::tuple(shape_.channels, shape_.frames, shape_.patch, shape_.width);
    const std::string name = names_("patch_embed.proj", "v.patch_embd");
    Floats out{{}, weights_.floats(name + ".bias", w), w, shape_.patch_values()};
    const int64_t pixels = s * s;
    // Calls from(row, channel, frame)[pixel * step].
    const auto fill = [&](int64_t step, const auto& from) {
      out.matrix.resize(static_cast<size_t>(w * out.in));
      for (int64_t i = 0; i < w * c * f; ++i) {
        const float* values = from(i / (c * f), i / f % c, i % f);
        for (int64_t p = 0; p < pixels; ++p) out.matrix[static_cast<size_t>(i * pixels + p)] = values[p * step];
      }
    };
    if (names_.gguf) {
      std::vector<std::vector<float>> frames;
      for (int64_t i = 0; i < f; ++i)
        frames.push_back(weights_.floats(name + ".weight" + (i ? "." + std::to_string(i) : ""), {w, c, s, s}));
      if (std::ranges::any_of(frames, [](const auto& each) { return each.empty(); })) return out;
      fill(1, [&](int64_t row, int64_t channel, int64_t frame) {
        return frames[static_cast<size_t>(frame)].data() + (row * c + channel) * pixels;
      });
      return out;
    }
    const WeightView* stored = weights_.checkpoint().find(name + ".weight");
    const bool channels_last = stored && stored->shape.size() == 5 && stored->shape[4] == c && c != s;
    if (!channels_last) {
      out.matrix = weights_.floats(name + ".weight", {w, c, f, s, s});
      return out;
    }
    const std::vector<float> last = weights_.floats(name + ".weight", {w, f, s, s, c});
    if (last.empty()) return out;
    fill(c, [&](int64_t row, int64_t channel, int64_t frame) {
      return last.data() + (row * f + frame) * pixels * c + channel;
    });
    return out;
  }

  Weights& weights_;
  const TowerNames& names_;
  const TowerShape& shape_;
  AxialRope axial_;
  bool fused_;
};

}  // namespace

Tower bind_tower(Weights& weights, const TowerNames& names, const TowerShape& shape, bool fused) {
  return Binder(weights, names, shape, fused).tower();
}

}  // namespace longhand
