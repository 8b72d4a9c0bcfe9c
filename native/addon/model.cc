#include "addon/model.h"

#include <algorithm>

#include "addon/environment.h"
#include "addon/jobs.h"
#include "addon/pictures.h"
#include "addon/registry.h"
#include "addon/session.h"
#include "addon/values/convert.h"
#include "addon/values/errors.h"
#include "addon/values/memory.h"
#include "addon/values/options.h"
#include "engine/decode/draft.h"
#include "engine/encode.h"
#include "engine/warmup.h"

namespace longhand {

namespace {

constexpr int64_t most_threads = 1024;

// The latest progress, told at most once per turn of the event loop.
struct ProgressRelay {
  std::shared_ptr<Operation> operation;
  size_t callback;  // of the operation's
  ProgressRelay(std::shared_ptr<Operation> of, size_t index) : operation(std::move(of)), callback(index) {}
  std::atomic<size_t> done{0}, total{0};
  std::atomic<bool> waiting{false};

  static void report(const std::shared_ptr<ProgressRelay>& relay, size_t done, size_t total) {
    relay->done = done;
    relay->total = total;
    if (relay->waiting.exchange(true)) return;
    relay->operation->post([relay](Napi::Env env, Operation::Javascript& javascript) {
      relay->waiting = false;
      const Napi::FunctionReference& callback = javascript.callbacks[relay->callback];
      if (callback.IsEmpty()) return;
      callback.Call({Napi::Number::New(env, static_cast<double>(relay->done.load())),
                     Napi::Number::New(env, static_cast<double>(relay->total.load()))});
    });
  }
};

// One ending of names, or a list of them.
std::vector<std::string> endings(const Napi::Value& value) {
  if (value.IsUndefined() || value.IsNull()) return {};
  const auto text = [](const Napi::Value& one) {
    if (!one.IsString())
      throw coded_error(one.Env(), "argument", "[load] observe.covarianceOf: expected a name or a list of names");
    return one.As<Napi::String>().Utf8Value();
  };
  if (!value.IsArray()) return {text(value)};
  std::vector<std::string> out;
  const auto list = value.As<Napi::Array>();
  for (uint32_t i = 0; i < list.Length(); ++i) out.push_back(text(list.Get(i)));
  return out;
}

Napi::Value load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  const std::string path = string_argument(info, 0, "path");
  const Options options(info[1], "load");
  DeviceChoice choice{options.text("device", ""),
                      options.flag("standin", false),
                      static_cast<int>(options.integer("threads", 0, 0, most_threads)),
                      options.text("cpu", ""),
                      "",
                      path};
  const bool verify = options.flag("verify", false);
  const std::string adapter = options.text("adapter", ""), tower = options.text("vision", "");
  if (options.has("observe")) {
    const Options observe = options.inner("observe");
    choice.id = "cpu";
    choice.observe = std::make_shared<Observations>();
    choice.observe->covariance_of = endings(observe.get("covarianceOf"));
    choice.observe->pair_dim = observe.integer("pairsOf", 0, 0, 4096);
  }
  if (adapter.empty()) choice.packed = options.text("packed", "");
  const CancelFlag cancel = options.cancel("signal");
  const auto operation = Operation::start(env, {options.get("onProgress"), options.get("onKernels")});
  const std::shared_ptr<Worker> worker = Environment::of(env).start_worker();
  const auto relay = std::make_shared<ProgressRelay>(operation, size_t{0});
  const auto kernels = std::make_shared<ProgressRelay>(operation, size_t{1});
  const bool prepare = options.get("onKernels").IsFunction();
  const Napi::Promise promise = operation->promise();
  post_job(*worker, operation, nullptr, cancel, [=]() -> Operation::Convert {
    LoadRequest request{path, adapter, tower, create_backend(choice), verify, {}};
    request.progress.cancel = cancel.get();
    request.progress.report = [relay](size_t done, size_t total) { ProgressRelay::report(relay, done, total); };
    auto model = std::make_shared<Model>(std::move(request), worker);
    const auto told = [kernels](size_t done, size_t total) { ProgressRelay::report(kernels, done, total); };
    if (prepare) prepare_kernels(*model, told);
    return [open = ModelObject::Open{std::move(model), worker, choose_device(choice), choice.observe}](
               Napi::Env js) mutable -> Napi::Value {
      return Environment::of(js).model.New({Napi::External<ModelObject::Open>::New(js, &open)});
    };
  });
  return promise;
}

}  // namespace

