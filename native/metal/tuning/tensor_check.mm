#include "metal/tuning/tensor_check.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "formats/error.h"
#include "metal/backend.h"
#include "metal/pipelines/archive.h"

namespace longhand::metal {

namespace {

// Ragged in every direction: one whole tile and a part of the next.
constexpr int64_t tokens = 70, outputs = 100, columns = 136;

// Odd numbers of 11 bits, all that a half holds, of either sign.
float number(int64_t i) {
  const auto hash = static_cast<uint32_t>(i) * 2654435761u >> 16;
  const auto size = static_cast<float>(1025 + hash % 512 * 2);
  return hash & 0x8000 ? -size : size;
}

// At most four of a row of W are not zero: products have 22 bits, and every sum of four fits the 24 of a float. So any
// order of summation gives the same bits, and an accumulator that keeps fewer does not.
std::vector<float> matrix() {
  std::vector<float> w(outputs * columns);
  for (int64_t r = 0; r < outputs; ++r)
    for (int64_t k = 0; k < columns; ++k)
      if ((7 * k + 13 * r) % 45 == 0) w[r * columns + k] = number(r * columns + k);
  return w;
}

std::unique_ptr<Device> open() {
  std::string reason;
  std::unique_ptr<Device> device = Device::open(reason);
  if (!device) throw DeviceError(reason);
  return device;
}

std::string compare() {
  MetalBackend backend(open(), Tuning{});
  const std::vector<float> w = matrix();
  const WeightView view{.name = "check",
                        .type = DType::f32,
                        .shape = {outputs, columns},
                        .data = reinterpret_cast<const std::byte*>(w.data()),
                        .data_bytes = w.size() * sizeof(float)};
  const WeightPtr weight = backend.prepare({&view, 1}, nullptr, 1);
  std::vector<float> x(tokens * columns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = number(static_cast<int64_t>(i));
  const BufferPtr rows = backend.allocate(x.size() * sizeof(float));
  std::memcpy(rows->host(), x.data(), x.size() * sizeof(float));
  const auto product = [&](const Tuning& tuning) {
    backend.tune(tuning);
    backend.begin({.path = Path::fast});
    const Tensor y = backend.linear({rows.get(), 0, tokens, columns, columns}, *weight, {});
    backend.finish();
    std::vector<float> out(tokens * outputs);
    backend.read(out.data(), y);
    return out;
  };
  const std::vector<float> normal = product({.matmul_half = 1}), tensor = product({.matmul_tensor = 1});
  if (const std::string& refused = backend.tuning().tensor_refused; !refused.empty()) return refused;
  const auto differs = std::memcmp(normal.data(), tensor.data(), normal.size() * sizeof(float)) != 0;
  return differs ? "their sums differ from those of the kernel in halves" : "";
}

// What this device or system lacks for them; "" when nothing.
std::string lacking(const Device& device) {
  if (!device.has_matrix_units()) return "this GPU has no matrix units (Apple10 family, from M5 on)";
  if (@available(macOS 26.2, *)) return "";
  return "they need macOS 26.2";
}

}  // namespace

std::string tensor_refusal(Device& device) {
  if (const std::string reason = lacking(device); !reason.empty()) return reason;
  const std::string path = cache_path(device, "tensor", "txt"), begin = device.identity() + "\n", equal = "equal\n";
  std::ifstream known(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(known), {}};
  if (text == begin + equal) return "";
  std::string refused;
  try {
    refused = compare();
  } catch (const std::exception& error) {
    refused = error.what();
  }
  // A refusal is not kept: it may have been for want of memory, and the next start asks again.
  if (refused.empty() && !path.empty()) std::ofstream(path, std::ios::binary | std::ios::trunc) << begin + equal;
  return refused;
}

}  // namespace longhand::metal
