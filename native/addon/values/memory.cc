#include "addon/values/memory.h"

#include <stdexcept>

#include "addon/values/convert.h"

namespace longhand {

namespace {

constexpr CacheType cache_types[] = {CacheType::f32, CacheType::f16, CacheType::q8, CacheType::q4};
constexpr const char* cache_names[] = {"f32", "f16", "q8", "q4"};

uint64_t bytes_at(const MemoryNeeds& needs, int64_t tokens, CacheType type) {
  return plan_memory(needs, {.context = tokens, .cache_type = type}).context;
}

// Compressed keys grow by windows: the slope over a long stretch.
double bytes_per_token(const MemoryNeeds& needs, CacheType type) {
  constexpr int64_t stretch = 1 << 20;
  const uint64_t grown = bytes_at(needs, 2 * stretch, type) - bytes_at(needs, stretch, type);
  return static_cast<double>(grown) / static_cast<double>(stretch);
}

Napi::Value to_js(Napi::Env env, const std::optional<MemoryNeeds>& needs) {
  if (!needs) return env.Null();
  const auto number = [&](auto value) { return Napi::Number::New(env, static_cast<double>(value)); };
  Napi::Object per_token = Napi::Object::New(env);
  for (size_t i = 0; i < std::size(cache_types); ++i)
    per_token.Set(cache_names[i], number(bytes_per_token(*needs, cache_types[i])));
  const MemoryPlan plan = plan_memory(*needs, {});
  Napi::Object out = Napi::Object::New(env);
  out.Set("weights", number(needs->packed_weights));
  out.Set("contextPerToken", per_token);
  out.Set("states", number(plan.states));
  out.Set("snapshots", number(plan.snapshots));
  out.Set("pass", number(needs->pass));
  out.Set("passPerToken", number(needs->pass_token));
  out.Set("passTokens", number(largest_pass(*needs, {})));
  out.Set("scratchPerToken", number(needs->decoded_token));
  return out;
}

}  // namespace

Napi::Object to_js(Napi::Env env, const Description& description, const std::optional<MemoryNeeds>& needs) {
  Napi::Object out = to_js(env, description);
  out.Set("memory", to_js(env, needs));
  return out;
}

Napi::Object to_js(Napi::Env env, const MemoryPlan& plan) {
  const auto number = [&](uint64_t value) { return Napi::Number::New(env, static_cast<double>(value)); };
  Napi::Object out = Napi::Object::New(env);
  out.Set("weights", number(plan.weights));
  out.Set("context", number(plan.context));
  out.Set("states", number(plan.states));
  out.Set("snapshots", number(plan.snapshots));
  out.Set("activations", number(plan.activations));
  out.Set("scratch", number(plan.scratch));
  out.Set("cache", number(plan.cache));
  out.Set("total", number(plan.total()));
  return out;
}

PlanOptions plan_options(Napi::Value value) {
  const Options options(value, "memoryPlan");
  constexpr int64_t most_tokens = 1LL << 31, most_sessions = 1024;
  constexpr double most_bytes = 9007199254740991.0;
  return {.context = options.integer("contextLength", 0, 0, most_tokens),
          .cache_type = cache_type(options, CacheType::f16),
          .rows = options.integer("rows", 0, 0, most_tokens),
          .timelines = options.integer("sessions", 1, 1, most_sessions),
          .cache_budget = static_cast<uint64_t>(options.number("cacheBytes", 0, 0, most_bytes))};
}

CacheType cache_type(const Options& options, CacheType fallback) {
  if (!options.has("kvType")) return fallback;
  const std::string name = options.text("kvType", "");
  for (size_t i = 0; i < std::size(cache_types); ++i) {
    if (name == cache_names[i]) return cache_types[i];
  }
  throw std::invalid_argument("[session] kvType is \"" + name + "\", expected f32, f16, q8 or q4");
}

}  // namespace longhand
