#include "architectures/shared/partial_rope.h"

#include <algorithm>

namespace longhand {

namespace {

using Pairs = std::vector<int32_t>;

struct Settings {
  std::string version;  // "0" ... "5", or a name
  int64_t top = 0, last = 0, start = 0, step = 1;
};

Settings read_settings(const Config& config, int64_t half) {
  Settings s;
  const Range pairs{0, static_cast<double>(half)};
  const Json* version = config.find_path("RoPE.partial_rope_version");
  if (!version) version = config.find_path("mla.partial_rope");
  if (version && version->integer()) s.version = std::to_string(*version->integer());
  if (version && version->string()) s.version = *version->string();
  config.require(!s.version.empty(), "\"RoPE.partial_rope_version\" is missing");
  const Key count{config.find_path("RoPE.top_k_rope_dim") ? "RoPE.top_k_rope_dim" : "mla.rope_dim", nullptr};
  s.top = config.integer(count, {0, static_cast<double>(2 * half)});
  if (!config.find_path("RoPE.top_k_rope_dim")) s.top /= 2;  // the new key counts dims, the old one pairs
  s.last = config.integer_or({"RoPE.last_k_rope_dim", nullptr}, 0, pairs);
  s.start = config.integer_or({"RoPE.uniform_start_point", nullptr}, 0, pairs);
  s.step = config.integer_or({"RoPE.uniform_step", nullptr}, half / std::max<int64_t>(s.top, 1),
                             {1, static_cast<double>(2 * half)});
  config.require(s.top + s.last <= half, "\"RoPE.top_k_rope_dim\" and \"last_k_rope_dim\" keep more than the " +
                                             std::to_string(half) + " pairs of a head");
  return s;
}

Pairs range(int64_t first, int64_t end, int64_t step = 1) {
  Pairs out;
  for (int64_t i = first; i < end; i += step) out.push_back(static_cast<int32_t>(i));
  return out;
}

// The pairs of selections that are the same in every layer and head; empty for measured selections ("2-norm").
Pairs fixed_pairs(const Config& config, const Settings& s, int64_t half) {
  if (s.version == "0" || s.version == "full-rope") return range(0, half);
  if (s.version == "1" || s.version == "high") return range(0, s.top);
  if (s.version == "2" || s.version == "uniform") {
    config.require(half % s.step == 0, "\"RoPE.uniform_step\" is " + std::to_string(s.step) +
                                           ", expected a divisor of " + std::to_string(half));
    return range(s.start, half, s.step);
  }
  if (s.version == "3") {
    Pairs out = range(0, s.top);
    const Pairs low = range(half - s.last, half);
    out.insert(out.end(), low.begin(), low.end());
    return out;
  }
  if (s.version == "5" || s.version == "low") return range(half - s.top, half);
  return {};
}

// config.json must have [layers, kv_heads, pairs], because the weights do not contain what the conversion measured. For
// the published models the pairs are built in.
PartialRope measured_pairs(const Config& config, const Settings& s, int64_t layers, const Heads& heads) {
  const Json* list = config.find_path("RoPE.kept_pairs");
  if (!list) {
    if (std::optional<PartialRope> known = published_pairs(layers, heads, s.top)) {
      config.notice("the rotary pairs are those measured for the published SmolLM conversions");
      return *std::move(known);
    }
  }
  const std::string wanted =
      "[" + std::to_string(layers) + ", " + std::to_string(heads.kv) + ", " + std::to_string(s.top) + "]";
  PartialRope out;
  const auto fail = [&] {
    config.require(false, "\"RoPE.kept_pairs\" must list the kept pairs of the 2-norm selection, " + wanted +
                              ": the weights do not contain them");
    return PartialRope{};
  };
  if (!list || !list->array() || static_cast<int64_t>(list->array()->size()) != layers) return fail();
  for (const Json& layer : *list->array()) {
    if (!layer.array() || static_cast<int64_t>(layer.array()->size()) != heads.kv) return fail();
    out.emplace_back();
    for (const Json& head : *layer.array()) {
      if (!head.array() || static_cast<int64_t>(head.array()->size()) != s.top) return fail();
      Pairs pairs;
      for (const Json& pair : *head.array()) {
        if (!pair.integer() || *pair.integer() < 0 || *pair.integer() >= heads.dim / 2) return fail();
        pairs.push_back(static_cast<int32_t>(*pair.integer()));
      }
      std::ranges::sort(pairs);
      if (std::ranges::adjacent_find(pairs) != pairs.end()) return fail();
      out.back().push_back(std::move(pairs));
    }
  }
  return out;
}

}  // namespace

PartialRope read_partial_rope(const Config& config, int64_t layers, const Heads& heads) {
  const int64_t half = heads.dim / 2;
  const Settings settings = read_settings(config, half);
  if (config.broken()) return {};
  if (settings.version == "4" || settings.version == "2-norm") return measured_pairs(config, settings, layers, heads);
  const Pairs pairs = fixed_pairs(config, settings, half);
  config.require(!pairs.empty(),
                 "\"RoPE.partial_rope_version\" is " + settings.version +
                     ", expected 0 to 5, full-rope, high, uniform, 2-norm or low, with pairs left to rotate");
  return PartialRope(static_cast<size_t>(layers), std::vector<Pairs>(static_cast<size_t>(heads.kv), pairs));
}

RetainedDims retained_dims(const PartialRope& partial, int64_t layer, const Heads& heads) {
  const auto half = static_cast<int32_t>(heads.dim / 2);
  RetainedDims out;
  for (const Pairs& pairs : partial[static_cast<size_t>(layer)]) {
    Pairs retained = pairs;
    for (const int32_t pair : pairs) retained.push_back(pair + half);
    Pairs rest;
    for (int32_t d = 0; d < heads.dim; ++d) {
      if (std::ranges::find(retained, d) == retained.end()) rest.push_back(d);
    }
    out.retained.push_back(std::move(retained));
    out.rest.push_back(std::move(rest));
  }
  return out;
}

}  // namespace longhand