ModelObject::ModelObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ModelObject>(info) {
  if (!info[0].IsExternal()) throw coded_error(info.Env(), "argument", "[model] models are made by load()");
  open_ = *info[0].As<Napi::External<Open>>().Data();
}

// Sessions and waiting jobs hold references to what they need: only `close` ends them.
ModelObject::~ModelObject() { let_go(); }

void ModelObject::let_go() {
  if (!open_.worker) return;
  destroy_on(*open_.worker, std::move(open_.model));
  open_ = {};
}

const ModelObject::Open& ModelObject::open(Napi::Env env) const {
  if (!open_.model) throw coded_error(env, "state", "[model] this model is closed");
  return open_;
}

Napi::Value ModelObject::description(const Napi::CallbackInfo& info) {
  const Model& model = *open(info.Env()).model;
  return to_js(info.Env(), model.description(), model.memory_needs());
}

Napi::Value ModelObject::device(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const DeviceInfo device = opened.model->backend().device();
  return to_js(info.Env(), DeviceEntry{device.back_end, opened.device, true, device, ""});
}

Napi::Value ModelObject::packed(const Napi::CallbackInfo& info) {
  constexpr const char* names[] = {"none", "read", "writing", "written"};
  return Napi::String::New(info.Env(),
                           names[static_cast<int>(open(info.Env()).model->backend().packed_cache_status())]);
}

Napi::Value ModelObject::vocabulary_size(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(open(info.Env()).model->facts().vocabulary));
}

Napi::Value ModelObject::context_length(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(open(info.Env()).model->facts().context));
}

Napi::Value ModelObject::create_session(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  return SessionObject::create(info.Env(), opened.model, opened.worker, info[0]);
}

Napi::Value ModelObject::embed(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const std::vector<int32_t> tokens = token_array(info[0], "embed");
  const std::vector<int32_t> lengths =
      info[1].IsUndefined() ? std::vector<int32_t>{static_cast<int32_t>(tokens.size())} : token_array(info[1], "embed");
  const CancelFlag cancel = Options(info[2], "embed").cancel("signal");
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  post_job(*opened.worker, operation, nullptr, cancel,
           [model = opened.model, tokens, lengths, cancel]() -> Operation::Convert {
             return [vectors = longhand::embed(*model, tokens, lengths, cancel.get())](Napi::Env js) -> Napi::Value {
               return to_js(js, vectors.data);
             };
           });
  return promise;
}

Napi::Value ModelObject::observed(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const std::optional<std::string> name =
      info[0].IsUndefined() ? std::nullopt : std::optional(string_argument(info, 0, "tensor"));
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  post_job(*opened.worker, operation, nullptr, nullptr, [seen = opened.observed, name]() -> Operation::Convert {
    std::vector<const Observed*> all;
    static const std::map<const Weight*, Observed> none;
    for (const auto& [weight, observed] : seen ? seen->found : none) {
      if (observed.tokens > 0 && (!name || std::ranges::find(observed.names, *name) != observed.names.end()))
        all.push_back(&observed);
    }
    return [seen, all](Napi::Env js) -> Napi::Value {
      const auto means = [&](const std::vector<double>& sums, int64_t tokens) {
        Napi::Float64Array out = Napi::Float64Array::New(js, sums.size());
        for (size_t i = 0; i < sums.size(); ++i) out[i] = sums[i] / static_cast<double>(tokens);
        return out;
      };
      const auto symmetric = [](Napi::Float64Array upper, size_t size) {
        for (size_t i = 0; i * size < upper.ElementLength(); ++i)
          for (size_t j = 0; j < i; ++j) upper[i * size + j] = upper[j * size + i];
        return upper;
      };
      Napi::Array out = Napi::Array::New(js, all.size());
      for (uint32_t i = 0; i < all.size(); ++i) {
        const Observed& observed = *all[i];
        Napi::Object entry = Napi::Object::New(js);
        entry.Set("names", to_js(js, observed.names));
        entry.Set("tokens", static_cast<double>(observed.tokens));
        entry.Set("squares", means(observed.squares, observed.tokens));
        entry.Set("covariance", symmetric(means(observed.covariance, observed.tokens), observed.squares.size()));
        entry.Set("pairs", means(observed.pairs, observed.tokens));
        out.Set(i, entry);
      }
      return out;
    };
  });
  return promise;
}

