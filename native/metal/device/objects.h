// The Metal objects behind the plain handles. Included by .mm files only.
#pragma once

#import <Metal/Metal.h>

#include "metal/device/device.h"
#include "metal/device/residency.h"

namespace longhand::metal {

struct Device::Objects {
  id<MTLDevice> device;
  id<MTLCommandQueue> queue;
  std::shared_ptr<Residency> residency;
};

inline std::string text(NSString* string) { return string ? string.UTF8String : ""; }
inline std::string text(NSError* error) { return error ? text(error.localizedDescription) : "unknown error"; }

}  // namespace longhand::metal
