#include "metal/pipelines/archive.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>

#include "metal/device/objects.h"

namespace longhand::metal {

namespace fs = std::filesystem;

struct Archive::Objects {
  id<MTLBinaryArchive> found;
  std::mutex lock;               // of what follows
  id<MTLBinaryArchive> updated;  // what was found and what is added
  std::string path;              // empty when there is no folder
  bool changed = false;
};

static fs::path cache_folder() {
  if (const char* chosen = std::getenv("LONGHAND_METAL_CACHE")) return chosen;
  const char* home = std::getenv("HOME");
  if (!home || !*home) return {};
#if defined(__APPLE__)
  return fs::path(home) / "Library/Caches/Longhand";
#else
  return fs::path(home) / ".cache/longhand";
#endif
}

std::string cache_path(const Device& device, const char* kind, const char* extension) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return "";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return "";
  const std::string hash = std::to_string(std::hash<std::string>()(device.identity()));
  return folder / (std::string(kind) + "-" + hash + "." + extension);
}

std::string beside(const std::string& path) {
  static std::atomic<int> writers{0};
  return path + "." + std::to_string(getpid()) + "-" + std::to_string(writers++) + ".new";
}

static NSURL* url(const std::string& path) {
  return [NSURL fileURLWithPath:[NSString stringWithUTF8String:path.c_str()]];
}

static id<MTLBinaryArchive> open(id<MTLDevice> device, const std::string& path) {
  MTLBinaryArchiveDescriptor* descriptor = [MTLBinaryArchiveDescriptor new];
  if (!path.empty()) descriptor.url = url(path);
  return [device newBinaryArchiveWithDescriptor:descriptor error:nil];
}

Archive::Archive(Device& device) : objects_(std::make_unique<Objects>()) {
  @autoreleasepool {
    id<MTLDevice> gpu = device.objects().device;
    objects_->path = cache_path(device, "pipelines", "metalar");
    std::error_code ignored;
    if (!objects_->path.empty() && fs::exists(objects_->path, ignored)) {
      objects_->found = open(gpu, objects_->path);
      if (objects_->found) objects_->updated = open(gpu, objects_->path);
      else fs::remove(objects_->path, ignored);
    }
    if (!objects_->updated) objects_->updated = open(gpu, "");
  }
}
Archive::~Archive() = default;

void* Archive::found() const { return (__bridge void*)objects_->found; }

void Archive::add(void* descriptor) {
  const std::lock_guard guard(objects_->lock);
  auto* added = (__bridge MTLComputePipelineDescriptor*)descriptor;
  objects_->changed |= [objects_->updated addComputePipelineFunctionsWithDescriptor:added error:nil] == YES;
}

void Archive::save() {
  const std::lock_guard guard(objects_->lock);
  if (!objects_->changed || objects_->path.empty()) return;
  @autoreleasepool {
    const std::string fresh = beside(objects_->path);
    std::error_code error;
    if ([objects_->updated serializeToURL:url(fresh) error:nil]) fs::rename(fresh, objects_->path, error);
    else fs::remove(fresh, error);
    objects_->changed = false;
  }
}

}  // namespace longhand::metal
