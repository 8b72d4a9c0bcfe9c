// Patches of 16 x 16 pixels, blocks of full attention within a frame, and a merger of 2 x 2 patches into one row
// (model-specs 8.3, 8.4).
#include "architectures/qwen3_5_vision.h"

#include <cmath>

#include "architectures/config.h"
#include "architectures/rope.h"

namespace longhand {

namespace {

struct Dense {
  WeightPtr weight;
  BufferPtr bias;
};

struct Block {
  LayerNorm attention_norm, mlp_norm;
  Dense qkv, out, up, down;
};

struct Shape {
  int64_t depth = 0, width = 0, mlp = 0, heads = 0, side = 0, patch = 0, frames = 0, channels = 0, hidden = 0;
  double theta = 10000;
  int64_t head() const { return width / heads; }
};

constexpr double layer_norm_eps = 1e-6;

// The first quarter of a head's pairs turns by the row, the second by the column, with the same frequencies. The rope
// op deals frequencies to axes in turn (`Rope::sections`): the pairs of q and k stand in that order here, which scores
// do not notice.
struct AxialRope {
  std::vector<int64_t> order;  // [head]: where each value of a head stands in the file
  std::vector<float> frequencies;
  int sections[3];
};

AxialRope axial_rope(const Shape& shape) {
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

// Row by row of [q | k | v, width]: the values of each head of q and k in another order.
template <class Copy>
void reorder_qk(const Shape& shape, const std::vector<int64_t>& order, const Copy& copy) {
  const int64_t head = shape.head();
  for (int64_t row = 0; row < 3 * shape.width; ++row) {
    copy(row, row < 2 * shape.width ? row / head * head + order[static_cast<size_t>(row % head)] : row);
  }
}

class Qwen35Vision : public Vision {
 public:
  Qwen35Vision(std::shared_ptr<const Checkpoint> checkpoint, std::string prefix, const Shape& shape)
      : checkpoint_(std::move(checkpoint)), prefix_(std::move(prefix)), shape_(shape), axial_(axial_rope(shape)) {
    patch_values = shape.channels * shape.frames * shape.patch * shape.patch;
  }

  void bind(Weights& weights);
  void load(Backend& backend) override;
  Tensor see(Backend& backend, std::span<const float> pixels, std::span<const Grid> grids, Seen what) const override;

 private:
  Dense dense(Weights& weights, const std::string& name, int64_t out, int64_t in) const {
    const std::string at = prefix_ + name;
    return {weights.matrix(at + ".weight", out, in), weights.vector(at + ".bias", out)};
  }
  LayerNorm norm(Weights& weights, const std::string& name) const {
    const std::string at = prefix_ + name;
    return weights.layer_norm(at + ".weight", at + ".bias", shape_.width, layer_norm_eps);
  }
  WeightPtr bind_patches(Weights& weights) const;
  Dense bind_qkv(Weights& weights, const std::string& name) const;
  Tensor places(Backend& backend, std::span<const Grid> grids, int64_t patches) const;

  std::shared_ptr<const Checkpoint> checkpoint_;
  std::string prefix_;
  Shape shape_;
  AxialRope axial_;
  bool loaded_ = false;
  Dense patches_, merge_up_, merge_down_;
  std::vector<float> table_;  // [side * side, width]
  Rope rope_;
  std::vector<Block> blocks_;
  LayerNorm merge_norm_;
};

// ---- forward ------------------------------------------------------------------------------------------------------

// Calls visit(row, column) for each patch of one frame, in the order of the pixels: block after block.
template <class Visit>
void each_patch(const Grid& grid, int64_t merge, const Visit& visit) {
  for (int64_t block_row = 0; block_row < grid.rows; block_row += merge)
    for (int64_t block_column = 0; block_column < grid.columns; block_column += merge)
      for (int64_t inner = 0; inner < merge * merge; ++inner)
        visit(block_row + inner / merge, block_column + inner % merge);
}

// Between which rows of a table of `side` a place among `count` lies, and how near the second.
struct Tap {
  int64_t low, high;
  float share;
};
Tap tap(int64_t index, int64_t count, int64_t side) {
  const float at =
      count > 1 ? static_cast<float>(index) * static_cast<float>(side - 1) / static_cast<float>(count - 1) : 0.0f;
  const auto low = static_cast<int64_t>(at);
  return {low, std::min(low + 1, side - 1), at - static_cast<float>(low)};
}

// The learned positions, stretched over the grid of each picture: [patches, width].
Tensor Qwen35Vision::places(Backend& backend, std::span<const Grid> grids, int64_t patches) const {
  const auto width = static_cast<size_t>(shape_.width);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(patches) * width);
  const auto row_of = [&](int64_t row, int64_t column) {
    return table_.data() + static_cast<size_t>(row * shape_.side + column) * width;
  };
  for (const Grid& grid : grids) {
    for (int64_t frame = 0; frame < grid.frames; ++frame) {
      each_patch(grid, merge, [&](int64_t row, int64_t column) {
        const Tap y = tap(row, grid.rows, shape_.side), x = tap(column, grid.columns, shape_.side);
        const float *a = row_of(y.low, x.low), *b = row_of(y.low, x.high), *c = row_of(y.high, x.low),
                    *d = row_of(y.high, x.high);
        for (size_t i = 0; i < width; ++i) {
          values.push_back((1 - y.share) * ((1 - x.share) * a[i] + x.share * b[i]) +
                           y.share * ((1 - x.share) * c[i] + x.share * d[i]));
        }
      });
    }
  }
  const Tensor x = backend.scratch(patches, shape_.width);
  backend.write(*x.buffer, x.offset * sizeof(float), values.data(), values.size() * sizeof(float));
  return x;
}

Tensor Qwen35Vision::see(Backend& backend, std::span<const float> pixels, std::span<const Grid> grids,
                         Seen what) const {
  const int64_t patches = static_cast<int64_t>(pixels.size()) / patch_values;
  std::vector<int32_t> rows, columns, lengths;
  for (const Grid& grid : grids) {
    for (int64_t frame = 0; frame < grid.frames; ++frame) {
      lengths.push_back(static_cast<int32_t>(grid.rows * grid.columns));
      each_patch(grid, merge, [&](int64_t row, int64_t column) {
        rows.push_back(static_cast<int32_t>(row));
        columns.push_back(static_cast<int32_t>(column));
      });
    }
  }
  std::vector<int32_t> positions = std::move(rows);
  for (int axis = 0; axis < 2; ++axis) positions.insert(positions.end(), columns.begin(), columns.end());

  const Tensor values = backend.scratch(patches, patch_values);
  backend.write(*values.buffer, values.offset * sizeof(float), pixels.data(), pixels.size_bytes());
  const Heads heads{shape_.heads, shape_.heads, shape_.head()};
  const Attention attention{heads, 1.0f / std::sqrt(static_cast<float>(heads.dim))};
  const auto linear = [&](Tensor in, const Dense& dense, Activation activation, Tensor add_to) {
    return backend.linear(in, *dense.weight, {.bias = &dense.bias, .activation = activation, .add_to = add_to});
  };
  Tensor x = linear(values, patches_, Activation::none, places(backend, grids, patches));
  for (const Block& block : blocks_) {
    const Tensor p = linear(backend.layer_norm(x, block.attention_norm, {}), block.qkv, Activation::none, {});
    backend.qk_norm_rope(p, {.heads = heads}, rope_, positions);
    x = linear(backend.attention_bidirectional(p, attention, lengths), block.out, Activation::none, x);
    const Tensor h = linear(backend.layer_norm(x, block.mlp_norm, {}), block.up, Activation::gelu_tanh, {});
    x = backend.recycle_except(linear(h, block.down, Activation::none, x));
  }
  if (what == Seen::tower) return x;
  Tensor y = backend.layer_norm(x, merge_norm_, {});
  const int64_t wide = merge * merge * shape_.width;
  y = {y.buffer, y.offset, patches / (merge * merge), wide, wide};
  return linear(linear(y, merge_up_, Activation::gelu_erf, {}), merge_down_, Activation::none, {});
}

// ---- weights ------------------------------------------------------------------------------------------------------

// Hugging Face: [width, channel, frame, row, column], as the pixels stand; MLX: [width, frame, row, column, channel].
WeightPtr Qwen35Vision::bind_patches(Weights& weights) const {
  const std::string name = prefix_ + "patch_embed.proj.weight";
  const auto& [c, f, s, w] = std::tuple(shape_.channels, shape_.frames, shape_.patch, shape_.width);
  const WeightView* stored = weights.checkpoint().find(name);
  if (!stored || stored->shape.size() != 5 || stored->shape[4] != c || c == s) {
    const WeightView* found = weights.shaped(name, {w, c, f, s, s});
    if (!found) return nullptr;
    WeightView flat = *found;
    flat.shape = {w, patch_values};
    return weights.assembled({flat});
  }
  const std::vector<float> last = weights.floats(name, {w, f, s, s, c});
  std::vector<float> first(last.size());
  const int64_t pixels = f * s * s;
  for (int64_t i = 0; i < static_cast<int64_t>(last.size()); ++i) {
    const int64_t row = i / (pixels * c), pixel = i / c % pixels, channel = i % c;
    first[static_cast<size_t>((row * c + channel) * pixels + pixel)] = last[static_cast<size_t>(i)];
  }
  return weights.owned(std::move(first), w, patch_values);
}

Dense Qwen35Vision::bind_qkv(Weights& weights, const std::string& name) const {
  const int64_t width = shape_.width;
  const std::vector<float> matrix = weights.floats(prefix_ + name + ".weight", {3 * width, width});
  const std::vector<float> bias = weights.floats(prefix_ + name + ".bias", 3 * width);
  std::vector<float> rows(matrix.size()), biases(bias.size());
  if (matrix.empty() || bias.empty()) return {};
  reorder_qk(shape_, axial_.order, [&](int64_t to, int64_t from) {
    std::copy_n(matrix.begin() + from * width, width, rows.begin() + to * width);
    biases[static_cast<size_t>(to)] = bias[static_cast<size_t>(from)];
  });
  return {weights.owned(std::move(rows), 3 * width, width), weights.constant(biases)};
}

void Qwen35Vision::bind(Weights& weights) {
  patches_ = {bind_patches(weights), weights.vector(prefix_ + "patch_embed.proj.bias", shape_.width)};
  table_ = weights.floats(prefix_ + "pos_embed.weight", {shape_.side * shape_.side, shape_.width});
  rope_ = {.rotary_dim = shape_.head(), .inv_freq = weights.constant(axial_.frequencies)};
  std::copy_n(axial_.sections, 3, rope_.sections);
  blocks_.clear();
  for (int64_t i = 0; i < shape_.depth; ++i) {
    const std::string at = "blocks." + std::to_string(i) + ".";
    blocks_.push_back({.attention_norm = norm(weights, at + "norm1"),
                       .mlp_norm = norm(weights, at + "norm2"),
                       .qkv = bind_qkv(weights, at + "attn.qkv"),
                       .out = dense(weights, at + "attn.proj", shape_.width, shape_.width),
                       .up = dense(weights, at + "mlp.linear_fc1", shape_.mlp, shape_.width),
                       .down = dense(weights, at + "mlp.linear_fc2", shape_.width, shape_.mlp)});
  }
  const int64_t wide = merge * merge * shape_.width;
  merge_norm_ = norm(weights, "merger.norm");
  merge_up_ = dense(weights, "merger.linear_fc1", wide, wide);
  merge_down_ = dense(weights, "merger.linear_fc2", shape_.hidden, wide);
}

void Qwen35Vision::load(Backend& backend) {
  if (loaded_) return;
  Diagnostics none;  // everything was checked when the model was
  Weights weights(checkpoint_, &backend, none);
  bind(weights);
  loaded_ = true;
}

// ---- configuration ------------------------------------------------------------------------------------------------

Shape read(const Config& config, int64_t hidden) {
  Shape shape;
  const auto integer = [&](const char* key, Range range) { return config.integer({key, nullptr}, range); };
  shape.depth = integer("vision_config.depth", layer_range);
  shape.width = integer("vision_config.hidden_size", width_range);
  shape.mlp = integer("vision_config.intermediate_size", width_range);
  shape.heads = integer("vision_config.num_heads", count_range);
  shape.patch = integer("vision_config.patch_size", {1, 256});
  shape.frames = integer("vision_config.temporal_patch_size", {1, 16});
  shape.channels = config.integer_or({"vision_config.in_channels", nullptr}, 3, {1, 16});
  shape.hidden = integer("vision_config.out_hidden_size", width_range);
  const Key theta{"vision_config.rope_parameters.rope_theta", nullptr};
  shape.theta = config.number_or(theta, 10000.0, {1, 1e12});
  const int64_t places = integer("vision_config.num_position_embeddings", {1, 1 << 20});
  shape.side = std::lround(std::sqrt(static_cast<double>(places)));
  config.require(shape.side * shape.side == places, "\"vision_config.num_position_embeddings\" is " +
                                                        std::to_string(places) + ", expected a square number");
  config.require(shape.width % shape.heads == 0 && shape.width / shape.heads % 4 == 0 &&
                     shape.width / shape.heads <= gpu_shapes.head,
                 "\"vision_config.num_heads\" is " + std::to_string(shape.heads) + " for a width of " +
                     std::to_string(shape.width) + ", expected heads of a multiple of 4 up to " +
                     std::to_string(gpu_shapes.head));
  config.require(shape.hidden == hidden, "\"vision_config.out_hidden_size\" is " + std::to_string(shape.hidden) +
                                             ", the text model has " + std::to_string(hidden));
  config.only({"vision_config.hidden_act", nullptr}, "gelu_pytorch_tanh");
  config.require(config.numbers({"vision_config.deepstack_visual_indexes", nullptr}).empty(),
                 "\"vision_config.deepstack_visual_indexes\" names layers, which is not supported");
  return shape;
}

}  // namespace

std::unique_ptr<Vision> make_qwen3_5_vision(const Config& config, Weights& weights, int64_t hidden) {
  std::string prefix;
  for (const char* each : {"model.visual.", "vision_tower."}) {
    if (weights.has(std::string(each) + "patch_embed.proj.weight")) prefix = each;
  }
  if (prefix.empty() || !config.find_path("vision_config")) return nullptr;
  const Shape shape = read(config, hidden);
  const int64_t merge = config.integer({"vision_config.spatial_merge_size", nullptr}, {1, 16});
  const int64_t token = config.integer({"image_token_id", nullptr}, {0, vocabulary_range.most});
  if (config.broken()) return nullptr;
  auto tower = std::make_unique<Qwen35Vision>(weights.shared(), prefix, shape);
  tower->merge = merge;
  tower->token = static_cast<int32_t>(token);
  weights.later([&] { tower->bind(weights); });
  return tower;
}

}  // namespace longhand