Napi::Value ModelObject::rank(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const std::vector<int32_t> tokens = token_array(info[0], "rank");
  const std::vector<int32_t> seconds = token_array(info[1], "rank");
  const std::vector<int32_t> lengths = token_array(info[2], "rank");
  const CancelFlag cancel = Options(info[3], "rank").cancel("signal");
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  post_job(*opened.worker, operation, nullptr, cancel,
           [model = opened.model, tokens, seconds, lengths, cancel]() -> Operation::Convert {
             return [scores = longhand::rank(*model, tokens, seconds, lengths, cancel.get())](
                        Napi::Env js) -> Napi::Value { return to_js(js, scores); };
           });
  return promise;
}

Napi::Value ModelObject::expert_bytes_read(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(open(info.Env()).model->backend().expert_bytes_read()));
}

Napi::Value ModelObject::scratch_bytes(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(open(info.Env()).model->backend().scratch_bytes()));
}

Napi::Value ModelObject::memory_plan(const Napi::CallbackInfo& info) {
  const Model& model = *open(info.Env()).model;
  return guarded(info.Env(), [&] { return to_js(info.Env(), model.memory_plan(plan_options(info[0]))); });
}

Napi::Value ModelObject::draft_logits(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const std::vector<int32_t> tokens = token_array(info[0], "draftLogits");
  const std::vector<int32_t> next = token_array(info[1], "draftLogits");
  const int64_t steps = Options(info[2], "draftLogits").integer("steps", 1, 1, 64);
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  post_job(*opened.worker, operation, nullptr, nullptr,
           [model = opened.model, tokens, next, steps]() -> Operation::Convert {
             return [matrix = longhand::draft_logits(model, tokens, next, steps)](Napi::Env js) -> Napi::Value {
               return to_js(js, matrix);
             };
           });
  return promise;
}

Napi::Value ModelObject::see(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  if (!info[0].IsTypedArray() || info[0].As<Napi::TypedArray>().TypedArrayType() != napi_float32_array)
    throw coded_error(info.Env(), "argument", "[pictures] the pixels are not a Float32Array");
  const auto values = info[0].As<Napi::Float32Array>();
  const std::vector<float> pixels(values.Data(), values.Data() + values.ElementLength());
  const std::vector<Grid> grids = grids_argument(info.Env(), token_array(info[1], "pictures"));
  const Options options(info[2], "pictures");
  const Seen what = options.flag("merged", true) ? Seen::merged : Seen::tower;
  const Path path = options.path("path", Path::exact);
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  post_job(*opened.worker, operation, nullptr, nullptr,
           [model = opened.model, pixels, grids, what, path]() -> Operation::Convert {
             return [matrix = longhand::see(*model, pixels, grids, what, {.path = path})](Napi::Env js) -> Napi::Value {
               return to_js(js, matrix);
             };
           });
  return promise;
}

Napi::Value ModelObject::profile(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  post_job(*opened.worker, operation, nullptr, nullptr, [model = opened.model]() -> Operation::Convert {
    return [able = model->backend().profile()](Napi::Env js) -> Napi::Value { return Napi::Boolean::New(js, able); };
  });
  return promise;
}

