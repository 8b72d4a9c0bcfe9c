#include "architectures/shared/rope.h"
#include "formats/utf8.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace longhand {

namespace {

using Frequencies = std::vector<double>;

constexpr Key theta_key{"rope_parameters.rope_theta", "rope.freq_base"};
constexpr Key old_theta_key{"rope_theta", nullptr};
constexpr Range theta_range{1, 1e12};
constexpr Range factor_range{1, 1024};

// Looks up a scaling field under its new name, then under its old one ("rope_scaling.factor").
Key scaling_key(const Config& config, Key in_parameters, Key in_scaling) {
  return config.has(in_parameters) || config.gguf() ? in_parameters : in_scaling;
}

double read_theta(const Config& config) {
  const Key key = config.has(theta_key) ? theta_key : (config.gguf() ? theta_key : old_theta_key);
  return config.number_or(key, 10000.0, theta_range);
}

std::string read_type(const Config& config) {
  if (config.gguf()) return config.text_or({nullptr, "rope.scaling.type"}, "default");
  for (const char* path : {"rope_parameters.rope_type", "rope_scaling.rope_type", "rope_scaling.type"}) {
    const Key key{path, nullptr};
    if (config.has(key)) return config.text_or(key, "default");
  }
  return "default";
}

double read_factor(const Config& config) {
  return config.number(
      scaling_key(config, {"rope_parameters.factor", "rope.scaling.factor"}, {"rope_scaling.factor", nullptr}),
      factor_range);
}

double read_original_length(const Config& config) {
  return config.number(
      scaling_key(config, {"rope_parameters.original_max_position_embeddings", "rope.scaling.original_context_length"},
                  {"rope_scaling.original_max_position_embeddings", nullptr}),
      context_range);
}

// A scaling field; `gguf` is its GGUF name, null if GGUF has none.
struct ScalingField {
  const char *in_parameters, *in_scaling, *gguf;
};
Key key_of(const Config& config, const ScalingField& field) {
  return scaling_key(config, {field.in_parameters, field.gguf}, {field.in_scaling, nullptr});
}
double read_scaling(const Config& config, const ScalingField& field, double fallback, Range range = {1e-3, 1e4}) {
  return config.number_or(key_of(config, field), fallback, range);
}

// Llama 3.1: long wavelengths are stretched, short ones unchanged, those between interpolated.
void scale_llama3(const Config& config, Frequencies& frequencies) {
  const double factor = read_factor(config);
  const double original = read_original_length(config);
  const double low =
      read_scaling(config, {"rope_parameters.low_freq_factor", "rope_scaling.low_freq_factor", nullptr}, 1.0);
  const double high =
      read_scaling(config, {"rope_parameters.high_freq_factor", "rope_scaling.high_freq_factor", nullptr}, 4.0);
  config.require(high > low, "\"high_freq_factor\" must be greater than \"low_freq_factor\"");
  for (double& frequency : frequencies) {
    const double period = 2 * std::numbers::pi / frequency;
    if (period < original / high) continue;
    if (period > original / low) {
      frequency /= factor;
      continue;
    }
    const double share = (original / period - low) / (high - low);
    frequency *= (1 - share) / factor + share;
  }
}

// The factor by which YaRN scales q and k. Hugging Face: "attention_factor" if given, else computed from the two
// mscales, else from the scaling factor alone. GGUF: computed from the scaling factor, times attn_factor; without
// extrapolation (ext_factor 0) the former is left out, as in llama.cpp.
double yarn_attention_scale(const Config& config, double factor) {
  const auto mscale = [&](double scale) { return factor > 1 ? 0.1 * scale * std::log(factor) + 1.0 : 1.0; };
  if (config.gguf()) {
    const double older = read_scaling(config, {nullptr, nullptr, "rope.scaling.attn_factor"}, 1.0);
    const double own = read_scaling(config, {nullptr, nullptr, "rope.scaling.yarn_attn_factor"}, older);
    return read_scaling(config, {nullptr, nullptr, "rope.scaling.yarn_ext_factor"}, 1.0, {0, 1}) == 0 ? own
                                                                                                      : own * mscale(1);
  }
  const ScalingField given{"rope_parameters.attention_factor", "rope_scaling.attention_factor", nullptr};
  if (config.has(key_of(config, given))) return read_scaling(config, given, 1.0);
  const double one = read_scaling(config, {"rope_parameters.mscale", "rope_scaling.mscale", nullptr}, 0, {0, 1e4});
  const double all =
      read_scaling(config, {"rope_parameters.mscale_all_dim", "rope_scaling.mscale_all_dim", nullptr}, 0, {0, 1e4});
  return one > 0 && all > 0 ? mscale(one) / mscale(all) : mscale(1);
}

// YaRN: low frequencies are interpolated, high ones extrapolated, with a linear ramp over the indices between.
float scale_yarn(const Config& config, Frequencies& frequencies, double theta) {
  const double factor = read_factor(config);
  const double original = read_original_length(config);
  const double fast = read_scaling(
      config, {"rope_parameters.beta_fast", "rope_scaling.beta_fast", "rope.scaling.yarn_beta_fast"}, 32.0);
  const double slow =
      read_scaling(config, {"rope_parameters.beta_slow", "rope_scaling.beta_slow", "rope.scaling.yarn_beta_slow"}, 1.0);
  const bool whole =
      config.flag_or(key_of(config, {"rope_parameters.truncate", "rope_scaling.truncate", nullptr}), true);
  const double share = read_scaling(config, {nullptr, nullptr, "rope.scaling.yarn_ext_factor"}, 1.0, {0, 1});
  const double width = 2.0 * static_cast<double>(frequencies.size());
  const auto correction = [&](double turns) {
    return width * std::log(original / (2 * std::numbers::pi * turns)) / (2 * std::log(theta));
  };
  const double first = correction(fast), last = correction(slow);
  const double low = std::max(whole ? std::floor(first) : first, 0.0);
  double high = std::min(whole ? std::ceil(last) : last, width - 1);
  if (high == low) high += 0.001;
  for (size_t j = 0; j < frequencies.size(); ++j) {
    const double ramp = std::clamp((static_cast<double>(j) - low) / (high - low), 0.0, 1.0);
    const double extrapolated = (1 - ramp) * share;
    frequencies[j] = frequencies[j] * extrapolated + frequencies[j] / factor * (1 - extrapolated);
  }
  return static_cast<float>(yarn_attention_scale(config, factor));
}

// GGUF stores the Llama 3 scaling as divisors (llama.cpp's conversion).
void apply_divisors(Weights& weights, Frequencies& frequencies) {
  if (!weights.gguf() || !weights.has("rope_freqs.weight")) return;
  const std::vector<float> divisors = weights.floats("rope_freqs.weight", static_cast<int64_t>(frequencies.size()));
  for (size_t j = 0; j < divisors.size(); ++j) frequencies[j] /= static_cast<double>(divisors[j]);
}

}  // namespace

