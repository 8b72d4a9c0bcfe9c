// The verdict on a configuration and a table of tensors, as they come from the network.
// Input: a JSON object {"container": "safetensors" | "mlx" | "gguf", "config": {...}, "tensors": [[name, type,
// [sizes]]]}.
#include "architectures/shared/describe.h"

#include "target.h"

namespace {

using namespace longhand;

const Json& member(const Json& of, const char* key) {
  static const Json nothing;
  const Json* found = of.find(key);
  return found != nullptr ? *found : nothing;
}

std::string text(const Json& value) { return value.string() != nullptr ? *value.string() : ""; }

std::vector<WeightView> table(const Json& entries, Container container) {
  std::vector<WeightView> views;
  if (entries.array() == nullptr) return views;
  for (const Json& entry : *entries.array()) {
    if (entry.array() == nullptr || entry.array()->size() != 3) continue;
    const JsonArray& parts = *entry.array();
    const std::optional<DType> type = type_named(container, text(parts[1]));
    if (!type || parts[2].array() == nullptr) continue;
    WeightView view;
    view.name = text(parts[0]);
    view.type = *type;
    for (const Json& size : *parts[2].array()) view.shape.push_back(size.integer() != nullptr ? *size.integer() : -1);
    views.push_back(std::move(view));
  }
  return views;
}

Container container_of(const Json& input) {
  const std::string name = text(member(input, "container"));
  if (name == "gguf") return Container::gguf;
  return name == "mlx" ? Container::mlx : Container::safetensors;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return refusable([&] {
    const Json input = Json::parse({reinterpret_cast<const char*>(data), size}, "input");
    const Container container = container_of(input);
    describe(checkpoint_from_headers(container, member(input, "config"), table(member(input, "tensors"), container)));
  });
}
