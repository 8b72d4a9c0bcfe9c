// `inspect` and `describe`: what headers alone tell. `memoryBandwidth`: what a forecast of speed needs beside them.
#include <algorithm>
#include <cctype>

#include "addon/environment.h"
#include "addon/jobs.h"
#include "addon/registry.h"
#include "addon/values/convert.h"
#include "addon/values/errors.h"
#include "addon/values/memory.h"
#include "addon/values/options.h"
#include "engine/machine/bandwidth.h"

namespace longhand {

namespace {

// "BF16", "Q4_0": as files spell it.
std::string file_type(DType type) {
  std::string name = type == DType::gguf_mxfp4 ? "mxfp4" : name_of(type);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

Napi::Value tensor_list(Napi::Env env, const Checkpoint& checkpoint) {
  Napi::Array out = Napi::Array::New(env, checkpoint.tensors().size());
  uint32_t index = 0;
  for (const WeightView& tensor : checkpoint.tensors()) {
    Napi::Array shape = Napi::Array::New(env, tensor.shape.size());
    for (size_t d = 0; d < tensor.shape.size(); ++d)
      shape.Set(static_cast<uint32_t>(d), static_cast<double>(tensor.shape[d]));
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("name", tensor.name);
    entry.Set("type", file_type(tensor.type));
    entry.Set("shape", shape);
    out.Set(index++, entry);
  }
  return out;
}

std::optional<MemoryNeeds> needs_of(const std::shared_ptr<const Checkpoint>& checkpoint, const Description& verdict) {
  if (!verdict.supported()) return std::nullopt;
  return memory_needs(checkpoint, verdict.facts.context);
}

Napi::Value inspect(const Napi::CallbackInfo& info) {
  const std::string tower = Options(info[1], "inspect").text("vision", "");
  return on_own_thread(info.Env(), [path = string_argument(info, 0, "path"), tower]() -> Operation::Convert {
    const std::shared_ptr<const Checkpoint> checkpoint = open_checkpoint(path, Read::headers, "", tower);
    const Description description = describe(checkpoint);
    return [checkpoint, description, needs = needs_of(checkpoint, description)](Napi::Env env) -> Napi::Value {
      Napi::Object out = to_js(env, description, needs);
      out.Set("files", to_js(env, checkpoint->files()));
      out.Set("config", to_js(env, checkpoint->config()));
      out.Set("tensors", tensor_list(env, *checkpoint));
      return out;
    };
  });
}

Container container_argument(const Napi::CallbackInfo& info, size_t index) {
  const std::string name = string_argument(info, index, "container");
  if (name == "safetensors") return Container::safetensors;
  if (name == "mlx") return Container::mlx;
  if (name == "gguf") return Container::gguf;
  throw std::invalid_argument("[describe] container is \"" + name + "\", expected safetensors, mlx or gguf");
}

// A table as it came from remote headers: anything may be in it.
std::vector<WeightView> tensor_table(const Napi::Value& value, Container container, Diagnostics& problems) {
  const auto fail = [] { return std::invalid_argument("[describe] tensors are not a list of {name, type, shape}"); };
  if (!value.IsArray()) throw fail();
  const auto entries = value.As<Napi::Array>();
  std::vector<WeightView> views;
  for (uint32_t i = 0; i < entries.Length(); ++i) {
    const Napi::Value item = entries.Get(i);
    if (!item.IsObject()) throw fail();
    const auto entry = item.As<Napi::Object>();
    if (!entry.Get("name").IsString() || !entry.Get("type").IsString() || !entry.Get("shape").IsArray()) throw fail();
    WeightView view;
    view.name = entry.Get("name").As<Napi::String>().Utf8Value();
    const std::string type = entry.Get("type").As<Napi::String>().Utf8Value();
    const auto shape = entry.Get("shape").As<Napi::Array>();
    for (uint32_t d = 0; d < shape.Length(); ++d) view.shape.push_back(shape.Get(d).ToNumber().Int64Value());
    if (const std::optional<DType> known = type_named(container, type)) {
      view.type = *known;
      views.push_back(std::move(view));
    } else {
      problems.add("[weights] tensor \"" + view.name + "\" holds " + type + ", which this engine cannot read");
    }
  }
  return views;
}

Napi::Value describe_headers(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Container container = container_argument(info, 2);
    Diagnostics unreadable;
    std::vector<WeightView> tensors = tensor_table(info[1], container, unreadable);
    Json config = Json::parse(string_argument(info, 0, "config"), "config", "config.json");
    const auto checkpoint = checkpoint_from_headers(container, std::move(config), std::move(tensors));
    Description description = describe(checkpoint);
    std::vector<std::string>& problems = description.problems.list;
    problems.insert(problems.begin(), unreadable.list.begin(), unreadable.list.end());
    return to_js(info.Env(), description, needs_of(checkpoint, description));
  });
}

Napi::Value bandwidth(const Napi::CallbackInfo& info) {
  return on_own_thread(info.Env(), []() -> Operation::Convert {
    return [measured = memory_bandwidth()](Napi::Env env) -> Napi::Value { return Napi::Number::New(env, measured); };
  });
}

}  // namespace

void register_inspect(Napi::Env env, Napi::Object exports) {
  exports.Set("memoryBandwidth", Napi::Function::New(env, bandwidth));
  exports.Set("describe", Napi::Function::New(env, describe_headers));
  exports.Set("inspect", Napi::Function::New(env, inspect));
}

}  // namespace longhand
