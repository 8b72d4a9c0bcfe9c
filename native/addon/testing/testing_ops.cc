#include "addon/testing/testing_ops.h"

#include <limits>
#include <memory>

#include "addon/registry.h"
#include "addon/values/values.h"

namespace longhand {
namespace testing {
namespace {

constexpr int64_t poisoned_floats = 1 << 18;

DType type_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DType::gguf_mxfp4); ++i)
    if (name == name_of(static_cast<DType>(i))) return static_cast<DType>(i);
  throw std::runtime_error("[testing] no element type \"" + name + "\"");
}

// Owns the bytes that a view of JavaScript memory points to: weights may stay views.
std::shared_ptr<std::vector<std::byte>> bytes_of(const Napi::Value& value) {
  const auto array = value.As<Napi::Uint8Array>();
  const auto* from = reinterpret_cast<const std::byte*>(array.Data());
  return std::make_shared<std::vector<std::byte>>(from, from + array.ByteLength());
}

struct OwnedView {
  WeightView view;
  std::vector<std::shared_ptr<std::vector<std::byte>>> memory;
};

OwnedView view_of(const Napi::Object& object) {
  OwnedView owned;
  owned.view.type = type_named(object.Get("type").ToString());
  const auto shape = object.Get("shape").As<Napi::Array>();
  for (uint32_t i = 0; i < shape.Length(); ++i) owned.view.shape.push_back(shape.Get(i).ToNumber().Int64Value());
  const auto copied = [&](const char* name) -> const std::byte* {
    if (!object.Has(name)) return nullptr;
    owned.memory.push_back(bytes_of(object.Get(name)));
    return owned.memory.back()->data();
  };
  owned.view.data = copied("data");
  owned.view.data_bytes = owned.memory.back()->size();
  owned.view.affine.scales = copied("scales");
  owned.view.affine.biases = copied("biases");
  if (object.Has("bits")) owned.view.affine.bits = object.Get("bits").ToNumber().Int32Value();
  if (object.Has("group")) owned.view.affine.group = object.Get("group").ToNumber().Int32Value();
  if (object.Has("globalScale")) owned.view.affine.global_scale = object.Get("globalScale").ToNumber().FloatValue();
  if (object.Has("scaleType")) owned.view.affine.scale_type = type_named(object.Get("scaleType").ToString());
  return owned;
}

// Each kind of device is opened once. They are closed while the environment ends: when the process runs its exit
// handlers, drivers may have put away what they need for it.
using Backends = std::map<std::string, std::unique_ptr<Backend>>;
Backends& opened_backends(Napi::Env env) {
  static Backends* opened = [env]() mutable {
    auto* made = new Backends;
    env.AddCleanupHook([](Backends* leaving) { leaving->clear(); }, made);
    return made;
  }();
  return *opened;
}

Backend& backend_for(const Napi::Object& device) {
  const auto text = [&](const char* name) { return device.Has(name) ? device.Get(name).ToString().Utf8Value() : ""; };
  const std::string key = text("backEnd") + " " + text("instructions") + " " + text("threads");
  std::unique_ptr<Backend>& backend = opened_backends(device.Env())[key];
  if (backend) return *backend;
  Creation creation =
      text("backEnd") == "metal" ? create_metal(true)
      : text("backEnd") == "vulkan"
          ? create_vulkan(0)
          : create_cpu({.threads = device.Get("threads").ToNumber(), .instructions = text("instructions")});
  if (!creation.backend) throw std::runtime_error(creation.reason);
  backend = std::move(creation.backend);
  return *backend;
}

// runOp({ backEnd, instructions, threads, path }, op, args)
Napi::Value run_op(const Napi::CallbackInfo& info) {
  try {
    const auto device = info[0].As<Napi::Object>();
    const std::string op = info[1].ToString();
    const Path path = device.Get("path").ToString().Utf8Value() == "fast" ? Path::fast : Path::exact;
    Bench bench(backend_for(device), path, info[2].As<Napi::Object>());
    for (const auto* table : {&row_ops(), &state_ops()})
      if (const auto found = table->find(op); found != table->end()) return found->second(bench);
    throw std::runtime_error("[testing] no op \"" + op + "\"");
  } catch (const std::exception& error) {
    throw Napi::Error::New(info.Env(), error.what());
  }
}

