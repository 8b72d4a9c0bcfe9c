#include "architectures/shared/weights.h"

#include <algorithm>
#include <bit>

#include "formats/utf8.h"

namespace longhand {

namespace {

// Prefixes in order of preference: the published multimodal checkpoints, MLX conversions, text-only exports.
constexpr const char* hf_prefixes[] = {"model.language_model.", "language_model.model.", "model.", "bert.", ""};
constexpr const char* markers[] = {"embed_tokens.weight", "embeddings.word_embeddings.weight"};

std::string find_prefix(const Checkpoint& checkpoint) {
  for (const char* prefix : hf_prefixes) {
    for (const char* marker : markers) {
      if (checkpoint.find(std::string(prefix) + marker)) return prefix;
    }
  }
  return "model.";
}

std::string spell(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

bool is_matrix_type(DType type) {
  switch (type) {
    case DType::u8:
    case DType::i8:
    case DType::u16:
    case DType::i16:
    case DType::u32:
    case DType::i32:
    case DType::u64:
    case DType::i64:
    case DType::f64:
    case DType::boolean: return false;
    default: return true;
  }
}

// Dimensions of 1 are ignored in any place: [C, 1, W] = [C, W].
std::vector<int64_t> squeezed(std::vector<int64_t> shape) {
  std::erase(shape, 1);
  return shape;
}

}  // namespace

Weights::Weights(std::shared_ptr<const Checkpoint> checkpoint, Lifecycle* backend, Diagnostics& problems,
                 LoadProgress progress)
    : checkpoint_(std::move(checkpoint)),
      backend_(backend),
      problems_(problems),
      progress_(std::move(progress)),
      prefix_(gguf() ? "" : find_prefix(*checkpoint_)) {
  for (const WeightView& tensor : checkpoint_->tensors()) total_ += tensor.data_bytes;
}

std::string Weights::top(const char* hf, const char* gguf_name) const { return gguf() ? gguf_name : prefix_ + hf; }

LayerNames Weights::layer(int64_t index) const {
  const std::string number = std::to_string(index);
  return {gguf() ? "blk." + number + "." : prefix_ + "layers." + number + ".", gguf()};
}

const WeightView* Weights::shaped(const std::string& name, const std::vector<int64_t>& shape) {
  const WeightView* found = checkpoint_->find(name);
  if (!found) {
    problems_.add("[weights] tensor \"" + printable(name) + "\" is missing");
    return nullptr;
  }
  used_.insert(name);
  if (squeezed(found->shape) != squeezed(shape)) {
    problems_.add("[weights] tensor \"" + printable(name) + "\" has the shape " + spell(found->shape) +
                  ", the configuration says " + spell(shape));
    return nullptr;
  }
  if (!is_matrix_type(found->type)) {
    problems_.add("[weights] tensor \"" + printable(name) + "\" holds " + name_of(found->type) +
                  ", expected a float or a quantised type");
    return nullptr;
  }
  return found;
}

void Weights::advance(size_t bytes) {
  if (progress_.cancel && progress_.cancel->load()) throw Cancelled{};
  done_ += bytes;
  if (progress_.report) progress_.report(done_, total_);
}

WeightPtr Weights::prepare(const std::vector<WeightView>& views, double active_share, int64_t experts) {
  size_t bytes = 0;
  for (const WeightView& view : views) bytes += view.data_bytes;
  bytes_ += bytes;
  active_bytes_ += static_cast<size_t>(static_cast<double>(bytes) * active_share);
  if (!backend_) return nullptr;
  advance(0);
  WeightPtr weight = backend_->prepare(views, checkpoint_, experts);
  held_bytes_ += weight->bytes;
  if (!weight->in_place && !backend_->rehearses()) {
    for (const WeightView& view : views) checkpoint_->release(view);
  }
  advance(bytes);
  return weight;
}

WeightPtr Weights::matrix(const std::string& name, int64_t out, int64_t in) { return rows({{name, out}}, in); }

WeightPtr Weights::rows(const std::vector<Rows>& parts, int64_t in) {
  std::vector<WeightView> views;
  for (const Rows& part : parts) {
    if (const WeightView* found = shaped(part.name, {part.rows, in})) {
      views.push_back(*found);
      views.back().shape = {part.rows, in};
    }
  }
  return views.size() == parts.size() ? prepare(views, 1.0) : nullptr;
}

WeightPtr Weights::embedding(const std::string& name, int64_t vocabulary, int64_t hidden) {
  const WeightView* found = shaped(name, {vocabulary, hidden});
  if (!found) return nullptr;
  return prepare({*found}, 1.0 / static_cast<double>(vocabulary));
}

WeightPtr Weights::experts(const std::vector<Rows>& parts, int64_t experts, int64_t active, int64_t in) {
  std::vector<WeightView> views;
  for (const Rows& part : parts) {
    if (const WeightView* found = shaped(part.name, {experts, part.rows, in})) {
      views.push_back(*found);
      views.back().shape = {experts, part.rows, in};
    }
  }
  if (views.size() != parts.size()) return nullptr;
  return prepare(views, static_cast<double>(active) / static_cast<double>(experts));
}

WeightPtr Weights::experts(const std::vector<std::vector<Rows>>& parts, int64_t active, int64_t in) {
  std::vector<WeightView> views;
  bool complete = true;
  for (const std::vector<Rows>& expert : parts) {
    for (const Rows& part : expert) {
      const WeightView* found = shaped(part.name, {part.rows, in});
      complete = complete && found;
      if (!found) continue;
      views.push_back(*found);
      views.back().shape = {part.rows, in};
    }
  }
  if (!complete) return nullptr;
  const auto count = static_cast<int64_t>(parts.size());
  return prepare(views, static_cast<double>(active) / static_cast<double>(count), count);
}

WeightPtr Weights::assembled(const std::vector<WeightView>& views) { return prepare(views, 1.0); }

// Stored as 16-bit numbers if that is lossless: devices multiply them faster, and they take half the memory.
WeightPtr Weights::owned(std::vector<float> values, int64_t out, int64_t in) {
  if (!backend_) return nullptr;
  const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
  WeightView view{.name = "computed", .shape = {out, in}};
  const auto prepare_view = [&](const auto& owned) {
    view.data = reinterpret_cast<const std::byte*>(owned->data());
    view.data_bytes = std::span(*owned).size_bytes();
    held_bytes_ += view.data_bytes;
    return backend_->prepare({&view, 1}, owned);
  };
  if (!backend_->rehearses() && std::ranges::all_of(values, [&](float x) { return (bits(x) & 0xffff) == 0; })) {
    const auto halves = std::make_shared<std::vector<uint16_t>>();
    halves->reserve(values.size());
    for (const float x : values) halves->push_back(static_cast<uint16_t>(bits(x) >> 16));
    view.type = DType::bf16;
    return prepare_view(halves);
  }
  return prepare_view(std::make_shared<const std::vector<float>>(std::move(values)));
}

std::vector<float> Weights::floats(const std::string& name, const std::vector<int64_t>& shape) {
  const WeightView* found = shaped(name, shape);
  if (!found) return {};
  bytes_ += found->data_bytes;
  active_bytes_ += found->data_bytes;
  if (!backend_) return {};
  advance(found->data_bytes);
  return backend_->rehearses() ? std::vector<float>(static_cast<size_t>(found->elements())) : to_floats(*found);
}

BufferPtr Weights::constant(const std::vector<float>& values) {
  if (!backend_) return nullptr;
  held_bytes_ += std::span(values).size_bytes();
  BufferPtr buffer = backend_->allocate(values.size() * sizeof(float));
  backend_->write(*buffer, 0, values.data(), values.size() * sizeof(float));
  return buffer;
}

BufferPtr Weights::constant(const std::vector<int32_t>& values) {
  if (!backend_) return nullptr;
  held_bytes_ += std::span(values).size_bytes();
  BufferPtr buffer = backend_->allocate(values.size() * sizeof(int32_t));
  backend_->write(*buffer, 0, values.data(), values.size() * sizeof(int32_t));
  return buffer;
}

BufferPtr Weights::vector(const std::string& name, int64_t size) { return constant(floats(name, size)); }

PlainMatrix Weights::plain_matrix(const std::string& name, int64_t out, int64_t in) {
  const WeightView* found = shaped(name, {out, in});
  if (!found || (found->type != DType::f16 && found->type != DType::bf16)) return {constant(floats(name, {out, in}))};
  bytes_ += found->data_bytes;
  active_bytes_ += found->data_bytes;
  if (!backend_) return {};
  held_bytes_ += found->data_bytes;
  BufferPtr values = backend_->allocate(found->data_bytes);
  if (!backend_->rehearses()) {
    backend_->write(*values, 0, found->data, found->data_bytes);
    checkpoint_->release(*found);
  }
  advance(found->data_bytes);
  return {values, found->type};
}

BufferPtr Weights::vectors(const std::vector<Rows>& parts) {
  std::vector<float> all;
  for (const Rows& part : parts) {
    const std::vector<float> values = floats(part.name, part.rows);
    all.insert(all.end(), values.begin(), values.end());
  }
  return constant(all);
}

Norm Weights::norm(const std::string& name, int64_t size, double eps, bool add_one) {
  std::vector<float> gain = floats(name, size);
  // Added in fp32: rounding 1 + w to bf16 changes logits.
  if (add_one) {
    for (float& value : gain) value += 1.0f;
  }
  return {constant(gain), static_cast<float>(eps)};
}

LayerNorm Weights::layer_norm(const std::string& weight, const std::string& bias, int64_t size, double eps) {
  return {vector(weight, size), vector(bias, size), static_cast<float>(eps)};
}

BufferPtr Weights::taps(const std::string& name, int64_t channels, int64_t width) {
  return constant(floats(name, {channels, width}));
}

void Weights::leave_out(const char* prefix, const char* notice) {
  bool any = false;
  for (const WeightView& tensor : checkpoint_->tensors()) {
    if (!tensor.name.starts_with(prefix)) continue;
    left_out_.insert(tensor.name);
    any = true;
  }
  if (any) problems_.notice(notice);
}

void Weights::finish() {
  for (const WeightView& tensor : checkpoint_->tensors()) {
    if (used_.contains(tensor.name) || left_out_.contains(tensor.name)) continue;
    // Old Llama exports contain rotary frequencies, which are computed from the configuration instead.
    if (tensor.name.ends_with("rotary_emb.inv_freq")) continue;
    problems_.add("[weights] tensor \"" + printable(tensor.name) + "\" " + spell(tensor.shape) +
                  " is not part of this architecture");
  }
}

}  // namespace longhand
