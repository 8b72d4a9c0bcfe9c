// Lists the devices and creates back ends on them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ops/backend.h"
#include "ops/observe.h"

namespace longhand {

struct DeviceEntry {
  std::string back_end;
  std::string id;
  bool available = false;
  DeviceInfo info;
  std::string reason;
};
std::vector<DeviceEntry> list_devices(bool standin = false);

struct DeviceChoice {
  std::string id;  // "": the best available
  bool standin = false;
  int threads = 0;
  std::string instructions;                 // "": LONGHAND_CPU_ISA, else the best
  std::string packed, model;                // of CpuOptions
  std::shared_ptr<Observations> observe{};  // the CPU records the inputs of its matrices
};
// Throws Unsupported when the device is not there.
std::unique_ptr<Backend> create_backend(const DeviceChoice& choice);
std::string choose_device(const DeviceChoice& choice);
// Hash of every source that decides how weights are packed, and of every source that decides what is computed
// (source_number.cmake).
uint64_t packing_build();
uint64_t engine_build();

}  // namespace longhand
