// testing.*: the readers and the dequantisation without an engine, for test/native/formats and the corpus replay.
#include "addon/registry.h"
#include "addon/values/errors.h"
#include "addon/values/values.h"
#include "formats/blocks.h"
#include "formats/checkpoint.h"
#include "formats/gguf/gguf.h"
#include "formats/safetensors.h"
#include "formats/verify.h"

namespace longhand {
namespace {

const char* container_name(Container container) {
  switch (container) {
    case Container::safetensors: return "safetensors";
    case Container::mlx: return "mlx";
    case Container::gguf: return "gguf";
  }
  return "";
}

std::span<const std::byte> bytes_argument(const Napi::CallbackInfo& info, size_t index) {
  if (!info[index].IsTypedArray()) throw Napi::TypeError::New(info.Env(), "[testing] bytes must be a Uint8Array");
  const auto array = info[index].As<Napi::Uint8Array>();
  return {reinterpret_cast<const std::byte*>(array.Data()), array.ByteLength()};
}

Napi::Array strings_to_js(Napi::Env env, std::span<const std::string> strings) {
  Napi::Array result = Napi::Array::New(env, strings.size());
  for (uint32_t i = 0; i < strings.size(); ++i) result.Set(i, strings[i]);
  return result;
}

Napi::Object tensor_to_js(Napi::Env env, const WeightView& view) {
  Napi::Object result = Napi::Object::New(env);
  Napi::Array shape = Napi::Array::New(env, view.shape.size());
  for (uint32_t i = 0; i < view.shape.size(); ++i) shape.Set(i, static_cast<double>(view.shape[i]));
  result.Set("name", view.name);
  result.Set("type", name_of(view.type));
  result.Set("shape", shape);
  result.Set("bytes", static_cast<double>(stored_bytes(view)));
  result.Set("file", view.file);
  result.Set("hasData", view.data != nullptr);
  return result;
}

Napi::Array tensors_to_js(Napi::Env env, std::span<const WeightView> views) {
  Napi::Array result = Napi::Array::New(env, views.size());
  for (uint32_t i = 0; i < views.size(); ++i) result.Set(i, tensor_to_js(env, views[i]));
  return result;
}

Napi::Object checkpoint_to_js(Napi::Env env, const Checkpoint& checkpoint) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("container", container_name(checkpoint.container()));
  result.Set("config", to_js(env, checkpoint.config()));
  result.Set("files", strings_to_js(env, checkpoint.files()));
  result.Set("notices", strings_to_js(env, checkpoint.notices()));
  result.Set("tensors", tensors_to_js(env, checkpoint.tensors()));
  return result;
}

// openCheckpoint(path, headersOnly)
Napi::Value open(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Read what = info[1].ToBoolean() ? Read::headers : Read::all;
    return checkpoint_to_js(info.Env(), *open_checkpoint(string_argument(info, 0, "path"), what));
  });
}

Container container_named(const std::string& name) {
  if (name == "gguf") return Container::gguf;
  return name == "mlx" ? Container::mlx : Container::safetensors;
}

// Whether every byte of a view lies in one of the page-aligned mappings.
bool in_place(const Checkpoint& checkpoint, const std::byte* from, size_t bytes) {
  for (const Mapping& mapping : checkpoint.mappings()) {
    const std::byte* base = mapping.bytes.data();
    if (from >= base && from + bytes <= base + mapping.bytes.size())
      return reinterpret_cast<uintptr_t>(base) % 4096 == 0;
  }
  return false;
}

// copiedTensors(path): names of tensors (and of their scales or biases) that are not used where they lie in the file.
Napi::Value copied_tensors(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto checkpoint = open_checkpoint(string_argument(info, 0, "path"));
    std::vector<std::string> copied;
    for (const WeightView& view : checkpoint->tensors()) {
      const GroupScales& a = view.affine;
      if (!in_place(*checkpoint, view.data, view.data_bytes)) copied.push_back(view.name);
      if (a.scales != nullptr && !in_place(*checkpoint, a.scales, 1)) copied.push_back(view.name + " scales");
      if (a.biases != nullptr && !in_place(*checkpoint, a.biases, 1)) copied.push_back(view.name + " biases");
    }
    return strings_to_js(info.Env(), copied);
  });
}

