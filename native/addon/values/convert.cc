#include "addon/values/convert.h"

#include <cstring>

namespace longhand {

namespace {

const char* name_of(Finish finish) {
  switch (finish) {
    case Finish::stop: return "stop";
    case Finish::length: return "length";
    case Finish::cancelled: return "cancelled";
    case Finish::context: return "context";
  }
  return "stop";
}

const char* name_of(Reread reason) {
  switch (reason) {
    case Reread::nothing: return "nothing";
    case Reread::cold: return "cold";
    case Reread::boundary: return "boundary";
    case Reread::evicted: return "evicted";
    case Reread::unread: return "unread";
    case Reread::path: return "path";
  }
  return "cold";
}

uint64_t bytes_at(const Facts& facts, int64_t tokens) {
  uint64_t sum = 0;
  for (const LayerFacts& layer : facts.layers) {
    for (const MemoryLayout& layout : layer.memory) sum += memory_bytes(layout, tokens, CacheType::f16);
  }
  return sum;
}

// Compressed keys grow by windows: the slope over a long stretch.
double growth_per_token(const Facts& facts) {
  constexpr int64_t stretch = 1 << 20;
  return static_cast<double>(bytes_at(facts, 2 * stretch) - bytes_at(facts, stretch)) / static_cast<double>(stretch);
}

}  // namespace

const char* name_of(Container container) {
  switch (container) {
    case Container::safetensors: return "safetensors";
    case Container::mlx: return "mlx";
    case Container::gguf: return "gguf";
  }
  return "safetensors";
}

Napi::Array to_js(Napi::Env env, const std::vector<std::string>& texts) {
  Napi::Array out = Napi::Array::New(env, texts.size());
  for (size_t i = 0; i < texts.size(); ++i) out.Set(static_cast<uint32_t>(i), texts[i]);
  return out;
}

Napi::Float32Array to_js(Napi::Env env, const std::vector<float>& values) {
  Napi::Float32Array out = Napi::Float32Array::New(env, values.size());
  if (!values.empty()) std::memcpy(out.Data(), values.data(), values.size() * sizeof(float));
  return out;
}

Napi::Int32Array to_js(Napi::Env env, const std::vector<int32_t>& values) {
  Napi::Int32Array out = Napi::Int32Array::New(env, values.size());
  if (!values.empty()) std::memcpy(out.Data(), values.data(), values.size() * sizeof(int32_t));
  return out;
}

Napi::Object to_js(Napi::Env env, const DeviceEntry& device) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("backEnd", device.back_end);
  out.Set("id", device.id);
  out.Set("available", device.available);
  out.Set("name", device.info.name);
  out.Set("detail", device.info.detail);
  if (!device.info.tuning.empty()) out.Set("tuning", device.info.tuning);
  out.Set("memoryBytes", static_cast<double>(device.info.memory_bytes));
  out.Set("unified", device.info.unified);
  if (!device.available) out.Set("reason", device.reason);
  return out;
}

