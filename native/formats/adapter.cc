#include "formats/adapter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "formats/error.h"
#include "formats/safetensors.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

namespace fs = std::filesystem;
constexpr size_t max_adapter_config = 1u << 20;
constexpr int64_t max_adapter_rank = 4096;
constexpr std::string_view peft_prefix = "base_model.model.";
constexpr std::string_view down_suffix = ".lora_A.weight";
constexpr std::string_view up_suffix = ".lora_B.weight";

[[noreturn]] void refuse_adapter(const std::string& what) { throw FormatError("[adapter] " + what); }

std::string adapter_shape(const WeightView& view) {
  std::string text = "[";
  for (size_t i = 0; i < view.shape.size(); ++i) text += (i ? ", " : "") + std::to_string(view.shape[i]);
  return text + "]";
}

struct AdapterSettings {
  int64_t rank;
  float factor;
  std::vector<std::string> bases;  // checksums of the models it was made for; empty: unknown
};

std::vector<std::string> read_bases(const Json& config) {
  const Json* told = config.find("base_checksum");
  if (told == nullptr) return {};
  if (const std::string* one = told->string()) return {*one};
  const auto* several = told->array();
  std::vector<std::string> bases;
  for (const Json& base : several ? *several : JsonArray{}) {
    if (const std::string* one = base.string()) bases.push_back(*one);
  }
  if (bases.empty() || bases.size() != several->size())
    refuse_adapter("adapter_config.json: \"base_checksum\" is neither a text nor a list of texts");
  return bases;
}

AdapterSettings read_adapter_settings(const fs::path& folder) {
  const fs::path path = folder / "adapter_config.json";
  const Json config =
      Json::parse(read_text(path.string(), "adapter", max_adapter_config), "adapter", "adapter_config.json");
  const Json* rank = config.find("r");
  const Json* alpha = config.find("lora_alpha");
  const int64_t* r = rank ? rank->integer() : nullptr;
  if (r == nullptr || *r < 1 || *r > max_adapter_rank)
    refuse_adapter("adapter_config.json: \"r\" is not a whole number from 1 to " + std::to_string(max_adapter_rank));
  double storage = 0;
  const double* a = alpha ? alpha->number(storage) : nullptr;
  if (a == nullptr || !std::isfinite(*a)) refuse_adapter("adapter_config.json: \"lora_alpha\" is not a number");
  return {*r, static_cast<float>(*a / static_cast<double>(*r)), read_bases(config)};
}

bool adaptable(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::bf16; }

// FNV-1a over the first bytes of the matrices that change: enough to know a model by.
class Checksum {
 public:
  void add(const WeightView& view) {
    for (const std::byte byte : std::span(view.data, std::min(view.data_bytes, size_t{4096})))
      sum_ = (sum_ ^ std::to_integer<uint64_t>(byte)) * 0x100000001b3u;
  }
  std::string text() const {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(sum_));
    return digits.data();
  }

 private:
  uint64_t sum_ = 0xcbf29ce484222325u;
};

// W + factor B A, [out, in].
std::vector<float> with_adapter(const WeightView& base, const WeightView& down, const WeightView& up,
                                const AdapterSettings& scale) {
  const bool fits = base.shape.size() == 2 && down.shape == std::vector<int64_t>{scale.rank, base.shape[1]} &&
                    up.shape == std::vector<int64_t>{base.shape[0], scale.rank};
  if (!fits)
    refuse_adapter("\"" + printable(base.name) + "\" is " + adapter_shape(base) + ", its adapter " + adapter_shape(up) +
                   " by " + adapter_shape(down) + "; allowed: [out, " + std::to_string(scale.rank) + "] by [" +
                   std::to_string(scale.rank) + ", in]");
  std::vector<float> w = to_floats(base);
  const std::vector<float> a = to_floats(down), b = to_floats(up);
  const auto rank = static_cast<size_t>(scale.rank), in = static_cast<size_t>(base.shape[1]);
  for (size_t row = 0; row * in < w.size(); ++row) {
    for (size_t r = 0; r < rank; ++r) {
      const float factor = scale.factor * b[row * rank + r];
      for (size_t i = 0; i < in; ++i) w[row * in + i] += factor * a[r * in + i];
    }
  }
  return w;
}

