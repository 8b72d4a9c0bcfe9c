// Compiled pipelines on disk (MTLBinaryArchive), good for one device, OS build and text of the kernels.
#pragma once

#include <memory>
#include <string>

#include "metal/device/device.h"

namespace longhand::metal {

class Archive {
 public:
  // One that cannot be read (cut short, of another system) is replaced by an empty one.
  explicit Archive(Device& device);
  ~Archive();

  // id<MTLBinaryArchive> as an earlier start left it, or null. Never written to, so that any thread may look into it.
  void* found() const;
  // `descriptor`: MTLComputePipelineDescriptor. Any thread.
  void add(void* descriptor);
  // Writes what was added since the last time. A folder that cannot be written costs time at the next start, not more.
  void save();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

// Files of this device that the next start finds: <folder>/<kind>-<hash of its identity>.<extension>. Empty when there
// is no folder to keep them in. LONGHAND_METAL_CACHE chooses another than the platform's folder for caches.
std::string cache_path(const Device& device, const char* kind, const char* extension);
// Where the next content of a file is written before it takes the file's place: a name that no other writer has, so
// that whoever reads meanwhile sees the old file or the new one.
std::string beside(const std::string& path);

}  // namespace longhand::metal
