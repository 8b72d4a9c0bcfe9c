// Fences, shared events and counter samples: what orders the GPU's work, and what times it.
#include <chrono>

#include "metal/classes.h"

using standin::misuse;

NSString* const MTLCounterErrorDomain = @"MTLCounterErrorDomain";
MTLCommonCounterSet const MTLCommonCounterSetTimestamp = @"timestamp";

@implementation StandinFence
@end

std::string standin_signal(StandinEvent* event, uint64_t value) {
  std::lock_guard guard(event->lock);
  if (value <= event->value)
    return "an event is signalled with " + std::to_string(value) + ", it is at " + std::to_string(event->value);
  event->value = value;
  event->changed.notify_all();
  return "";
}

void standin_expect(StandinEvent* event, uint64_t value, bool coming) {
  std::lock_guard guard(event->lock);
  if (coming) event->coming.insert(value);
  else event->coming.erase(event->coming.find(value));
  event->changed.notify_all();
}

bool standin_await(StandinEvent* event, uint64_t value) {
  std::unique_lock guard(event->lock);
  event->changed.wait(guard,
                      [&] { return event->value >= value || event->coming.lower_bound(value) == event->coming.end(); });
  return event->value >= value;
}

@implementation StandinEvent
- (uint64_t)signaledValue {
  std::lock_guard guard(lock);
  return value;
}
- (void)setSignaledValue:(uint64_t)next {
  const std::string broken = standin_signal(self, next);
  if (!broken.empty()) misuse(broken);
}
- (BOOL)waitUntilSignaledValue:(uint64_t)wanted timeoutMS:(uint64_t)ms {
  std::unique_lock guard(lock);
  return changed.wait_for(guard, std::chrono::milliseconds(ms), [&] { return value >= wanted; });
}
@end

// ---- counter samples ----------------------------------------------------------------------------------------------

@implementation MTLCounterSampleBufferDescriptor
@end
@implementation MTLComputePassSampleBufferAttachmentDescriptor
@end

@implementation MTLComputePassSampleBufferAttachmentDescriptorArray {
  MTLComputePassSampleBufferAttachmentDescriptor* first;
}
- (MTLComputePassSampleBufferAttachmentDescriptor*)objectAtIndexedSubscript:(NSUInteger)i {
  if (i) misuse("a compute pass of this GPU has one sample buffer");
  if (!first) first = [MTLComputePassSampleBufferAttachmentDescriptor new];
  return first;
}
@end

@implementation MTLComputePassDescriptor {
  MTLComputePassSampleBufferAttachmentDescriptorArray* attachments;
}
+ (MTLComputePassDescriptor*)computePassDescriptor {
  return [self new];
}
- (MTLComputePassSampleBufferAttachmentDescriptorArray*)sampleBufferAttachments {
  if (!attachments) attachments = [MTLComputePassSampleBufferAttachmentDescriptorArray new];
  return attachments;
}
@end

@interface StandinCounterSet : NSObject <MTLCounterSet>
@end
@implementation StandinCounterSet
- (NSString*)name {
  return MTLCommonCounterSetTimestamp;
}
@end

NSArray<id<MTLCounterSet>>* standin_counter_sets(void) { return @[ [StandinCounterSet new] ]; }

void standin_claim(StandinSamples* samples, NSUInteger index, StandinCommandBuffer* by) {
  if (index >= samples->samples.size())
    misuse("sample " + std::to_string(index) + " of a buffer of " + std::to_string(samples->samples.size()));
  if (samples->owners[index] == by) misuse("sample " + std::to_string(index) + " is taken twice by a command buffer");
  samples->owners[index] = by;
}

@implementation StandinSamples
- (NSUInteger)sampleCount {
  return samples.size();
}
- (NSData*)resolveCounterRange:(NSRange)range {
  if (range.location + range.length > samples.size()) misuse("samples outside their buffer");
  for (NSUInteger i = range.location; i < range.location + range.length; i++)
    if (owners[i] && owners[i].status < MTLCommandBufferStatusCompleted)
      misuse("samples are read before their command buffer is done");
  return [NSData dataWithBytes:samples.data() + range.location length:range.length * sizeof samples[0]];
}
@end

id<MTLCounterSampleBuffer> standin_samples(MTLCounterSampleBufferDescriptor* descriptor, NSError** error) {
  constexpr NSUInteger most = 4096;  // 32 KB
  if (!descriptor.counterSet) misuse("a sample buffer without a counter set");
  if (descriptor.storageMode != MTLStorageModeShared) misuse("samples are read from shared memory only");
  if (!descriptor.sampleCount || descriptor.sampleCount > most) {
    if (error)
      *error = standin_error(MTLCounterErrorDomain, 0,
                             std::to_string(descriptor.sampleCount) + " samples, 1 to 4096 are possible");
    return nil;
  }
  StandinSamples* made = [StandinSamples new];
  made.label = descriptor.label;
  made->samples.assign(descriptor.sampleCount, MTLCounterErrorValue);
  made->owners.resize(descriptor.sampleCount);
  return made;
}
