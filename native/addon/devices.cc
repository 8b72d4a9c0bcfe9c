// `devices`, and the only place that knows the factories of the back ends.
#include "addon/devices.h"

#include <charconv>
#include <cstdlib>

#include "addon/convert.h"
#include "addon/registry.h"
#include "formats/error.h"

namespace longhand {

namespace {

constexpr int most_vulkan_devices = 16;

std::string forced_instructions(const DeviceChoice& choice) {
  if (!choice.instructions.empty()) return choice.instructions;
  const char* forced = std::getenv("LONGHAND_CPU");
  return forced ? forced : "";
}

DeviceEntry entry(std::string back_end, std::string id, Creation creation) {
  DeviceEntry out{std::move(back_end), std::move(id), creation.backend != nullptr, {}, std::move(creation.reason)};
  if (creation.backend) out.info = creation.backend->device();
  return out;
}

Creation create(const DeviceChoice& choice) {
  if (choice.id == "cpu") return create_cpu({choice.threads, forced_instructions(choice)});
  if (choice.id == "metal") return create_metal(choice.standin);
  int index = 0;
  const std::string prefix = "vulkan:";
  if (choice.id == "vulkan") return create_vulkan(0);
  if (choice.id.starts_with(prefix) &&
      std::from_chars(choice.id.data() + prefix.size(), choice.id.data() + choice.id.size(), index).ec == std::errc{}) {
    return create_vulkan(index);
  }
  return {nullptr, "there is no such device, allowed are cpu, metal and vulkan:0, vulkan:1, ..."};
}

}  // namespace

std::vector<DeviceEntry> list_devices() {
  std::vector<DeviceEntry> out;
  out.push_back(entry("metal", "metal", create_metal(false)));
  for (int i = 0; i < most_vulkan_devices; ++i) {
    Creation creation = create_vulkan(i);
    if (!creation.backend && i > 0) break;
    out.push_back(entry("vulkan", "vulkan:" + std::to_string(i), std::move(creation)));
  }
  out.push_back(entry("cpu", "cpu", create_cpu({0, forced_instructions({})})));
  return out;
}

std::string choose_device(const DeviceChoice& choice) {
  if (!choice.id.empty()) return choice.id;
  return create_metal(choice.standin).backend ? "metal" : "cpu";
}

std::unique_ptr<Backend> create_backend(const DeviceChoice& choice) {
  DeviceChoice chosen = choice;
  chosen.id = choose_device(choice);
  Creation creation = create(chosen);
  if (!creation.backend) throw Unsupported("[device] " + chosen.id + ": " + creation.reason);
  return std::move(creation.backend);
}

void register_devices(Napi::Env env, Napi::Object exports) {
  exports.Set("devices", Napi::Function::New(env, [](const Napi::CallbackInfo& info) -> Napi::Value {
                Napi::Array out = Napi::Array::New(info.Env());
                for (const DeviceEntry& device : list_devices()) out.Set(out.Length(), to_js(info.Env(), device));
                return out;
              }));
}

}  // namespace longhand
