// The stand-in's own face in the addon built on it: run one kernel, read the counters, inject faults, make mistakes.
// Used by test/metal only; its TypeScript mirror is test/metal/standin.ts.
#include <napi.h>

#include <cstring>
#include <utility>

#include "addon/registry.h"
#include "compiler/compile.h"
#include "metal/pressure.h"
#include "metal/state.h"
#include "mistakes/mistakes.h"

namespace standin {
namespace {

uint64_t integer(const Napi::Object& from, const char* name, uint64_t otherwise) {
  return from.Has(name) ? static_cast<uint64_t>(from.Get(name).ToNumber().Int64Value()) : otherwise;
}
std::string text(const Napi::Object& from, const char* name) {
  return from.Has(name) ? from.Get(name).ToString().Utf8Value() : "";
}

// { check, banks, dry, order: 'forward' | 'reverse' | 'random', seed, workers }
void set_options(const Napi::CallbackInfo& info) {
  const Napi::Object given = info[0].As<Napi::Object>();
  Options& to = options();
  to = Options{};
  to.check = given.Has("check") && given.Get("check").ToBoolean().Value();
  to.banks = given.Has("banks") && given.Get("banks").ToBoolean().Value();
  to.dry = given.Has("dry") && given.Get("dry").ToBoolean().Value();
  const std::string order = text(given, "order");
  to.order = order == "reverse" ? Order::reverse : order == "random" ? Order::random : Order::forward;
  to.seed = integer(given, "seed", 1);
  to.workers = static_cast<int>(integer(given, "workers", 1));
}

void set_faults(const Napi::CallbackInfo& info) {
  const Napi::Object given = info[0].As<Napi::Object>();
  std::lock_guard guard(state().lock);
  Faults& to = state().faults;
  to = Faults{};
  to.no_device = given.Has("noDevice") && given.Get("noDevice").ToBoolean().Value();
  to.memory_limit = integer(given, "memoryLimit", 0);
  to.max_buffer = integer(given, "maxBuffer", 0);
  to.device_name = text(given, "deviceName");
  to.family = static_cast<int>(integer(given, "family", 0));
  to.compile_error = text(given, "compileError");
  to.hold_compile = text(given, "holdCompile");
  to.command_buffer = static_cast<int>(integer(given, "commandBuffer", 0));
  to.command_buffer_code = static_cast<int>(integer(given, "commandBufferCode", 1));
  to.spoil_kernel = text(given, "spoilKernel");
  to.spoil_argument = static_cast<int>(integer(given, "spoilArgument", 0));
  to.pipeline_threads = static_cast<unsigned>(integer(given, "pipelineThreads", 0));
  state().changed.notify_all();
}

// { costs?: [words: string[], ns: number][], broken? }
void set_clock(const Napi::CallbackInfo& info) {
  const Napi::Object given = info[0].As<Napi::Object>();
  std::lock_guard guard(state().lock);
  Clock& to = state().clock;
  to.costs.clear();
  to.broken = given.Has("broken") && given.Get("broken").ToBoolean().Value();
  if (!given.Has("costs")) return;
  const Napi::Array rules = given.Get("costs").As<Napi::Array>();
  for (uint32_t i = 0; i < rules.Length(); i++) {
    const Napi::Array rule = rules.Get(i).As<Napi::Array>(), words = rule.Get(0u).As<Napi::Array>();
    auto& made = to.costs.emplace_back();
    for (uint32_t j = 0; j < words.Length(); j++) made.first.push_back(words.Get(j).ToString().Utf8Value());
    made.second = static_cast<uint64_t>(rule.Get(1u).ToNumber().Int64Value());
  }
}

Napi::Value counters(const Napi::CallbackInfo& info) {
  std::lock_guard guard(state().lock);
  const Counters& from = state().counters;
  Napi::Object all = Napi::Object::New(info.Env());
  const auto put = [&](Napi::Object to, const char* name, uint64_t value) { to.Set(name, static_cast<double>(value)); };
  put(all, "dispatches", from.dispatches);
  put(all, "barriers", from.barriers);
  put(all, "commandBuffers", from.command_buffers);
  put(all, "mostInFlight", static_cast<uint64_t>(from.most_in_flight));
  put(all, "waits", from.waits);
  put(all, "archiveHits", from.archive_hits);
  put(all, "archiveMisses", from.archive_misses);
  put(all, "pipelines", from.pipelines);
  put(all, "librariesRead", from.libraries_read);
  put(all, "heldCompiles", from.held_compiles);
  put(all, "allocated", from.allocated);
  put(all, "heapBytes", from.heap_bytes);
  put(all, "residentBytes", from.resident);
  put(all, "queues", from.queues);
  put(all, "threads", from.work.threads);
  put(all, "simdOperations", from.work.simd_operations);
  put(all, "matrixOperations", from.work.matrix_operations);
  put(all, "threadgroupBytes", from.work.threadgroup_bytes);
  put(all, "compiled", static_cast<uint64_t>(compiled_count()));
  Napi::Object bytes = Napi::Object::New(info.Env());
  for (const auto& [label, count] : from.bytes) {
    Napi::Object each = Napi::Object::New(info.Env());
    put(each, "read", count.read);
    put(each, "written", count.written);
    bytes.Set(label, each);
  }
  all.Set("bytes", bytes);
  Napi::Object kernels = Napi::Object::New(info.Env());
  for (const auto& [name, count] : from.kernels) kernels.Set(name, static_cast<double>(count));
  all.Set("kernels", kernels);
  Napi::Object groups = Napi::Object::New(info.Env());
  for (const auto& [name, count] : from.threadgroups) groups.Set(name, static_cast<double>(count));
  all.Set("threadgroups", groups);
  Napi::Object conflicts = Napi::Object::New(info.Env());
  for (const auto& [name, count] : from.bank_conflicts) conflicts.Set(name, static_cast<double>(count));
  all.Set("bankConflicts", conflicts);
  return all;
}

void reset(const Napi::CallbackInfo&) {
  std::lock_guard guard(state().lock);
  const Counters before = std::exchange(state().counters, Counters{});
  state().counters.allocated = before.allocated;
  state().counters.heap_bytes = before.heap_bytes;
  state().counters.resident = before.resident;
  state().counters.queues = before.queues;
  state().counters.held_compiles = before.held_compiles;
}

mtl_u3 size(const Napi::Value& value) {
  const Napi::Array from = value.As<Napi::Array>();
  const auto at = [&](uint32_t i) { return from.Length() > i ? from.Get(i).ToNumber().Uint32Value() : 1u; };
  return {at(0), at(1), at(2)};
}

void set_constants(const mtl_library_desc& library, const Napi::Object& given) {
  for (unsigned i = 0; i < library.nfcs; i++) {
    const mtl_fc_desc& constant = library.fcs[i];
    const std::string index = std::to_string(constant.index);
    memset(constant.value, 0, constant.size);
    *constant.defined = given.Has(index);
    if (!*constant.defined) continue;
    const uint32_t value = given.Get(index).ToNumber().Uint32Value();
    memcpy(constant.value, &value, constant.size);
  }
}

// { source, language?, kernel?, grid, threads, buffers: TypedArray[], threadgroupBytes?: number[], constants? } -> {
// error, stage, bankConflicts? } stage: 'compile' when the text was refused, 'run' when the kernel faulted, '' when all
// went well.
Napi::Value run_kernel(const Napi::CallbackInfo& info) {
  const Napi::Object given = info[0].As<Napi::Object>();
  Napi::Object result = Napi::Object::New(info.Env());
  const auto answer = [&](const char* stage, const std::string& error) {
    result.Set("stage", stage);
    result.Set("error", error);
    return result;
  };
  CompileOptions how;
  how.check = options().check;
  how.language = static_cast<int>(integer(given, "language", how.language));
  const Library library = compile(text(given, "source"), how);
  if (!library.error.empty()) return answer("compile", library.error);
  const std::string wanted = text(given, "kernel");
  Dispatch dispatch;
  for (unsigned i = 0; i < library.description->nkernels; i++)
    if (wanted.empty() || wanted == library.description->kernels[i].name)
      dispatch.kernel = &library.description->kernels[i];
  dispatch.grid = size(given.Get("grid"));
  dispatch.threadgroup = size(given.Get("threads"));
  const Napi::Array buffers = given.Get("buffers").As<Napi::Array>();
  for (uint32_t i = 0; i < buffers.Length(); i++) {
    if (!buffers.Get(i).IsTypedArray()) continue;
    const Napi::TypedArray view = buffers.Get(i).As<Napi::TypedArray>();
    dispatch.buffer[i] = static_cast<char*>(view.ArrayBuffer().Data()) + view.ByteOffset();
    dispatch.buffer_bytes[i] = view.ByteLength();
  }
  if (given.Has("threadgroupBytes")) {
    const Napi::Array lengths = given.Get("threadgroupBytes").As<Napi::Array>();
    for (uint32_t i = 0; i < lengths.Length(); i++)
      dispatch.threadgroup_bytes[i] = lengths.Get(i).ToNumber().Uint32Value();
  }
  set_constants(*library.description,
                given.Has("constants") ? given.Get("constants").As<Napi::Object>() : Napi::Object::New(info.Env()));
  Work work;
  const std::string fault = run(dispatch, &work);
  if (options().banks) result.Set("bankConflicts", static_cast<double>(work.bank_conflicts));
  return answer(fault.empty() ? "" : "run", fault);
}

// { source, macros, constants: { index: value } } -> { text, error }: every kernel as LLVM's instructions, with these
// function constants.
Napi::Value listing_of(const Napi::CallbackInfo& info) {
  const Napi::Object given = info[0].As<Napi::Object>();
  const auto entries = [&](const char* name, const auto& take) {
    if (!given.Has(name)) return;
    const Napi::Object all = given.Get(name).As<Napi::Object>();
    const Napi::Array names = all.GetPropertyNames();
    for (uint32_t i = 0; i < names.Length(); i++) take(names.Get(i).ToString().Utf8Value(), all.Get(names.Get(i)));
  };
  CompileOptions how;
  entries("macros",
          [&](const std::string& name, const Napi::Value& value) { how.macros[name] = value.ToString().Utf8Value(); });
  std::map<int, uint32_t> constants;
  entries("constants", [&](const std::string& name, const Napi::Value& value) {
    constants[std::stoi(name)] = value.ToNumber().Uint32Value();
  });
  const Listing listing = list(text(given, "source"), how, constants);
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("text", listing.text);
  result.Set("error", listing.error);
  return result;
}

// 'warning' | 'critical'
void pressure(const Napi::CallbackInfo& info) { raise_pressure(info[0].ToString().Utf8Value() == "critical"); }

// A host program with one mistake in it: what was noticed, "" when nothing was.
Napi::Value mistake(const Napi::CallbackInfo& info) {
  return Napi::String::New(info.Env(), make_mistake(info[0].ToString().Utf8Value()));
}

}  // namespace

void register_standin(Napi::Env env, Napi::Object exports) {
  Napi::Object face = Napi::Object::New(env);
  face.Set("options", Napi::Function::New(env, set_options));
  face.Set("faults", Napi::Function::New(env, set_faults));
  face.Set("clock", Napi::Function::New(env, set_clock));
  face.Set("counters", Napi::Function::New(env, counters));
  face.Set("reset", Napi::Function::New(env, reset));
  face.Set("run", Napi::Function::New(env, run_kernel));
  face.Set("listing", Napi::Function::New(env, listing_of));
  face.Set("pressure", Napi::Function::New(env, pressure));
  face.Set("mistake", Napi::Function::New(env, mistake));
  exports.Set("standin", face);
}

}  // namespace standin

static Napi::Object standin_init(Napi::Env env, Napi::Object exports) {
  for (const longhand::Registration registration : longhand::registrations) registration(env, exports);
  standin::register_standin(env, exports);
  return exports;
}
NODE_API_MODULE(longhand_standin, standin_init)