Napi::Value list_instructions(const Napi::CallbackInfo& info) {
  const Napi::Array names = Napi::Array::New(info.Env());
  for (const std::string& name : longhand::cpu_instructions()) names.Set(names.Length(), name);
  return names;
}

}  // namespace

std::vector<float> Bench::floats(const char* name) const {
  const auto array = args.Get(name).As<Napi::Float32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

std::vector<int32_t> Bench::ints(const char* name) const {
  const auto array = args.Get(name).As<Napi::Int32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

BufferPtr Bench::buffer(const char* name) const {
  if (!has(name)) return nullptr;
  const auto array = args.Get(name).As<Napi::TypedArray>();
  BufferPtr made = backend.allocate(array.ByteLength());
  const auto* bytes = static_cast<const std::byte*>(array.ArrayBuffer().Data()) + array.ByteOffset();
  backend.write(*made, 0, bytes, array.ByteLength());
  return made;
}

BufferPtr Bench::required(const char* name) const {
  if (!has(name)) throw std::runtime_error("[testing] no argument \"" + std::string(name) + "\"");
  return buffer(name);
}

Norm Bench::norm(const char* name) const { return {buffer(name), number("eps", 1e-6f)}; }

const Norm* Bench::optional_norm(const char* name) {
  if (!has(name)) return nullptr;
  return &(norms_[name] = norm(name));
}

WeightPtr Bench::weight(const char* name, int64_t experts) {
  const auto list = args.Get(name).As<Napi::Array>();
  auto owned = std::make_shared<std::vector<OwnedView>>();
  std::vector<WeightView> views;
  for (uint32_t i = 0; i < list.Length(); ++i) {
    owned->push_back(view_of(list.Get(i).As<Napi::Object>()));
    views.push_back(owned->back().view);
  }
  return backend.prepare(views, owned, experts);
}

Tensor Bench::input(const char* name, int64_t first, int64_t count) const {
  const auto array = args.Get(name).As<Napi::Float32Array>();
  const int64_t rows = integer("rows");
  const int64_t cols = static_cast<int64_t>(array.ElementLength()) / rows;
  const Tensor tensor = backend.scratch(count, cols);
  backend.write(*tensor.buffer, tensor.offset * sizeof(float), array.Data() + first * cols,
                static_cast<size_t>(count * cols) * sizeof(float));
  return tensor;
}

void Bench::begin() {
  backend.begin({.path = path_});
  const Tensor all = backend.scratch(1, poisoned_floats);
  const std::vector<float> nan(poisoned_floats, std::numeric_limits<float>::quiet_NaN());
  backend.write(*all.buffer, all.offset * sizeof(float), nan.data(), nan.size() * sizeof(float));
  backend.finish();
  backend.begin({.path = path_});
}

void Bench::append(std::vector<float>& to, const Tensor& from) {
  backend.finish();
  const size_t before = to.size();
  to.resize(before + static_cast<size_t>(from.rows * from.cols));
  backend.read(to.data() + before, from);
}

std::vector<int64_t> Bench::chunks(const char* rows_of) const {
  if (!has("chunks")) return {integer(rows_of)};
  const std::vector<int32_t> given = ints("chunks");
  return {given.begin(), given.end()};
}

Napi::Value Bench::array(const std::vector<float>& values) const {
  Napi::Float32Array made = Napi::Float32Array::New(args.Env(), values.size());
  std::copy(values.begin(), values.end(), made.Data());
  return made;
}

Napi::Value Bench::array(const std::vector<int32_t>& values) const {
  Napi::Int32Array made = Napi::Int32Array::New(args.Env(), values.size());
  std::copy(values.begin(), values.end(), made.Data());
  return made;
}

Napi::Value Bench::contents(Buffer& from) const {
  std::vector<float> values(from.bytes() / sizeof(float));
  backend.read(values.data(), from, 0, from.bytes());
  return array(values);
}

}  // namespace testing

void register_testing_ops(Napi::Env env, Napi::Object exports) {
  Napi::Object hooks = testing_object(env, exports);
  hooks.Set("runOp", Napi::Function::New(env, testing::run_op));
  hooks.Set("cpuInstructions", Napi::Function::New(env, testing::list_instructions));
}

}  // namespace longhand