Napi::Object to_js(Napi::Env env, const Description& description) {
  const auto number = [&](auto value) { return Napi::Number::New(env, static_cast<double>(value)); };
  const Facts& facts = description.facts;
  Napi::Array layers = Napi::Array::New(env, facts.layers.size());
  for (size_t i = 0; i < facts.layers.size(); ++i) {
    Napi::Object layer = Napi::Object::New(env);
    layer.Set("kind", name_of(facts.layers[i].kind));
    layer.Set("experts", facts.layers[i].experts);
    layers.Set(static_cast<uint32_t>(i), layer);
  }
  Napi::Object types = Napi::Object::New(env);
  for (const auto& [type, bytes] : description.bytes_by_type) types.Set(type, number(bytes));
  Napi::Object out = Napi::Object::New(env);
  out.Set("supported", description.supported());
  out.Set("problems", to_js(env, description.problems.list));
  out.Set("notices", to_js(env, description.problems.notices));
  out.Set("family", description.family);
  out.Set("container", name_of(description.container));
  out.Set("layers", layers);
  out.Set("hiddenSize", number(facts.hidden));
  out.Set("vocabularySize", number(facts.vocabulary));
  out.Set("contextLength", number(facts.context));
  out.Set("parameters", number(description.parameters));
  out.Set("weightBytes", number(description.weight_bytes));
  out.Set("types", types);
  out.Set("activeBytes", number(description.active_bytes));
  out.Set("stateBytes", number(bytes_at(facts, 0)));
  out.Set("contextBytesPerToken", growth_per_token(facts));
  out.Set("mtp", description.mtp);
  out.Set("encoder", description.encoder);
  out.Set("reranker", description.reranker);
  out.Set("vision", env.Null());
  if (description.vision) {
    Napi::Object vision = Napi::Object::New(env);
    vision.Set("token", description.vision->token);
    vision.Set("merge", number(static_cast<uint64_t>(description.vision->merge)));
    out.Set("vision", vision);
  }
  return out;
}

Napi::Object to_js(Napi::Env env, const GenerateResult& result) {
  Napi::Array tokens = Napi::Array::New(env, result.tokens.size());
  for (size_t i = 0; i < result.tokens.size(); ++i) tokens.Set(static_cast<uint32_t>(i), result.tokens[i]);
  Napi::Object timings = Napi::Object::New(env);
  timings.Set("promptTokens", static_cast<double>(result.prompt_tokens));
  timings.Set("cachedTokens", static_cast<double>(result.cached_tokens));
  timings.Set("prefillMs", result.prefill_ms);
  timings.Set("decodeMs", result.decode_ms);
  timings.Set("firstTokenMs", result.first_token_ms);
  if (result.device_ms > 0) timings.Set("deviceMs", result.device_ms);
  Napi::Object reuse = Napi::Object::New(env);
  reuse.Set("tokens", static_cast<double>(result.cached_tokens));
  reuse.Set("requested", static_cast<double>(result.prompt_tokens));
  reuse.Set("known", static_cast<double>(result.known.tokens));
  reuse.Set("differs", result.known.differs);
  reuse.Set("reason", name_of(result.reread));
  Napi::Object out = Napi::Object::New(env);
  out.Set("tokens", tokens);
  out.Set("finish", name_of(result.finish));
  out.Set("timings", timings);
  out.Set("reuse", reuse);
  return out;
}

Napi::Object to_js(Napi::Env env, const TokenEvent& event, bool with_top) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("id", event.sampled.token.id);
  out.Set("at", event.at_ms);
  if (!with_top) return out;
  out.Set("logprob", event.sampled.token.logprob);
  Napi::Array top = Napi::Array::New(env, event.sampled.top.size());
  for (size_t i = 0; i < event.sampled.top.size(); ++i) {
    Napi::Object candidate = Napi::Object::New(env);
    candidate.Set("id", event.sampled.top[i].id);
    candidate.Set("logprob", event.sampled.top[i].logprob);
    top.Set(static_cast<uint32_t>(i), candidate);
  }
  out.Set("top", top);
  return out;
}

Napi::Object to_js(Napi::Env env, const Matrix& matrix) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("rows", static_cast<double>(matrix.rows));
  out.Set("columns", static_cast<double>(matrix.columns));
  out.Set("data", to_js(env, matrix.data));
  return out;
}

Napi::Array to_js(Napi::Env env, const std::map<std::string, KernelTime>& times) {
  Napi::Array out = Napi::Array::New(env, times.size());
  uint32_t at = 0;
  for (const auto& [name, time] : times) {
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("name", name);
    entry.Set("count", static_cast<double>(time.count));
    entry.Set("ms", 1e3 * time.seconds);
    out.Set(at++, entry);
  }
  return out;
}

}  // namespace longhand
