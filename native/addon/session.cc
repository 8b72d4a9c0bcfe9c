#include "addon/session.h"

#include <mutex>
#include <random>

#include "addon/environment.h"
#include "addon/grammar.h"
#include "addon/jobs.h"
#include "addon/pictures.h"
#include "addon/registry.h"
#include "addon/values/convert.h"
#include "addon/values/errors.h"
#include "addon/values/memory.h"
#include "addon/values/options.h"

namespace longhand {

namespace {

constexpr int64_t most_tokens = 1LL << 31;
constexpr double most_seed = 9007199254740991.0;

SamplingOptions sampling(const Options& options) {
  constexpr double any = 1e6;
  SamplingOptions out;
  Sampling& s = out.sampling;
  s.temperature = static_cast<float>(options.number("temperature", 0, 0, any));
  s.top_k = static_cast<int32_t>(options.integer("topK", 0, 0, 2147483647));
  s.top_p = static_cast<float>(options.number("topP", 1, 0, 1));
  s.min_p = static_cast<float>(options.number("minP", 0, 0, 1));
  s.repetition_penalty = static_cast<float>(options.number("repetitionPenalty", 1, 1e-3, any));
  s.presence_penalty = static_cast<float>(options.number("presencePenalty", 0, -any, any));
  s.frequency_penalty = static_cast<float>(options.number("frequencyPenalty", 0, -any, any));
  s.logprobs = static_cast<int32_t>(options.integer("logprobs", 0, 0, 1 << 20));
  s.seed =
      options.has("seed") ? static_cast<uint64_t>(options.number("seed", 0, 0, most_seed)) : std::random_device{}();
  out.penalty_window = options.integer("penaltyWindow", -1, -1, most_tokens);
  out.forbidden = options.tokens("forbidden");
  out.bias = options.biases("bias");
  for (const Options& each : options.list("exemplars"))
    out.exemplars.push_back({each.tokens("tokens"), static_cast<float>(each.number("weight", 0, 0, any))});
  if (options.has("dry")) {
    const Options dry = options.inner("dry");
    out.dry = Dry{static_cast<float>(dry.number("multiplier", 0, 0, any)),
                  static_cast<float>(dry.number("base", 1.75, 1, any)), dry.integer("allowedLength", 2, 1, most_tokens),
                  dry.integer("window", -1, -1, most_tokens), dry.tokens("breakers")};
  }
  return out;
}

// Tokens on their way to JavaScript: those that come faster than its event loop turns arrive together.
struct TokenRelay {
  std::shared_ptr<Operation> operation;
  bool with_top = false;
  std::mutex mutex;
  std::vector<TokenEvent> waiting;

  static void send(const std::shared_ptr<TokenRelay>& relay, const TokenEvent& event) {
    {
      const std::lock_guard lock(relay->mutex);
      relay->waiting.push_back(event);
      if (relay->waiting.size() > 1) return;
    }
    relay->operation->post(
        [relay](Napi::Env env, Operation::Javascript& javascript) { relay->deliver(env, javascript); });
  }

  void deliver(Napi::Env env, Operation::Javascript& javascript) {
    std::vector<TokenEvent> events;
    {
      const std::lock_guard lock(mutex);
      events.swap(waiting);
    }
    const Napi::FunctionReference& callback = javascript.callbacks[1];
    if (callback.IsEmpty() || events.empty()) return;
    Napi::Array out = Napi::Array::New(env, events.size());
    for (size_t i = 0; i < events.size(); ++i) out.Set(static_cast<uint32_t>(i), to_js(env, events[i], with_top));
    callback.Call({out});
  }
};

void relay_prefill(const std::shared_ptr<Operation>& operation, int64_t done, int64_t total, int64_t cached) {
  operation->post([=](Napi::Env env, Operation::Javascript& javascript) {
    const Napi::FunctionReference& callback = javascript.callbacks[0];
    if (callback.IsEmpty()) return;
    callback.Call({Napi::Number::New(env, static_cast<double>(done)),
                   Napi::Number::New(env, static_cast<double>(total)),
                   Napi::Number::New(env, static_cast<double>(cached))});
  });
}

Napi::Value named_matrices(Napi::Env env, const std::vector<NamedMatrix>& list) {
  Napi::Array out = Napi::Array::New(env, list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    Napi::Object entry = to_js(env, list[i].matrix);
    entry.Set("name", list[i].name);
    out.Set(static_cast<uint32_t>(i), entry);
  }
  return out;
}

Napi::Value named_states(Napi::Env env, const std::vector<NamedState>& list) {
  Napi::Array out = Napi::Array::New(env, list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const NamedState& state = list[i];
    Napi::Array shape = Napi::Array::New(env, state.shape.size());
    for (size_t d = 0; d < state.shape.size(); ++d)
      shape.Set(static_cast<uint32_t>(d), static_cast<double>(state.shape[d]));
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("layer", static_cast<double>(state.layer));
    entry.Set("kind", state.recurrent ? "recurrent" : "conv");
    entry.Set("shape", shape);
    entry.Set("data", to_js(env, state.data));
    out.Set(static_cast<uint32_t>(i), entry);
  }
  return out;
}

}  // namespace

// A generation as a job: stepwise if the back end takes turns, else to its end at once.
struct SessionObject::Answering {
  using Done = std::function<Operation::Convert(const Session&, const GenerateResult&)>;

