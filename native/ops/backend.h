// The contract between families and devices, in three interfaces: the ops of a forward pass (ops.h), the passes they
// run in (passes.h), and the device with its memory (lifecycle.h). A forward pass is written once against it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ops/lifecycle.h"
#include "ops/ops.h"
#include "ops/passes.h"

namespace longhand {

class Backend : public Ops, public Passes, public Lifecycle {
 public:
  using Lifecycle::read;
  using Passes::read;
};

// Factories, one a back end; a build without it returns null and the reason.
struct Creation {
  std::unique_ptr<Backend> backend;
  std::string reason;  // why there is none
};
struct CpuOptions {
  int threads = 0;  // 0: physical performance cores within the cgroup limit
  std::string
      instructions;  // "" = best; "scalar", "sse42", "avx2", "avxvnni", "avx512", "amx", "neon", ... (LONGHAND_CPU_ISA)
  std::string packed;      // a file that keeps packed weights for the next load (cpu/weights/packed_cache.h); "": none
  std::string model;       // that they are of: a file, or a folder of them
  uint64_t build = 0;      // which engine packed them
  bool rehearses = false;  // Lifecycle::rehearses()
};
Creation create_cpu(const CpuOptions& options);
std::vector<std::string> cpu_instructions();  // what this processor has of them, best first; ends with "scalar"
Creation create_metal(bool standin);
Creation create_vulkan(int device_index);  // the best first
int count_vulkan();                        // usable or not

}  // namespace longhand