class Adapter {
 public:
  Adapter(CheckpointParts& parts, const fs::path& folder)
      : parts_(parts),
        settings_(read_adapter_settings(folder)),
        file_((folder / "adapter_model.safetensors").string(), "adapter") {
    for (size_t i = 0; i < parts.tensors.size(); ++i) by_name_.emplace(parts.tensors[i].name, i);
    for (WeightView& view : read_safetensors(file_.bytes(), "adapter_model.safetensors", -1).tensors) {
      if (!view.name.starts_with(peft_prefix))
        refuse_adapter("tensor \"" + printable(view.name) + "\" does not begin with " + std::string(peft_prefix));
      if (!adaptable(view.type))
        refuse_adapter("tensor \"" + printable(view.name) + "\" is of type " + name_of(view.type));
      view.name.erase(0, peft_prefix.size());
      std::string name = view.name;
      own_.emplace(std::move(name), std::move(view));
    }
  }

  void run() {
    for (const auto& [name, view] : own_) {
      if (name.ends_with(down_suffix)) continue;
      if (name.ends_with(up_suffix)) {
        merge(name.substr(0, name.size() - up_suffix.size()), view);
      } else {
        put(view, to_floats(view));
      }
    }
    for (const auto& [name, view] : own_) {
      if (!name.ends_with(down_suffix)) continue;
      const std::string module = name.substr(0, name.size() - down_suffix.size());
      if (!own_.contains(module + std::string(up_suffix)))
        refuse_adapter("\"" + printable(module) + "\" has no lora_B");
    }
    const auto& bases = settings_.bases;
    if (!bases.empty() && std::find(bases.begin(), bases.end(), checksum_.text()) == bases.end())
      refuse_adapter("it was made for a model with the checksum " + printable(bases[0]) + ", this one has " +
                     checksum_.text());
    parts_.notices.push_back("an adapter is put on " + std::to_string(merged_) + " matrices");
  }

 private:
  void merge(const std::string& module, const WeightView& up) {
    const auto down = own_.find(module + std::string(down_suffix));
    if (down == own_.end()) refuse_adapter("\"" + printable(module) + "\" has no lora_A");
    const auto at = by_name_.find(module + ".weight");
    if (at == by_name_.end()) refuse_adapter("the model has no \"" + printable(module) + ".weight\"");
    const WeightView& base = parts_.tensors[at->second];
    if (!adaptable(base.type) && base.type != DType::affine)
      throw Unsupported("[adapter] \"" + printable(base.name) + "\" is of type " + name_of(base.type) +
                        "; an adapter goes on f32, f16, bf16 and affine");
    checksum_.add(base);
    put(base, with_adapter(base, down->second, up, settings_));
    ++merged_;
  }

  // `values` under the name and with the shape of `like`.
  void put(const WeightView& like, const std::vector<float>& values) {
    WeightView view{.name = like.name, .shape = like.shape};
    view.data_bytes = values.size() * sizeof(float);
    view.file = -1;
    std::unique_ptr<std::byte[]> memory(new std::byte[view.data_bytes]);
    std::memcpy(memory.get(), values.data(), view.data_bytes);
    view.data = memory.get();
    parts_.owned.push_back(std::move(memory));
    const auto at = by_name_.find(view.name);
    if (at == by_name_.end()) {
      parts_.tensors.push_back(std::move(view));
    } else if (view.shape == parts_.tensors[at->second].shape) {
      parts_.tensors[at->second] = std::move(view);
    } else {
      refuse_adapter("\"" + printable(view.name) + "\" is " + adapter_shape(view) + ", of the model " +
                     adapter_shape(parts_.tensors[at->second]));
    }
  }

  CheckpointParts& parts_;
  AdapterSettings settings_;
  MappedFile file_;
  std::unordered_map<std::string, size_t> by_name_;
  std::map<std::string, WeightView> own_;  // in the order of the names, as for the checksum
  Checksum checksum_;
  size_t merged_ = 0;
};

}  // namespace

void adapt(CheckpointParts& parts, const std::string& folder) {
  if (parts.container == Container::gguf)
    throw Unsupported("[adapter] the model is a GGUF file; an adapter goes on safetensors");
  Adapter(parts, folder).run();
}

}  // namespace longhand