Napi::Value ModelObject::kernel_times(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const auto operation = Operation::start(info.Env());
  const Napi::Promise promise = operation->promise();
  post_job(*opened.worker, operation, nullptr, nullptr, [model = opened.model]() -> Operation::Convert {
    return [times = model->backend().kernel_times()](Napi::Env js) -> Napi::Value { return to_js(js, times); };
  });
  return promise;
}

void ModelObject::set_threads(const Napi::CallbackInfo& info) {
  const Open& opened = open(info.Env());
  const double count = info[0].IsNumber() ? info[0].As<Napi::Number>().DoubleValue() : 0;
  if (!(count >= 1 && count <= most_threads)) {
    throw coded_error(info.Env(), "argument", "[model] setThreads takes 1 to " + std::to_string(most_threads));
  }
  opened.model->backend().set_threads(static_cast<int>(count));
}

void ModelObject::close(const Napi::CallbackInfo&) {
  // The model is destroyed on its worker: if the worker ended first, this thread would have to do it.
  const std::shared_ptr<Worker> worker = open_.worker;
  let_go();
  if (worker) worker->close();
}

void register_model(Napi::Env env, Napi::Object exports) {
  const Napi::Function constructor =
      ModelObject::DefineClass(env, "Model",
                               {ModelObject::InstanceAccessor<&ModelObject::description>("description"),
                                ModelObject::InstanceAccessor<&ModelObject::device>("device"),
                                ModelObject::InstanceAccessor<&ModelObject::packed>("packed"),
                                ModelObject::InstanceAccessor<&ModelObject::vocabulary_size>("vocabularySize"),
                                ModelObject::InstanceAccessor<&ModelObject::context_length>("contextLength"),
                                ModelObject::InstanceMethod<&ModelObject::create_session>("createSession"),
                                ModelObject::InstanceMethod<&ModelObject::observed>("observed"),
                                ModelObject::InstanceMethod<&ModelObject::embed>("embed"),
                                ModelObject::InstanceMethod<&ModelObject::rank>("rank"),
                                ModelObject::InstanceMethod<&ModelObject::expert_bytes_read>("expertBytesRead"),
                                ModelObject::InstanceMethod<&ModelObject::scratch_bytes>("scratchBytes"),
                                ModelObject::InstanceMethod<&ModelObject::memory_plan>("memoryPlan"),
                                ModelObject::InstanceMethod<&ModelObject::prompt_cache>("promptCache"),
                                ModelObject::InstanceMethod<&ModelObject::set_prompt_cache>("setPromptCache"),
                                ModelObject::InstanceMethod<&ModelObject::clear_prompt_cache>("clearPromptCache"),
                                ModelObject::InstanceMethod<&ModelObject::set_prompt_cache_disk>("setPromptCacheDisk"),
                                ModelObject::InstanceMethod<&ModelObject::erase_prompt_cache>("erasePromptCache"),
                                ModelObject::InstanceMethod<&ModelObject::flush_prompt_cache>("flushPromptCache"),
                                ModelObject::InstanceMethod<&ModelObject::draft_logits>("draftLogits"),
                                ModelObject::InstanceMethod<&ModelObject::see>("see"),
                                ModelObject::InstanceMethod<&ModelObject::profile>("profile"),
                                ModelObject::InstanceMethod<&ModelObject::kernel_times>("kernelTimes"),
                                ModelObject::InstanceMethod<&ModelObject::set_threads>("setThreads"),
                                ModelObject::InstanceMethod<&ModelObject::relieve_memory>("relieveMemory"),
                                ModelObject::InstanceMethod<&ModelObject::close>("close")});
  Environment::of(env).model = Napi::Persistent(constructor);
  exports.Set("Model", constructor);
  exports.Set("load", Napi::Function::New(env, load));
}

}  // namespace longhand
