#include "metal/device/device.h"

#include <unistd.h>

#include "formats/error.h"
#include "metal/device/objects.h"
#include "metal/pipelines/kernels.h"

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
    objects->residency = std::make_shared<Residency>((__bridge void*)objects->device, (__bridge void*)objects->queue);
    return std::unique_ptr<Device>(new Device(std::move(objects)));
  }
}

DeviceInfo Device::info() const {
  @autoreleasepool {
    id<MTLDevice> device = objects_->device;
    const char* family = "Apple7";
    if ([device supportsFamily:MTLGPUFamilyApple8]) family = "Apple8";
    if ([device supportsFamily:MTLGPUFamilyApple9]) family = "Apple9";
    if (has_matrix_units()) family = "Apple10";
    return {.back_end = "metal",
            .name = text(device.name),
            .detail = std::string(family) + " family",
            .memory_bytes = device.recommendedMaxWorkingSetSize,
            .unified = device.hasUnifiedMemory == YES,
            .shapes = gpu_shapes};
  }
}

// By number: SDKs before macOS 26 do not have the name MTLGPUFamilyApple10.
bool Device::has_matrix_units() const {
  return [objects_->device supportsFamily:static_cast<MTLGPUFamily>(1010)] == YES;
}

std::string Device::identity() const {
  @autoreleasepool {
    return text(objects_->device.name) + ", " + info().detail + ", " +
           text(NSProcessInfo.processInfo.operatingSystemVersionString) + ", kernels " + kernel_hash();
  }
}

static OutOfMemory refused(id<MTLDevice> device, size_t bytes) {
  return OutOfMemory("[memory] the GPU cannot give " + std::to_string(bytes) +
                     " bytes: " + std::to_string(device.currentAllocatedSize) + " of " +
                     std::to_string(device.recommendedMaxWorkingSetSize) + " are in use");
}

// Beyond the recommended working set the system pages GPU memory out between command buffers: refusing is better.
void Device::check_room(size_t bytes) const {
  id<MTLDevice> device = objects_->device;
  if (device.currentAllocatedSize + bytes > device.recommendedMaxWorkingSetSize) throw refused(device, bytes);
}

static MetalBufferPtr shared_buffer(id<MTLBuffer> buffer, size_t bytes, const char* label,
                                    std::shared_ptr<const void> keep_alive) {
  buffer.label = [NSString stringWithUTF8String:label];
  auto* host = static_cast<std::byte*>([buffer contents]);
  return std::make_shared<MetalBuffer>(const_cast<void*>(CFBridgingRetain(buffer)), host, bytes, std::move(keep_alive));
}

MetalBufferPtr Device::allocate(size_t bytes, const char* label) {
  @autoreleasepool {
    const size_t rounded = std::max<size_t>((bytes + 15) / 16 * 16, 16);
    check_room(rounded);
    id<MTLBuffer> buffer = [objects_->device newBufferWithLength:rounded options:MTLResourceStorageModeShared];
    if (!buffer) throw refused(objects_->device, bytes);
    return shared_buffer(buffer, bytes, label, Residency::hold(objects_->residency, (__bridge void*)buffer, nullptr));
  }
}

MetalBufferPtr Device::heap_buffer(size_t bytes, const char* label) {
  @autoreleasepool {
    id<MTLDevice> device = objects_->device;
    const MTLSizeAndAlign need = [device heapBufferSizeAndAlignWithLength:bytes options:MTLResourceStorageModeShared];
    check_room(need.size);
    MTLHeapDescriptor* descriptor = [MTLHeapDescriptor new];
    descriptor.type = MTLHeapTypePlacement;
    descriptor.storageMode = MTLStorageModeShared;
    descriptor.hazardTrackingMode = MTLHazardTrackingModeTracked;  // command buffers stay in order by themselves
    descriptor.size = need.size;
    id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
    id<MTLBuffer> buffer = [heap newBufferWithLength:bytes options:MTLResourceStorageModeShared offset:0];
    if (!buffer) throw refused(device, bytes);
    heap.label = buffer.label = [NSString stringWithUTF8String:label];
    return shared_buffer(buffer, bytes, label, Residency::hold(objects_->residency, (__bridge void*)heap, nullptr));
  }
}

static constexpr size_t page = 16384;

size_t Device::most_borrowed() const {
  return objects_->device.maxBufferLength / page * page - 2 * page;  // both ends are rounded to whole pages
}

MetalBufferPtr Device::borrow(const std::byte* data, size_t bytes, std::shared_ptr<const void> keep_alive,
                              size_t& offset) {
  @autoreleasepool {
    const auto address = reinterpret_cast<uintptr_t>(data);
    const uintptr_t first = address / page * page, end = (address + bytes + page - 1) / page * page;
    check_room(end - first);
    id<MTLBuffer> buffer = [objects_->device newBufferWithBytesNoCopy:reinterpret_cast<void*>(first)
                                                               length:end - first
                                                              options:MTLResourceStorageModeShared
                                                          deallocator:nil];
    if (!buffer) return nullptr;
    buffer.label = @"weights";
    offset = address - first;
    return std::make_shared<MetalBuffer>(const_cast<void*>(CFBridgingRetain(buffer)),
                                         reinterpret_cast<std::byte*>(first), end - first,
                                         Residency::hold(objects_->residency, (__bridge void*)buffer, keep_alive));
  }
}

}  // namespace longhand::metal
