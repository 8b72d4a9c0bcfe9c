// Functions and constants of C.
#pragma once
typedef uint64_t MTLTimestamp;
static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth) {
  return MTLSize{width, height, depth};
}
#define MTLCounterErrorValue ((uint64_t)-1)
extern "C" NSString* const _Nonnull MTLCommonCounterSetTimestamp;
extern "C" id<MTLDevice> _Nullable MTLCreateSystemDefaultDevice(void) __attribute__((ns_returns_retained));