std::vector<double> plain_frequencies(double theta, int64_t rotary_dim) {
  Frequencies out;
  for (int64_t i = 0; i < rotary_dim; i += 2) {
    out.push_back(std::pow(theta, -static_cast<double>(i) / static_cast<double>(rotary_dim)));
  }
  return out;
}

Rope read_rope(const Config& config, Weights& weights, int64_t rotary_dim, Rope::Pairing pairing) {
  Rope rope{.pairing = pairing, .rotary_dim = rotary_dim};
  const double theta = read_theta(config);
  const std::string type = read_type(config);
  config.require(
      rotary_dim >= 2 && rotary_dim % 2 == 0,
      "the rotated part of a head has " + std::to_string(rotary_dim) + " values, expected an even number from 2");
  if (config.broken()) return rope;
  Frequencies frequencies = plain_frequencies(theta, rotary_dim);
  if (type == "linear") {
    const double factor = read_factor(config);
    for (double& frequency : frequencies) frequency /= factor;
  } else if (type == "llama3") {
    scale_llama3(config, frequencies);
  } else if (type == "yarn") {
    rope.attention_scale = scale_yarn(config, frequencies, theta);
  } else {
    config.require(type == "default" || type == "none" || type == "mrope",
                   "\"rope_type\" is \"" + printable(type) + "\", expected default, linear, llama3 or yarn");
  }
  if (config.broken()) return rope;
  apply_divisors(weights, frequencies);
  rope.inv_freq = weights.constant(std::vector<float>(frequencies.begin(), frequencies.end()));
  return rope;
}

}  // namespace longhand
