// Patches of 16 x 16 pixels, blocks of full attention within a frame, and a merger of 2 x 2 patches into one row
// (modeling_qwen3_5.py).
#include "architectures/vision/qwen3_5_vision.h"

#include <algorithm>
#include <cmath>

#include "architectures/shared/config.h"
#include "architectures/vision/tower.h"

namespace longhand {

namespace {

class Qwen35Vision : public Vision {
 public:
  Qwen35Vision(std::shared_ptr<const Checkpoint> checkpoint, TowerNames names, const TowerShape& shape)
      : checkpoint_(std::move(checkpoint)), names_(std::move(names)), shape_(shape) {
    patch_values = shape.patch_values();
    merge = shape.merge;
  }

  void check(Weights& weights) const { bind_tower(weights, names_, shape_, false); }
  void load(Backend& backend) override;
  void unload() override { tower_ = nullptr; }
  Tensor see(Backend& backend, std::span<const float> pixels, std::span<const Grid> grids, Seen what) const override;

 private:
  Tensor places(Backend& backend, std::span<const Grid> grids, int64_t patches) const;

  std::shared_ptr<const Checkpoint> checkpoint_;
  TowerNames names_;
  TowerShape shape_;
  std::unique_ptr<const Tower> tower_;
};

// ---- forward ------------------------------------------------------------------------------------------------------

// Calls visit(row, column) for each patch of one frame in the order of the pixels, which is block by block.
template <class Visit>
void each_patch(const Grid& grid, int64_t merge, const Visit& visit) {
  for (int64_t block_row = 0; block_row < grid.rows; block_row += merge)
    for (int64_t block_column = 0; block_column < grid.columns; block_column += merge)
      for (int64_t inner = 0; inner < merge * merge; ++inner)
        visit(block_row + inner / merge, block_column + inner % merge);
}

// The two rows of a table of `side` rows between which index i of `count` lies, and the weight of the second.
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

// The learned position embeddings, interpolated to the grid of each picture: [patches, width].
Tensor Qwen35Vision::places(Backend& backend, std::span<const Grid> grids, int64_t patches) const {
  const auto width = static_cast<size_t>(shape_.width);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(patches) * width);
  const auto row_of = [&](int64_t row, int64_t column) {
    return tower_->places.data() + static_cast<size_t>(row * shape_.side + column) * width;
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
  const auto behind_norm = [&](Tensor in, const NormedDense& of, Activation activation) {
    if (!tower_->fused) return linear(backend.layer_norm(in, of.norm, {}), of.dense, activation, {});
    return backend.linear(in, *of.dense.weight, {.norm = &of.fused, .bias = &of.dense.bias, .activation = activation});
  };
  Tensor x = linear(values, tower_->patches, Activation::none, places(backend, grids, patches));
  for (const TowerBlock& block : tower_->blocks) {
    const Tensor p = behind_norm(x, block.qkv, Activation::none);
    backend.qk_norm_rope(p, {.heads = heads}, tower_->rope, positions);
    x = linear(backend.attention_bidirectional(p, attention, lengths), block.out, Activation::none, x);
    const Tensor h = behind_norm(x, block.up, Activation::gelu_tanh);
    x = backend.recycle_except(linear(h, block.down, Activation::none, x));
  }
  if (what == Seen::tower) return x;
  Tensor y = backend.layer_norm(x, tower_->merge_norm, {});
  const int64_t wide = shape_.merged_width();
  y = {y.buffer, y.offset, patches / (merge * merge), wide, wide};
  return linear(linear(y, tower_->merge_up, Activation::gelu_erf, {}), tower_->merge_down, Activation::none, {});
}

void Qwen35Vision::load(Backend& backend) {
  if (tower_) return;
  Diagnostics none;  // everything was checked with the model
  Weights weights(checkpoint_, &backend, none);
  tower_ = std::make_unique<const Tower>(bind_tower(weights, names_, shape_, backend.fuses_norms()));
}

// ---- configuration ------------------------------------------------------------------------------------------------

// In config.json they are under "vision_config", in GGUF under "clip.vision.".
TowerShape read(const Config& config, const Weights& weights, int64_t hidden) {
  const Config vision = config.gguf() ? config.behind("clip.vision.") : config;
  TowerShape shape;
  shape.depth = vision.integer({"vision_config.depth", "block_count"}, layer_range);
  shape.width = vision.integer({"vision_config.hidden_size", "embedding_length"}, width_range);
  shape.mlp = vision.integer({"vision_config.intermediate_size", "feed_forward_length"}, width_range);
  shape.heads = vision.integer({"vision_config.num_heads", "attention.head_count"}, count_range);
  shape.patch = vision.integer({"vision_config.patch_size", "patch_size"}, {1, 256});
  shape.hidden = vision.integer({"vision_config.out_hidden_size", "projection_dim"}, width_range);
  int64_t places = 0;
  if (config.gguf()) {
    shape.merge = vision.integer_or({nullptr, "spatial_merge_size"}, shape.merge, {1, 16});
    const WeightView* table = weights.checkpoint().find("v.position_embd.weight");
    places = table && table->shape.size() == 2 ? table->shape[0] : 0;
  } else {
    shape.merge = config.integer({"vision_config.spatial_merge_size", nullptr}, {1, 16});
    shape.frames = config.integer({"vision_config.temporal_patch_size", nullptr}, {1, 16});
    shape.channels = config.integer_or({"vision_config.in_channels", nullptr}, shape.channels, {1, 16});
    shape.theta = config.number_or({"vision_config.rope_parameters.rope_theta", nullptr}, shape.theta, {1, 1e12});
    places = config.integer({"vision_config.num_position_embeddings", nullptr}, {1, 1 << 20});
    config.only({"vision_config.hidden_act", nullptr}, "gelu_pytorch_tanh");
  }
  shape.side = std::lround(std::sqrt(static_cast<double>(places)));
  config.require(places > 0 && shape.side * shape.side == places,
                 "the tower has " + std::to_string(places) + " positions, expected a square number");
  const int64_t heads = shape.heads, head = shape.head();
  config.require(shape.width % heads == 0 && head % 4 == 0 && head <= gpu_shapes.head,
                 "the tower has " + std::to_string(heads) + " heads for a width of " + std::to_string(shape.width) +
                     ", expected heads of a multiple of 4 up to " + std::to_string(gpu_shapes.head));
  config.require(shape.hidden == hidden, "the tower gives rows of " + std::to_string(shape.hidden) +
                                             ", the text model has " + std::to_string(hidden));
  config.require(config.numbers({"vision_config.deepstack_visual_indexes", nullptr}).empty(),
                 "\"vision_config.deepstack_visual_indexes\" names layers, which is not supported");
  return shape;
}

// The id of the placeholder token for a row of a picture.
int64_t read_token(const Config& config, const Checkpoint& checkpoint) {
  if (!config.gguf()) return config.integer({"image_token_id", nullptr}, {0, vocabulary_range.most});
  const std::vector<std::string> tokens = checkpoint.metadata_strings("tokenizer.ggml.tokens");
  if (tokens.empty()) return 0;  // the headers of a remote file do not include the vocabulary
  const auto found = std::ranges::find(tokens, "<|image_pad|>");
  config.require(found != tokens.end(), "the vocabulary has no <|image_pad|>, the placeholder for pictures");
  return found - tokens.begin();
}

TowerNames names_in(const Weights& weights) {
  if (weights.gguf()) return {weights.has("v.patch_embd.weight"), ""};
  for (const char* prefix : {"model.visual.", "vision_tower."})
    if (weights.has(std::string(prefix) + "patch_embed.proj.weight")) return {false, prefix};
  return {};
}

}  // namespace

std::unique_ptr<Vision> make_qwen3_5_vision(const Config& config, Weights& weights, int64_t hidden) {
  TowerNames names = names_in(weights);
  const bool described = names.gguf || config.find_path("vision_config");
  if ((names.prefix.empty() && !names.gguf) || !described) return nullptr;
  const TowerShape shape = read(config, weights, hidden);
  const int64_t token = read_token(config, weights.checkpoint());
  if (config.broken()) return nullptr;
  auto tower = std::make_unique<Qwen35Vision>(weights.shared(), std::move(names), shape);
  tower->token = static_cast<int32_t>(token);
  weights.later([&] { tower->check(weights); });
  return tower;
}

}  // namespace longhand