  std::shared_ptr<Operation> operation;
  std::shared_ptr<Session> session;
  std::vector<int32_t> prompt;
  GenerateOptions options;
  CancelFlag cancel;
  Done done;
  std::unique_ptr<Generation> generation = nullptr;  // after the session, whose timeline it uses

  Turn step(bool closed) {
    try {
      if (closed) throw ClosedError("[engine] this model or session is closed");
      if (!generation) generation = session->begin(prompt, options);
      if (session->decode_batch().step(*generation)) return generation->reads() ? Turn::reads : Turn::writes;
      const GenerateResult result = generation->result();
      forget();
      operation->settle([&] { return done(*session, result); });
    } catch (...) {
      forget();
      operation->settle([error = std::current_exception()]() -> Operation::Convert { std::rethrow_exception(error); });
    }
    return Turn::over;
  }

  void pause() {
    if (generation) generation->pause();
  }

  void forget() {
    if (generation) session->decode_batch().leave(*generation);
    generation.reset();
  }
};

SessionObject::SessionObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<SessionObject>(info) {
  if (!info[0].IsExternal())
    throw coded_error(info.Env(), "argument", "[session] sessions are made by createSession()");
  open_ = *info[0].As<Napi::External<Open>>().Data();
}

// Waiting jobs hold a reference to the session: only `close` ends them.
SessionObject::~SessionObject() { let_go(); }

Napi::Value SessionObject::create(Napi::Env env, const std::shared_ptr<Model>& model,
                                  const std::shared_ptr<Worker>& worker, const Napi::Value& value) {
  const Options options(value, "session");
  Open open;
  open.worker = worker;
  open.generate_path = options.path("path", Path::fast);
  open.look_path = options.path("path", Path::exact);
  // The exact path keeps exact keys and values unless told otherwise.
  const CacheType fallback = options.has("path") && open.generate_path == Path::exact ? CacheType::f32 : CacheType::f16;
  try {
    open.session = std::make_shared<Session>(
        model,
        longhand::SessionOptions{options.integer("contextLength", 0, 1, most_tokens), cache_type(options, fallback)});
  } catch (const std::invalid_argument& error) {
    throw coded_error(env, "argument", error.what());
  }
  return Environment::of(env).session.New({Napi::External<Open>::New(env, &open)});
}

void SessionObject::let_go() {
  if (!open_.worker) return;
  destroy_on(*open_.worker, std::move(open_.session));
  open_ = {};
}

Session& SessionObject::session(Napi::Env env) const {
  if (!open_.session) throw coded_error(env, "state", "[session] this session is closed");
  return *open_.session;
}

Napi::Promise SessionObject::queue(const std::shared_ptr<Operation>& operation, CancelFlag cancel, Work work) {
  const Napi::Promise promise = operation->promise();
  post_job(*open_.worker, operation, open_.session.get(), std::move(cancel),
           [session = open_.session, work = std::move(work)] { return work(*session); });
  return promise;
}

Napi::Promise SessionObject::queue(Napi::Env env, Work work) {
  session(env);
  return queue(Operation::start(env), nullptr, std::move(work));
}

Napi::Promise SessionObject::answer(Answering answering) {
  const Napi::Promise promise = answering.operation->promise();
  const Session* owner = answering.session.get();
  const CancelFlag cancel = answering.cancel;
  const auto held = std::make_shared<Answering>(std::move(answering));
  open_.worker->post({owner, cancel, [held](bool closed) { return held->step(closed); }, [held] { held->pause(); }});
  return promise;
}

Napi::Value SessionObject::context_length(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(session(info.Env()).context()));
}

