// The device from opening to closing: what it is, its memory, prepared weights, caches and counters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "ops/operands.h"

namespace longhand {

struct DeviceInfo {
  std::string back_end;        // "cpu" | "metal" | "vulkan"
  std::string name;            // "Intel Xeon ...", "Apple M2 Pro"
  std::string detail;          // the chosen instruction set, the GPU family, ...
  std::string instructions{};  // of a CPU: the set its kernels were chosen for
  std::string tuning;          // the tuning chosen for this device, and by whom; "" if there is none
  uint64_t memory_bytes = 0;
  bool unified = true;
  ShapeLimits shapes{};
};

struct KernelTime {
  uint64_t count = 0;
  double seconds = 0;
};

class Lifecycle {
 public:
  virtual ~Lifecycle() = default;

  virtual DeviceInfo device() const = 0;
  // Takes effect at the next pass; a back end without CPU threads has nothing to change.
  virtual void set_threads(int) {}
  // Memory and plumbing. Weights may stay views into the mapped file (`keep_alive` holds the mapping).
  virtual BufferPtr allocate(size_t bytes) = 0;  // zeroed; throws "[memory] ..." when there is none
  virtual void copy(Buffer& to, size_t to_offset, Buffer& from, size_t from_offset, size_t bytes) = 0;
  virtual void write(Buffer& to, size_t offset, const void* from, size_t bytes) = 0;
  virtual void read(void* to, Buffer& from, size_t offset, size_t bytes) = 0;
  virtual void clear(Buffer& buffer) = 0;

  // One matrix from one or more views stacked by rows (same `in`); 3-D views are expert stacks (stacked along `out`).
  // A file with one tensor an expert: 2-D views in the order expert 0 (gate, up), expert 1 (gate, up), ..., and
  // `experts`.
  virtual WeightPtr prepare(std::span<const WeightView> views, std::shared_ptr<const void> keep_alive,
                            int64_t experts = 1) = 0;

  // A back end that only measures the memory of a load and a pass: it prepares no weights and computes nothing, and its
  // results are never read. Its tensors need no data (headers alone).
  virtual bool rehearses() const { return false; }
  // Reserves scratch memory before the first pass; more is allocated on demand.
  virtual void reserve_scratch(size_t /*bytes*/) {}

  // An RMS norm in front of a projection (`Linear::norm`) is part of it, not an op of its own.
  virtual bool fuses_norms() const { return false; }
  // Calls `told`, on any thread, when the system says that memory is short, if it does.
  virtual void on_memory_pressure(std::function<void(bool critical)> /*told*/) {}
  // Every weight of a model has been prepared.
  virtual void prepared() {}
  // The state of the file with prepared weights for the next load.
  virtual PackedCacheStatus packed_cache_status() const { return PackedCacheStatus::none; }

  // Frees memory that can be rebuilt. Between passes; results of finished passes are lost.
  virtual void release_caches() {}

  // A device that compiles its kernels when it meets them: a warmup computes nothing and notes what it would need,
  // compile_pending then compiles that on a thread of its own. `told` hears from there how many of all are ready; a
  // pass that needs one earlier compiles it, or waits for the one that is being compiled.
  virtual bool compiles_lazily() const { return false; }
  virtual void compile_pending(std::function<void(size_t done, size_t total)> /*told*/) {}

  // Counters.
  // Bytes of expert stacks read since the start: what `expert_gate_up` and `expert_down` touched.
  virtual uint64_t expert_bytes_read() const { return 0; }
  // Peak scratch memory of a pass so far; 0 if not counted.
  virtual uint64_t scratch_bytes() const { return 0; }
  // Time the device was busy since the start; 0 if the CPU is the device.
  virtual double device_seconds() const { return 0; }
  // Times each kernel from here on: slower, since nothing runs concurrently. False if the device cannot do this.
  virtual bool profile() { return false; }
  virtual std::map<std::string, KernelTime> kernel_times() const { return {}; }
};

}  // namespace longhand
