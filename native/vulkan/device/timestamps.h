// When the GPU began and ended a command buffer and, while profiling, each kernel in it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ops/lifecycle.h"
#include "vulkan/device/device.h"

namespace longhand::vulkan {

// Of one command buffer, which is recorded, run and read over and over. Does nothing where the queue has no timestamps.
class Timestamps {
 public:
  explicit Timestamps(std::shared_ptr<Device> device);
  ~Timestamps();
  Timestamps(const Timestamps&) = delete;
  Timestamps& operator=(const Timestamps&) = delete;

  void begin(VkCommandBuffer commands);
  // Everything since the last mark is counted as `name`, which lives as long as the program. Nothing recorded later may
  // begin before it has ended, so a barrier follows.
  void mark(VkCommandBuffer commands, const char* name);
  bool full() const;
  void end(VkCommandBuffer commands);
  // For a command buffer that is not run.
  void drop() { written_ = 0; }
  // Once the GPU has ended the command buffer: adds its seconds, and those of each name.
  void add_to(double& seconds, std::map<std::string, KernelTime>& times);

 private:
  void write(VkCommandBuffer commands);

  std::shared_ptr<Device> device_;
  VkQueryPool pool_{};
  uint32_t written_ = 0;
  std::vector<const char*> names_;  // of the marks
};

}  // namespace longhand::vulkan