Napi::Value SessionObject::memory_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(session(info.Env()).memory_bytes()));
}

Napi::Value SessionObject::tokens(const Napi::CallbackInfo& info) {
  return to_js(info.Env(), session(info.Env()).tokens());
}

Napi::Value SessionObject::snapshots(const Napi::CallbackInfo& info) {
  const std::vector<int64_t> lengths = session(info.Env()).snapshots();
  Napi::Array out = Napi::Array::New(info.Env(), lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) out.Set(static_cast<uint32_t>(i), static_cast<double>(lengths[i]));
  return out;
}

Napi::Value SessionObject::generate(const Napi::CallbackInfo& info) {
  session(info.Env());
  const std::vector<int32_t> prompt = token_array(info[0], "generate");
  const Options options(info[1], "generate");
  GenerateOptions native;
  native.sampling = sampling(options);
  native.max_tokens = options.integer("maxTokens", 0, 0, most_tokens);
  native.stop_tokens = options.tokens("stopTokens");
  native.path = options.path("path", open_.generate_path);
  native.continues = options.integer("continues", 0, 0, most_tokens);
  native.cache_prompt = options.flag("cachePrompt", true);
  native.owner = owner_argument(info.Env(), options.text("owner", ""));
  native.pictures = pictures_of(info.Env(), options);
  native.guide = guide_of(info.Env(), options);
  const CancelFlag cancel = options.cancel("signal");
  native.cancel = cancel.get();
  const auto operation = Operation::start(info.Env(), {options.get("onPrefill"), options.get("onTokens")});
  auto relay = std::make_shared<TokenRelay>();
  relay->operation = operation;
  relay->with_top = native.sampling.sampling.logprobs > 0;
  native.on_prefill = [operation](int64_t done, int64_t total, int64_t cached) {
    relay_prefill(operation, done, total, cached);
  };
  native.on_token = [relay](const TokenEvent& event) { TokenRelay::send(relay, event); };
  return answer({operation, open_.session, prompt, native, cancel, [](const Session&, const GenerateResult& result) {
                   return [result](Napi::Env env) -> Napi::Value { return to_js(env, result); };
                 }});
}

Napi::Value SessionObject::read(const Napi::CallbackInfo& info) {
  session(info.Env());
  const std::vector<int32_t> prefix = token_array(info[0], "read");
  const Options options(info[1], "read");
  GenerateOptions native;
  native.owner = owner_argument(info.Env(), options.text("owner", ""));
  native.stop_tokens = options.tokens("stopTokens");
  native.pictures = pictures_of(info.Env(), options);
  native.path = options.path("path", open_.generate_path);
  const CancelFlag cancel = options.cancel("signal");
  native.cancel = cancel.get();
  native.read_only = true;
  const auto done = [](const Session& on, const GenerateResult& result) -> Operation::Convert {
    return [result, length = static_cast<int64_t>(on.tokens().size())](Napi::Env env) -> Napi::Value {
      Napi::Object out = Napi::Object::New(env);
      out.Set("length", static_cast<double>(length));
      out.Set("cachedTokens", static_cast<double>(result.cached_tokens));
      out.Set("cancelled", result.finish == Finish::cancelled);
      return out;
    };
  };
  return answer({Operation::start(info.Env()), open_.session, prefix, native, cancel, done});
}

Napi::Value SessionObject::logits(const Napi::CallbackInfo& info) {
  session(info.Env());
  const std::vector<int32_t> tokens = token_array(info[0], "logits");
  const Options options(info[1], "logits");
  const CancelFlag cancel = options.cancel("signal");
  const LogitsOptions native{options.flag("all", false),
                             options.integer("chunk", 0, 1, most_tokens),
                             options.path("path", open_.look_path),
                             cancel.get(),
                             options.integer("generated", 0, 0, most_tokens),
                             pictures_of(info.Env(), options)};
  return queue(Operation::start(info.Env()), cancel, [tokens, native, cancel](Session& on) -> Operation::Convert {
    return [matrix = on.logits(tokens, native)](Napi::Env env) -> Napi::Value { return to_js(env, matrix); };
  });
}

