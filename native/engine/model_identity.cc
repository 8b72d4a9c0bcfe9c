#include "engine/model_identity.h"

#include <sys/utsname.h>

#include <filesystem>

#include "formats/hash.h"
#include "formats/mapped_file.h"

namespace longhand {

namespace {

uint64_t add(uint64_t hash, uint64_t number) { return xxh64(std::as_bytes(std::span(&number, 1)), hash); }

// A file that was replaced has another size, another time or other values.
uint64_t add_file(uint64_t hash, const std::string& path) {
  std::error_code error;
  hash = add(hash, std::filesystem::file_size(path, error));
  return add(hash, static_cast<uint64_t>(std::filesystem::last_write_time(path, error).time_since_epoch().count()));
}

uint64_t add_tensor(uint64_t hash, const WeightView& view) {
  constexpr size_t samples = 4, sample = 64;
  hash = add(xxh64(view.name, hash), static_cast<uint64_t>(view.type));
  hash = xxh64(std::as_bytes(std::span(view.shape)), hash);
  if (!view.data) return hash;
  const size_t each = std::min<size_t>(sample, view.data_bytes);
  for (size_t i = 0; i < samples; ++i)
    hash = xxh64({view.data + (view.data_bytes - each) * i / (samples - 1), each}, hash);
  return hash;
}

// For configuration that is a file of its own beside the weights.
uint64_t add_configuration(const std::string& path) {
  const std::filesystem::path at(path), file = (is_directory(at) ? at : at.parent_path()) / "config.json";
  constexpr size_t longest = size_t{1} << 26;
  return is_regular_file(file) ? xxh64(read_text(file.string(), "config", longest)) : 0;
}

// Drivers compile GPU kernels, so another system version may round differently.
uint64_t add_system(uint64_t hash) {
  utsname system{};
  ::uname(&system);
  return xxh64(std::string_view(system.version), xxh64(std::string_view(system.release), hash));
}

}  // namespace

uint64_t identity_of_weights(const std::string& path, const Checkpoint& checkpoint) {
  uint64_t hash = add_configuration(path);
  for (const std::string& file : checkpoint.files()) hash = add_file(hash, file);
  for (const WeightView& view : checkpoint.tensors()) hash = add_tensor(hash, view);
  return hash;
}

uint64_t identity_on(uint64_t weights, const DeviceInfo& device) {
  const uint64_t hash = xxh64(device.back_end, xxh64(device.name, weights));
  if (device.back_end == "cpu") return xxh64(device.instructions, hash);
  return add_system(xxh64(device.tuning, xxh64(device.detail, hash)));
}

}  // namespace longhand
