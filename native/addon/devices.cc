// `devices`, and the only place that knows the factories of the back ends.
#include "addon/devices.h"

#include <charconv>

#include "addon/environment.h"
#include "addon/jobs.h"
#include "addon/registry.h"
#include "addon/values/convert.h"
#include "addon/values/options.h"
#include "formats/error.h"

namespace longhand {

namespace {

DeviceEntry entry(std::string back_end, std::string id, Creation creation) {
  DeviceEntry out{std::move(back_end), std::move(id), creation.backend != nullptr, {}, std::move(creation.reason)};
  if (creation.backend) out.info = creation.backend->device();
  return out;
}

Creation create(const DeviceChoice& choice) {
  if (choice.id == "cpu")
    return choice.observe
               ? create_observing_cpu(choice.threads, choice.observe)
               : create_cpu({choice.threads, choice.instructions, choice.packed, choice.model, packing_build()});
  if (choice.id == "metal") return create_metal(choice.standin);
  int index = 0;
  const std::string prefix = "vulkan:";
  if (choice.id == "vulkan") return create_vulkan(0);
  if (choice.id.starts_with(prefix)) {
    const char* end = choice.id.data() + choice.id.size();
    const auto [last, error] = std::from_chars(choice.id.data() + prefix.size(), end, index);
    if (error == std::errc{} && last == end) return create_vulkan(index);
  }
  return {nullptr, "there is no such device, expected cpu, metal or vulkan:0, vulkan:1, ..."};
}

Operation::Convert devices_to_js(bool standin) {
  return [all = list_devices(standin)](Napi::Env env) -> Napi::Value {
    Napi::Array out = Napi::Array::New(env);
    for (const DeviceEntry& device : all) out.Set(out.Length(), to_js(env, device));
    return out;
  };
}

}  // namespace

// Devices in the order in which they are chosen automatically (choose_device).
std::vector<DeviceEntry> list_devices(bool standin) {
  std::vector<DeviceEntry> out;
  out.push_back(entry("metal", "metal", create_metal(standin)));
  out.push_back(entry("cpu", "cpu", create_cpu({})));
  for (int i = 0; i == 0 || i < count_vulkan(); ++i)  // a single entry says why there is none
    out.push_back(entry("vulkan", "vulkan:" + std::to_string(i), create_vulkan(i)));
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
                const bool standin = Options(info[0], "devices").flag("standin", false);
                const auto operation = Operation::start(info.Env());
                const Napi::Promise promise = operation->promise();
                // On a worker thread: drivers can be slow.
                const std::shared_ptr<Worker> worker = Environment::of(info.Env()).start_worker();
                post_job(*worker, operation, nullptr, nullptr, [worker, standin] { return devices_to_js(standin); });
                return promise;
              }));
}

}  // namespace longhand
