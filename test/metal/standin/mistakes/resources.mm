// Mistakes with heaps, residency sets, fences, events and counter samples.
#include "mistakes/scene.h"

namespace standin {

const Programs& resource_programs() {
  static const Programs all = {
      {"early reuse of heap memory",
       [](Scene& s) {
         id<MTLHeap> heap = s.heap(1024, MTLHeapTypePlacement);
         id<MTLBuffer> a = s.placed(heap, 0), b = s.buffer(64), c = s.placed(heap, 0);
         s.fill(a), s.barrier(), s.twice(a, b), s.fill(c);
         return s.finish();
       }},
      {"heap memory reused after a barrier",
       [](Scene& s) {
         id<MTLHeap> heap = s.heap(1024, MTLHeapTypePlacement);
         id<MTLBuffer> a = s.placed(heap, 0), b = s.buffer(64), c = s.placed(heap, 0);
         s.fill(a), s.barrier(), s.twice(a, b), s.barrier(), s.fill(c);
         return s.finish();
       }},
      {"buffer beyond its heap",
       [](Scene& s) { return s.placed(s.heap(1024, MTLHeapTypePlacement), 1024), std::string(); }},
      {"heap offset not aligned",
       [](Scene& s) { return s.placed(s.heap(1024, MTLHeapTypePlacement), 100), std::string(); }},
      {"offset in a heap that places by itself",
       [](Scene& s) { return s.placed(s.heap(1024, MTLHeapTypeAutomatic), 0), std::string(); }},
      {"a placed buffer in a residency set",
       [](Scene& s) {
         id<MTLHeap> heap = s.heap(1024, MTLHeapTypePlacement);
         [s.residency() addAllocation:s.placed(heap, 0)];
         return std::string();
       }},
      {"taken out of a residency set twice",
       [](Scene& s) {
         id<MTLBuffer> buffer = s.buffer(64);
         id<MTLResidencySet> set = s.residency();
         [set addAllocation:buffer];
         [set removeAllocation:buffer];
         [set removeAllocation:buffer];
         return std::string();
       }},
      {"freed while it is resident",
       [](Scene& s) {
         id<MTLResidencySet> set = s.residency();
         @autoreleasepool {
           [set addAllocation:s.buffer(64)];
         }
         [set commit];
         return std::string();
       }},
      {"fence between two encoders",
       [](Scene& s) {
         id<MTLFence> fence = [s.device newFence];
         [s.encoder updateFence:fence];
         [s.encoder endEncoding];
         s.encoder = [s.commands computeCommandEncoder];
         [s.encoder waitForFence:fence];
         return s.finish();
       }},
      {"a fence that nothing updates",
       [](Scene& s) {
         [s.encoder waitForFence:[s.device newFence]];
         return std::string();
       }},
      {"a fence updated and waited for by one encoder",
       [](Scene& s) {
         id<MTLFence> fence = [s.device newFence];
         [s.encoder updateFence:fence];
         [s.encoder waitForFence:fence];
         return std::string();
       }},
      {"event between two queues",
       [](Scene& s) {
         id<MTLSharedEvent> event = [s.device newSharedEvent];
         id<MTLCommandBuffer> other = [[s.device newCommandQueue] commandBuffer];
         [s.encoder endEncoding];
         s.encoder = nil;
         [s.commands encodeSignalEvent:event value:1];
         [other encodeWaitForEvent:event value:1];
         [other commit];
         const std::string error = s.finish();
         [other waitUntilCompleted];
         return other.status == MTLCommandBufferStatusCompleted ? error : "the event did not arrive";
       }},
      {"an event that nothing signals",
       [](Scene& s) {
         [s.encoder endEncoding];
         s.encoder = nil;
         [s.commands encodeWaitForEvent:[s.device newSharedEvent] value:1];
         return s.finish();
       }},
      {"an event signalled backwards",
       [](Scene& s) {
         id<MTLSharedEvent> event = [s.device newSharedEvent];
         event.signaledValue = 5;
         return s.signal(event, 4);
       }},
      {"an event signalled inside an encoder",
       [](Scene& s) {
         [s.commands encodeSignalEvent:[s.device newSharedEvent] value:1];
         return std::string();
       }},
      {"samples around an encoder",
       [](Scene& s) {
         id<MTLCounterSampleBuffer> samples = s.samples(2);
         s.sampled(samples, 0, 1);
         s.fill(s.buffer(64));
         const std::string error = s.finish();
         const auto* times = static_cast<const uint64_t*>([samples resolveCounterRange:NSMakeRange(0, 2)].bytes);
         return times[0] < times[1] && times[1] != MTLCounterErrorValue ? error : "no time between the samples";
       }},
      {"samples read too early",
       [](Scene& s) {
         id<MTLCounterSampleBuffer> samples = s.samples(2);
         s.sampled(samples, 0, 1);
         [samples resolveCounterRange:NSMakeRange(0, 2)];
         return std::string();
       }},
      {"a sample outside its buffer", [](Scene& s) { return s.sampled(s.samples(2), 1, 2), std::string(); }},
      {"a sample taken twice", [](Scene& s) { return s.sampled(s.samples(2), 1, 1), std::string(); }},
      {"a sample inside an encoder",
       [](Scene& s) {
         [s.encoder sampleCountersInBuffer:s.samples(2) atSampleIndex:0 withBarrier:YES];
         return std::string();
       }},
      {"more samples than a buffer can have",
       [](Scene& s) {
         MTLCounterSampleBufferDescriptor* descriptor = s.sample_descriptor(5000);
         NSError* error = nil;
         id made = [s.device newCounterSampleBufferWithDescriptor:descriptor error:&error];
         return std::string(made ? "" : error.localizedDescription.UTF8String);
       }},
  };
  return all;
}

}  // namespace standin