// fromHeaders(container, config text, [{name, type, shape}])
Napi::Value from_headers(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Container container = container_named(string_argument(info, 0, "container"));
    std::vector<WeightView> views;
    const auto entries = info[2].As<Napi::Array>();
    for (uint32_t i = 0; i < entries.Length(); ++i) {
      const auto entry = entries.Get(i).As<Napi::Object>();
      const std::string type = entry.Get("type").ToString();
      const std::optional<DType> known = type_named(container, type);
      if (!known) throw std::invalid_argument("[testing] unknown type " + type);
      WeightView view;
      view.name = entry.Get("name").ToString();
      view.type = *known;
      const auto shape = entry.Get("shape").As<Napi::Array>();
      for (uint32_t d = 0; d < shape.Length(); ++d) view.shape.push_back(shape.Get(d).ToNumber().Int64Value());
      views.push_back(std::move(view));
    }
    Json config = Json::parse(string_argument(info, 1, "config"), "config", "config.json");
    return checkpoint_to_js(info.Env(), *checkpoint_from_headers(container, std::move(config), std::move(views)));
  });
}

// dequantise(path, tensor) -> Float32Array
Napi::Value dequantise(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto checkpoint = open_checkpoint(string_argument(info, 0, "path"));
    const WeightView* view = checkpoint->find(string_argument(info, 1, "tensor"));
    if (view == nullptr) throw std::invalid_argument("[testing] no such tensor");
    const std::vector<float> values = to_floats(*view);
    Napi::Float32Array result = Napi::Float32Array::New(info.Env(), values.size());
    std::copy(values.begin(), values.end(), result.Data());
    return result;
  });
}

// unsupportedQuantisation(config text) -> sentence or null
Napi::Value unsupported(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const Json config = Json::parse(string_argument(info, 0, "config"), "config", "config.json");
    const std::optional<std::string> sentence = unsupported_quantisation(config);
    return sentence ? Napi::String::New(info.Env(), *sentence).As<Napi::Value>() : info.Env().Null();
  });
}

// metadataStrings(path, key)
Napi::Value metadata_strings(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto checkpoint = open_checkpoint(string_argument(info, 0, "path"));
    return strings_to_js(info.Env(), checkpoint->metadata_strings(string_argument(info, 1, "key")));
  });
}

// verifyWeights(path, allValues)
Napi::Value verify_weights(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const auto checkpoint = open_checkpoint(string_argument(info, 0, "path"));
    verify(*checkpoint, info[1].ToBoolean() ? Verify::values : Verify::scales);
    return info.Env().Undefined();
  });
}

// parseJson(bytes)
Napi::Value parse_json(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    const std::span<const std::byte> bytes = bytes_argument(info, 0);
    return to_js(info.Env(), Json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "json"));
  });
}

// readSafetensors(bytes), readGguf(bytes): the tensors of a file in memory.
Napi::Value read_safetensors_bytes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return tensors_to_js(info.Env(), read_safetensors(bytes_argument(info, 0), "bytes", 0).tensors);
  });
}
Napi::Value read_gguf_bytes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    return tensors_to_js(info.Env(), read_gguf(bytes_argument(info, 0), "bytes", 0).tensors);
  });
}

// assemble(config text, safetensors bytes): a checkpoint of one file in memory, its weights verified.
Napi::Value assemble_bytes(const Napi::CallbackInfo& info) {
  return guarded(info.Env(), [&]() -> Napi::Value {
    CheckpointParts parts;
    parts.config = Json::parse(string_argument(info, 0, "config"), "config", "config.json");
    parts.tensors = read_safetensors(bytes_argument(info, 1), "bytes", -1).tensors;
    const auto checkpoint = assemble(std::move(parts), Read::all);
    verify(*checkpoint, Verify::values);
    return checkpoint_to_js(info.Env(), *checkpoint);
  });
}

}  // namespace

void register_testing_formats(Napi::Env env, Napi::Object exports) {
  Napi::Object testing = testing_object(env, exports);
  const auto add = [&](const char* name, Napi::Value (*call)(const Napi::CallbackInfo&)) {
    testing.Set(name, Napi::Function::New(env, call, name));
  };
  add("openCheckpoint", open);
  add("fromHeaders", from_headers);
  add("dequantise", dequantise);
  add("metadataStrings", metadata_strings);
  add("verifyWeights", verify_weights);
  add("parseJson", parse_json);
  add("readSafetensors", read_safetensors_bytes);
  add("readGguf", read_gguf_bytes);
  add("copiedTensors", copied_tensors);
  add("assemble", assemble_bytes);
  add("unsupportedQuantisation", unsupported);
}

}  // namespace longhand
