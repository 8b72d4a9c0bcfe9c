#include "metal/device.h"

#include <unistd.h>

#include "formats/error.h"
#include "metal/kernels.h"
#include "metal/objects.h"

namespace longhand::metal {

MetalBuffer::MetalBuffer(void* retained, std::byte* host, size_t bytes, std::shared_ptr<const void> keep_alive)
    : handle_(retained), host_(host), bytes_(bytes), keep_alive_(std::move(keep_alive)) {}
MetalBuffer::~MetalBuffer() { CFBridgingRelease(handle_); }

Device::Device(std::unique_ptr<Objects> objects) : objects_(std::move(objects)) {}
Device::~Device() = default;

std::unique_ptr<Device> Device::open(std::string& reason) {
  @autoreleasepool {
    auto objects = std::make_unique<Objects>();
    objects->device = MTLCreateSystemDefaultDevice();
    if (!objects->device) {
      reason = "[metal] this machine has no Metal device; needed: macOS 14 on Apple silicon";
      return nullptr;
    }
    if (![objects->device supportsFamily:MTLGPUFamilyApple7]) {
      reason = "[metal] " + text(objects->device.name) + " is older than the Apple7 family (M1, A14)";
      return nullptr;
    }
    objects->queue = [objects->device newCommandQueue];
    if (!objects->queue) {
      reason = "[metal] " + text(objects->device.name) + " gave no command queue";
      return nullptr;
    }
    return std::unique_ptr<Device>(new Device(std::move(objects)));
  }
}

DeviceInfo Device::info() const {
  @autoreleasepool {
    id<MTLDevice> device = objects_->device;
    const char* family = "Apple7";
    if ([device supportsFamily:MTLGPUFamilyApple8]) family = "Apple8";
    if ([device supportsFamily:MTLGPUFamilyApple9]) family = "Apple9";
    return {.back_end = "metal",
            .name = text(device.name),
            .detail = std::string(family) + " family",
            .memory_bytes = device.recommendedMaxWorkingSetSize,
            .unified = device.hasUnifiedMemory == YES};
  }
}

std::string Device::identity() const {
  @autoreleasepool {
    return text(objects_->device.name) + " " + text(NSProcessInfo.processInfo.operatingSystemVersionString) + " " +
           kernel_hash();
  }
}

MetalBufferPtr Device::allocate(size_t bytes, const char* label) {
  @autoreleasepool {
    const size_t rounded = std::max<size_t>((bytes + 15) / 16 * 16, 16);
    id<MTLDevice> device = objects_->device;
    const bool fits = device.currentAllocatedSize + rounded <= device.recommendedMaxWorkingSetSize;
    id<MTLBuffer> buffer = fits ? [device newBufferWithLength:rounded options:MTLResourceStorageModeShared] : nil;
    if (!buffer)
      throw OutOfMemory("[memory] the GPU cannot give " + std::to_string(bytes) +
                        " bytes: " + std::to_string(device.currentAllocatedSize) + " of " +
                        std::to_string(device.recommendedMaxWorkingSetSize) + " are in use");
    buffer.label = [NSString stringWithUTF8String:label];
    auto* host = static_cast<std::byte*>([buffer contents]);
    return std::make_shared<MetalBuffer>(const_cast<void*>(CFBridgingRetain(buffer)), host, bytes, nullptr);
  }
}

MetalBufferPtr Device::borrow(const std::byte* data, size_t bytes, std::shared_ptr<const void> keep_alive,
                              size_t& offset) {
  @autoreleasepool {
    constexpr size_t page = 16384;
    const auto address = reinterpret_cast<uintptr_t>(data);
    const uintptr_t first = address / page * page, end = (address + bytes + page - 1) / page * page;
    id<MTLBuffer> buffer = [objects_->device newBufferWithBytesNoCopy:reinterpret_cast<void*>(first)
                                                               length:end - first
                                                              options:MTLResourceStorageModeShared
                                                          deallocator:nil];
    if (!buffer) return nullptr;
    buffer.label = @"weights";
    offset = address - first;
    return std::make_shared<MetalBuffer>(const_cast<void*>(CFBridgingRetain(buffer)),
                                         reinterpret_cast<std::byte*>(first), end - first, std::move(keep_alive));
  }
}

}  // namespace longhand::metal
