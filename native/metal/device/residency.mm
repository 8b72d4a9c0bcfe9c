#include "metal/device/residency.h"

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <mutex>

#if !defined(__MAC_OS_X_VERSION_MAX_ALLOWED) || __MAC_OS_X_VERSION_MAX_ALLOWED >= 150000
#define HAS_RESIDENCY_SETS 1
#endif

namespace longhand::metal {

#ifdef HAS_RESIDENCY_SETS

struct Residency::Objects {
  std::mutex lock;
  id set;  // id<MTLResidencySet>, a name that older systems do not have
  bool changed = false;

  void change(void* allocation, bool add) {
    if (@available(macOS 15.0, *)) {
      const std::lock_guard guard(lock);
      if (!set) return;
      id<MTLAllocation> one = (__bridge id<MTLAllocation>)allocation;
      if (add) [(id<MTLResidencySet>)set addAllocation:one];
      else [(id<MTLResidencySet>)set removeAllocation:one];
      changed = true;
    }
  }
};

Residency::Residency(void* device, void* queue) : objects_(std::make_unique<Objects>()) {
  if (@available(macOS 15.0, *)) {
    @autoreleasepool {
      MTLResidencySetDescriptor* descriptor = [MTLResidencySetDescriptor new];
      descriptor.label = @"longhand";
      objects_->set = [(__bridge id<MTLDevice>)device newResidencySetWithDescriptor:descriptor error:nil];
      if (objects_->set) [(__bridge id<MTLCommandQueue>)queue addResidencySet:objects_->set];
    }
  }
}

void Residency::settle() {
  if (@available(macOS 15.0, *)) {
    const std::lock_guard guard(objects_->lock);
    if (!objects_->changed) return;
    [(id<MTLResidencySet>)objects_->set commit];
    [(id<MTLResidencySet>)objects_->set requestResidency];
    objects_->changed = false;
  }
}

#else  // an SDK before macOS 15

struct Residency::Objects {
  void change(void*, bool) {}
};
Residency::Residency(void*, void*) : objects_(std::make_unique<Objects>()) {}
void Residency::settle() {}

#endif

Residency::~Residency() = default;

std::shared_ptr<const void> Residency::hold(const std::shared_ptr<Residency>& set, void* allocation,
                                            std::shared_ptr<const void> needs) {
  set->objects_->change(allocation, true);
  // A reference of its own: the buffer's goes first, and nothing says that the set's outlives it.
  return {CFBridgingRetain((__bridge id)allocation), [set, needs = std::move(needs)](const void* held) {
            @autoreleasepool {
              set->objects_->change(const_cast<void*>(held), false);
              CFBridgingRelease(held);
            }
          }};
}

}  // namespace longhand::metal
