// Ops whose rows are independent of each other.
#include "addon/testing/testing_ops.h"

namespace longhand::testing {
namespace {

Activation activation_named(const std::string& name) {
  if (name == "silu") return Activation::silu;
  if (name == "gelu_erf") return Activation::gelu_erf;
  if (name == "gelu_tanh") return Activation::gelu_tanh;
  return Activation::none;
}

Napi::Value embed(Bench& bench) {
  const WeightPtr table = bench.weight("weight");
  const std::vector<int32_t> ids = bench.ints("ids");
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.embed(std::span(ids).subspan(static_cast<size_t>(first), static_cast<size_t>(count)), *table,
                               bench.number("scale", 1.0f));
  });
}

Napi::Value rms_norm(Bench& bench) {
  const Norm norm = bench.norm("norm");
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.rms_norm(bench.input("x", first, count), norm);
  });
}

Napi::Value layer_norm(Bench& bench) {
  const LayerNorm norm{bench.buffer("norm"), bench.buffer("bias"), bench.number("eps", 1e-12f)};
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.layer_norm(bench.input("x", first, count), norm,
                                    bench.has("add") ? bench.input("add", first, count) : Tensor{});
  });
}

Napi::Value linear(Bench& bench) {
  const WeightPtr weight = bench.weight("weight");
  const BufferPtr bias = bench.buffer("bias");
  const std::string gate = bench.text("gateKind", "none");
  Linear options{.norm = bench.optional_norm("norm"),
                 .gate_kind = gate == "sigmoid" ? Gate::sigmoid
                              : gate == "silu"  ? Gate::silu
                                                : Gate::none,
                 .bias = bias ? &bias : nullptr,
                 .activation = activation_named(bench.text("activation", "none")),
                 .scale = bench.number("scale", 1.0f)};
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    if (options.gate_kind != Gate::none) options.gate = bench.input("gate", first, count);
    if (bench.has("addTo")) options.add_to = bench.input("addTo", first, count);
    return bench.backend.linear(bench.input("x", first, count), *weight, options);
  });
}

Napi::Value gate_up(Bench& bench) {
  const WeightPtr weight = bench.weight("weight");
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.gate_up(bench.input("x", first, count), *weight, bench.optional_norm("norm"));
  });
}

// Ids and weights a token; with `experts` matrices also the output of the mixture.
Napi::Value mixture(Bench& bench) {
  Router router{
      .kind = bench.text("router", "softmax") == "softmax" ? Router::Kind::softmax : Router::Kind::sigmoid_bias,
      .weight = bench.weight("routerWeight"),
      .bias = bench.buffer("routerBias"),
      .experts = bench.integer("expertCount"),
      .topk = bench.integer("topk"),
      .renormalise = true,
      .renormalise_eps = bench.number("renormaliseEps", 0.0f),
      .scale = bench.number("scale", 1.0f)};
  const WeightPtr gate_up = bench.has("gateUp") ? bench.weight("gateUp", bench.integer("expertTensors", 1)) : nullptr;
  const WeightPtr down = bench.has("down") ? bench.weight("down", bench.integer("expertTensors", 1)) : nullptr;
  const uint64_t before = bench.backend.expert_bytes_read();
  std::vector<float> weights;
  std::vector<int32_t> ids;
  const Napi::Value y = bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    const Tensor x = bench.input("x", first, count);
    const Tensor sum = bench.has("addTo") ? bench.input("addTo", first, count) : x;
    const Routes routes = bench.backend.route(x, bench.optional_norm("norm"), router);
    if (gate_up) {
      const Tensor h = bench.backend.expert_gate_up(x, *gate_up, bench.optional_norm("norm"), routes);
      bench.backend.expert_down(h, *down, routes, sum);
    }
    bench.append(weights, routes.weights);
    ids.resize(weights.size());
    const size_t slots = static_cast<size_t>(count * routes.topk);
    bench.backend.read(ids.data() + ids.size() - slots, *routes.ids, routes.ids_offset, slots * sizeof(int32_t));
    return sum;
  });
  Napi::Object result = Napi::Object::New(bench.args.Env());
  result.Set("ids", bench.array(ids));
  result.Set("weights", bench.array(weights));
  result.Set("y", y);
  result.Set("expertBytes", static_cast<double>(bench.backend.expert_bytes_read() - before));
  return result;
}

Napi::Value add_gated(Bench& bench) {
  const WeightPtr gate = bench.weight("weight");
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    const Tensor sum = bench.input("addTo", first, count);
    bench.backend.add_gated(bench.input("x", first, count), bench.optional_norm("norm"), *gate,
                            bench.input("shared", first, count), sum);
    return sum;
  });
}

Napi::Value concat(Bench& bench) {
  return bench.in_chunks("rows", [&](int64_t first, int64_t count) {
    return bench.backend.concat(bench.input("a", first, count), bench.input("b", first, count));
  });
}

// `draws` tokens at positions 0, 1, ...; with `logprobs` the first draw's alternatives.
Napi::Value sample(Bench& bench) {
  std::vector<TokenCount> counts;
  std::vector<TokenBias> biases;
  if (bench.has("countIds")) {
    const auto ids = bench.ints("countIds"), times = bench.ints("counts");
    for (size_t i = 0; i < ids.size(); ++i) counts.push_back({ids[i], times[i]});
  }
  if (bench.has("biasIds")) {
    const auto ids = bench.ints("biasIds");
    const auto values = bench.floats("biases");
    for (size_t i = 0; i < ids.size(); ++i) biases.push_back({ids[i], values[i]});
  }
  Sampling options{.temperature = bench.number("temperature", 0.0f),
                   .top_k = static_cast<int32_t>(bench.integer("topK", 0)),
                   .top_p = bench.number("topP", 1.0f),
                   .min_p = bench.number("minP", 0.0f),
                   .repetition_penalty = bench.number("repetitionPenalty", 1.0f),
                   .presence_penalty = bench.number("presencePenalty", 0.0f),
                   .frequency_penalty = bench.number("frequencyPenalty", 0.0f),
                   .seed = static_cast<uint64_t>(bench.integer("seed", 0)),
                   .logprobs = static_cast<int32_t>(bench.integer("logprobs", 0))};
  bench.begin();
  const Tensor logits = bench.input("logits", 0, 1);
  bench.backend.finish();
  std::vector<int32_t> drawn, top_ids;
  std::vector<float> logprobs, top_logprobs;
  for (int64_t i = 0; i < bench.integer("draws", 1); ++i) {
    options.position = static_cast<uint64_t>(i);
    const Sampled sampled = bench.backend.sample(logits, options, counts, biases);
    drawn.push_back(sampled.token.id);
    logprobs.push_back(sampled.token.logprob);
    for (const Candidate& candidate : sampled.top) {
      top_ids.push_back(candidate.id);
      top_logprobs.push_back(candidate.logprob);
    }
    options.logprobs = 0;
  }
  Napi::Object result = Napi::Object::New(bench.args.Env());
  result.Set("ids", bench.array(drawn));
  result.Set("logprobs", bench.array(logprobs));
  result.Set("topIds", bench.array(top_ids));
  result.Set("topLogprobs", bench.array(top_logprobs));
  return result;
}

}  // namespace

const std::map<std::string, Op>& row_ops() {
  static const std::map<std::string, Op> ops{{"embed", embed},   {"rmsNorm", rms_norm},   {"layerNorm", layer_norm},
                                             {"linear", linear}, {"gateUp", gate_up},     {"mixture", mixture},
                                             {"concat", concat}, {"addGated", add_gated}, {"sample", sample}};
  return ops;
}

}  // namespace longhand::testing
