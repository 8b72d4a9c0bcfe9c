#include "cpu/backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

#include "cpu/kernels/probe.h"
#include "cpu/threads/cpu_topology.h"

namespace longhand::cpu {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "CPU";
}

uint64_t physical_memory() {
#if defined(_SC_PHYS_PAGES)
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
#else
  return 0;
#endif
}

}  // namespace

CpuBackend::CpuBackend(const Kernels& kernels, const CpuOptions& options)
    : kernels_(kernels),
      rehearses_(options.rehearses),
      threads_(options.threads > 0 ? options.threads : usable_cores()) {
  if (!options.packed.empty())
    packed_file_ = std::make_unique<PackedCache>(options.packed, options.model, options.build, threads_);
}

DeviceInfo CpuBackend::device() const {
  return {.back_end = "cpu",
          .name = processor_name(),
          .detail = std::string(kernels_.name) + ", " + std::to_string(threads_.count()) + " threads",
          .instructions = kernels_.name,
          .memory_bytes = physical_memory(),
          .unified = true};
}

void CpuBackend::check_cancelled() const {
  if (pass_.cancel && pass_.cancel->load(std::memory_order_relaxed)) throw Cancelled{};
}

void CpuBackend::begin(const PassOptions& options) {
  pass_ = options;
  if (const int wanted = wanted_threads_.exchange(0); wanted > 0 && wanted != threads_.count()) threads_.resize(wanted);
  arena_.recycle();
  angles_.clear();
}

void CpuBackend::finish() { pass_.cancel = nullptr; }

Tensor CpuBackend::scratch(int64_t rows, int64_t cols) { return arena_.take(rows, cols); }

void CpuBackend::read(float* to, const Tensor& from) {
  for (int64_t i = 0; i < from.rows; ++i)
    std::memcpy(to + i * from.cols, row(from, i), static_cast<size_t>(from.cols) * sizeof(float));
}

}  // namespace longhand::cpu

namespace longhand {
namespace {

// Sets come best first, but tiles have to prove it, once: a model that is loaded again is read by the same set.
bool worth_having(std::span<const cpu::Kernels* const> available, size_t i) {
  if (!available[i]->multiply_decoded) return true;
  if (!available[i]->permitted) return false;  // a model of them
  static const bool faster = cpu::tiles_are_faster(*available[i], *available[i + 1]);
  return faster;
}

}  // namespace

Creation create_cpu(const CpuOptions& options) {
  const auto available = cpu::available_kernels();
  const char* forced = std::getenv("LONGHAND_CPU_ISA");
  if (!forced) forced = std::getenv("LONGHAND_CPU");  // the former name of LONGHAND_CPU_ISA
  const std::string wanted = options.instructions.empty() && forced ? forced : options.instructions;
  for (size_t i = 0; i < available.size(); ++i) {
    const cpu::Kernels& kernels = *available[i];
    if (!wanted.empty() && wanted != kernels.name) continue;
    const bool permitted = !kernels.permitted || kernels.permitted();
    if (wanted.empty() && (!permitted || !worth_having(available, i))) continue;
    if (!permitted)
      return {nullptr, std::string("[cpu] the system does not let this process use the registers of ") + kernels.name};
    return {std::make_unique<cpu::CpuBackend>(kernels, options), ""};
  }
  std::string reason = "[cpu] the instruction set \"" + wanted + "\" is not available; this processor has";
  for (const cpu::Kernels* kernels : available) reason += std::string(" ") + kernels->name;
  return {nullptr, reason};
}

}  // namespace longhand
