// A model's configuration in either dialect: config.json (Hugging Face, MLX) or GGUF metadata. A family asks for every
// field by both of its names and gives the allowed range; a field that is missing or out of range is reported with its
// key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "architectures/shared/diagnostics.h"
#include "formats/checkpoint.h"

namespace longhand {

// `hf` may be a path ("rope_parameters.rope_theta"); `gguf` goes after the architecture ("llama." + "block_count").
// Null if the dialect has no such field.
struct Key {
  const char* hf;
  const char* gguf;
};

struct Range {
  double least;
  double most;
};
// Far larger than in any published model, and small enough that the product of two does not overflow.
inline constexpr Range width_range{1, 1 << 20};
inline constexpr Range layer_range{1, 1024};
inline constexpr Range count_range{1, 65536};
inline constexpr Range vocabulary_range{1, 1 << 24};
inline constexpr Range context_range{1, 1LL << 31};
inline constexpr Range epsilon_range{0, 0.1};
inline constexpr Range positive_range{1e-12, 1e12};

class Config {
 public:
  Config(const Checkpoint& checkpoint, Diagnostics& problems);

  bool gguf() const { return gguf_; }
  // For GGUF keys whose prefix is not the architecture ("clip.vision.").
  Config behind(std::string prefix) const {
    Config other = *this;
    other.prefix_ = std::move(prefix);
    return other;
  }
  // Whether anything was wrong: a family then stops before it requests tensors with meaningless shapes.
  bool broken() const { return !problems_.none(); }
  void notice(std::string text) const { problems_.notice(std::move(text)); }
  bool has(Key key) const { return find(key) != nullptr; }
  const Json* find(Key key) const;
  const Json* find_path(std::string_view path) const;  // config.json only; text_config first, then the top level

  // Required: a missing field is reported, and the smallest allowed value is returned so that parsing can continue.
  int64_t integer(Key key, Range range) const;
  double number(Key key, Range range) const;
  // Optional: returns the fallback if the field is absent or null; an invalid value is still reported.
  int64_t integer_or(Key key, int64_t fallback, Range range) const;
  double number_or(Key key, double fallback, Range range) const;
  bool flag_or(Key key, bool fallback) const;
  std::string text_or(Key key, const std::string& fallback) const;
  std::vector<std::string> texts(Key key) const;  // empty when absent
  std::vector<int64_t> integers(Key key) const;   // a single integer is a list of one
  std::vector<double> numbers(Key key) const;

  // Reports `sentence` unless a condition between fields holds.
  void require(bool holds, const std::string& sentence) const;
  // For fields of which only one value is implemented ("hidden_act" must be "silu").
  void only(Key key, const char* value) const;
  void only(Key key, bool value) const;

 private:
  std::string spelled(Key key) const;
  double checked(Key key, const Json& value, Range range, bool integral) const;

  const Json& json_;
  const Json* text_;  // text_config, in multimodal configurations
  bool gguf_;
  std::string prefix_;  // "llama."
  Diagnostics& problems_;
};

// "llama", "qwen35", "qwen3_5_text", ...: model_type (of text_config where nested) or general.architecture.
std::string architecture_name(const Checkpoint& checkpoint);

}  // namespace longhand
