// Compiled pipelines on disk (MTLBinaryArchive), good for one device, OS build and text of the kernels.
#pragma once

#include <memory>
#include <string>

#include "metal/device/device.h"

namespace longhand::metal {

class Archive {
 public:
  // An archive that cannot be read (truncated, from another system) is replaced by an empty one.
  explicit Archive(Device& device);
  ~Archive();

  // id<MTLBinaryArchive> stored by an earlier start, or null. Never written to, so any thread may read it.
  void* found() const;
  // `descriptor`: MTLComputePipelineDescriptor. Any thread.
  void add(void* descriptor);
  // Writes what was added since the last time. A folder that cannot be written costs time at the next start, not more.
  void save();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

// Path of a file of this device for later starts: <folder>/<kind>-<hash of its identity>.<extension>. Empty if there
// is no cache folder. LONGHAND_METAL_CACHE chooses another than the platform's folder for caches.
std::string cache_path(const Device& device, const char* kind, const char* extension);
// A temporary name beside a file, unique to this writer: new content is written there and renamed, so that a reader
// sees either the old file or the new one.
std::string beside(const std::string& path);

}  // namespace longhand::metal