Napi::Value SessionObject::score(const Napi::CallbackInfo& info) {
  session(info.Env());
  const std::vector<int32_t> tokens = token_array(info[0], "score");
  const Options options(info[1], "score");
  const CancelFlag cancel = options.cancel("signal");
  const ScoreOptions native{options.integer("from", 1, 1, most_tokens), options.integer("top", 0, 0, most_tokens),
                            options.tokens("at"), options.path("path", open_.look_path), cancel.get()};
  return queue(Operation::start(info.Env()), cancel, [tokens, native, cancel](Session& on) -> Operation::Convert {
    return [scores = on.score(tokens, native)](Napi::Env env) -> Napi::Value {
      Napi::Object out = Napi::Object::New(env);
      out.Set("logprobs", to_js(env, scores.logprobs));
      out.Set("top", to_js(env, scores.top));
      out.Set("topLogprobs", to_js(env, scores.top_logprobs));
      out.Set("atLogprobs", to_js(env, scores.at_logprobs));
      return out;
    };
  });
}

Napi::Value SessionObject::trace(const Napi::CallbackInfo& info) {
  const std::vector<int32_t> tokens = token_array(info[0], "trace");
  const Options options(info[1], "trace");
  const Path path = options.path("path", open_.look_path);
  const CancelFlag cancel = options.cancel("signal");
  session(info.Env());
  return queue(Operation::start(info.Env()), cancel, [tokens, path, cancel](Session& on) -> Operation::Convert {
    return [list = on.trace(tokens, path, cancel.get())](Napi::Env env) { return named_matrices(env, list); };
  });
}

Napi::Value SessionObject::states(const Napi::CallbackInfo& info) {
  return queue(info.Env(), [](Session& on) -> Operation::Convert {
    return [list = on.states()](Napi::Env env) { return named_states(env, list); };
  });
}

Napi::Value SessionObject::snapshot(const Napi::CallbackInfo& info) {
  return queue(info.Env(), [](Session& on) -> Operation::Convert {
    return [length = on.snapshot()](Napi::Env env) { return Napi::Number::New(env, static_cast<double>(length)); };
  });
}

Napi::Value SessionObject::rewind(const Napi::CallbackInfo& info) {
  session(info.Env());
  if (!info[0].IsNumber()) throw coded_error(info.Env(), "argument", "[session] rewind takes a length");
  const int64_t length = info[0].As<Napi::Number>().Int64Value();
  const CancelFlag cancel = Options(info[1], "rewind").cancel("signal");
  return queue(Operation::start(info.Env()), cancel, [length, cancel](Session& on) -> Operation::Convert {
    return [replayed = on.rewind(length, cancel.get())](Napi::Env env) -> Napi::Value {
      Napi::Object out = Napi::Object::New(env);
      out.Set("replayed", static_cast<double>(replayed));
      return out;
    };
  });
}

Napi::Value SessionObject::reset(const Napi::CallbackInfo& info) {
  return queue(info.Env(), [](Session& on) -> Operation::Convert {
    on.reset();
    return [](Napi::Env env) { return env.Undefined(); };
  });
}

void SessionObject::close(const Napi::CallbackInfo&) {
  if (open_.worker) open_.worker->close_owner(open_.session.get());
  let_go();
}

void register_session(Napi::Env env, Napi::Object exports) {
  const Napi::Function constructor =
      SessionObject::DefineClass(env, "Session",
                                 {SessionObject::InstanceAccessor<&SessionObject::context_length>("contextLength"),
                                  SessionObject::InstanceAccessor<&SessionObject::memory_bytes>("memoryBytes"),
                                  SessionObject::InstanceMethod<&SessionObject::tokens>("tokens"),
                                  SessionObject::InstanceMethod<&SessionObject::generate>("generate"),
                                  SessionObject::InstanceMethod<&SessionObject::read>("read"),
                                  SessionObject::InstanceMethod<&SessionObject::logits>("logits"),
                                  SessionObject::InstanceMethod<&SessionObject::score>("score"),
                                  SessionObject::InstanceMethod<&SessionObject::trace>("trace"),
                                  SessionObject::InstanceMethod<&SessionObject::states>("states"),
                                  SessionObject::InstanceMethod<&SessionObject::snapshot>("snapshot"),
                                  SessionObject::InstanceMethod<&SessionObject::snapshots>("snapshots"),
                                  SessionObject::InstanceMethod<&SessionObject::rewind>("rewind"),
                                  SessionObject::InstanceMethod<&SessionObject::reset>("reset"),
                                  SessionObject::InstanceMethod<&SessionObject::close>("close")});
  Environment::of(env).session = Napi::Persistent(constructor);
  exports.Set("Session", constructor);
}

}  // namespace longhand
