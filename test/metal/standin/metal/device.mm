// The device: what it says about itself, and where everything else comes from.
#include <cstring>

#include "metal/classes.h"

using standin::misuse;
using standin::state;

id<MTLBinaryArchive> standin_archive(MTLBinaryArchiveDescriptor* descriptor, NSError** error);
id<MTLComputePipelineState> standin_pipeline(MTLComputePipelineDescriptor* descriptor, MTLPipelineOption options,
                                             NSError** error);
MTLSizeAndAlign standin_heap_need(NSUInteger n);
NSArray<id<MTLCounterSet>>* standin_counter_sets(void);
id<MTLCounterSampleBuffer> standin_samples(MTLCounterSampleBufferDescriptor* descriptor, NSError** error);
id<MTLLibrary> standin_library(const char* path, NSError** error);
id<MTLHeap> standin_heap(MTLHeapDescriptor* descriptor);

static bool has_room(NSUInteger bytes) {
  std::lock_guard guard(state().lock);
  const uint64_t limit = state().faults.memory_limit ? state().faults.memory_limit : uint64_t{1} << 34;
  return state().counters.allocated + bytes <= limit;
}
static MTLStorageMode mode_of(MTLResourceOptions options) { return static_cast<MTLStorageMode>((options >> 4) & 15); }

static bool holds(const std::string& text, const std::string& part) {
  return !part.empty() && text.find(part) != std::string::npos;
}
// What was injected for a library of this text: to wait, to fail.
static bool may_compile(const std::string& text) {
  std::unique_lock guard(state().lock);
  const auto held = [&] { return holds(text, state().faults.hold_compile); };
  if (held()) {
    state().counters.held_compiles++;
    state().changed.wait(guard, [&] { return !held(); });
    state().counters.held_compiles--;
  }
  return !holds(text, state().faults.compile_error);
}

@implementation StandinDevice
- (NSString*)name {
  const std::string name = state().faults.device_name;
  return name.empty() ? @"Stand-in GPU" : [NSString stringWithUTF8String:name.c_str()];
}
- (BOOL)hasUnifiedMemory {
  return YES;
}
- (NSUInteger)maxThreadgroupMemoryLength {
  return standin::kThreadgroupBytes;
}
- (MTLSize)maxThreadsPerThreadgroup {
  return MTLSizeMake(standin::kMaxThreads, standin::kMaxThreads, standin::kMaxThreads);
}
- (NSUInteger)maxBufferLength {
  std::lock_guard guard(state().lock);
  return state().faults.max_buffer ? state().faults.max_buffer : NSUInteger{1} << 34;
}
- (uint64_t)recommendedMaxWorkingSetSize {
  std::lock_guard guard(state().lock);
  return state().faults.memory_limit ? state().faults.memory_limit : uint64_t{1} << 34;
}
- (NSUInteger)currentAllocatedSize {
  std::lock_guard guard(state().lock);
  return state().counters.allocated;
}
- (uint64_t)registryID {
  return 1;
}
- (BOOL)supportsFamily:(MTLGPUFamily)family {
  std::lock_guard guard(state().lock);
  return family == MTLGPUFamilyMetal3 || family <= MTLGPUFamilyApple8 || family <= state().faults.family;
}
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point {
  std::lock_guard guard(state().lock);
  return point == MTLCounterSamplingPointAtStageBoundary && !state().clock.broken;
}
- (NSArray<id<MTLCounterSet>>*)counterSets {
  return standin_counter_sets();
}
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor*)descriptor
                                                             error:(NSError**)error {
  return standin_samples(descriptor, error);
}
- (void)sampleTimestamps:(MTLTimestamp*)cpu gpuTimestamp:(MTLTimestamp*)gpu {
  *cpu = *gpu = standin::gpu_nanoseconds();
}
- (id<MTLFence>)newFence {
  return [StandinFence new];
}
- (id<MTLSharedEvent>)newSharedEvent {
  return [StandinEvent new];
}
- (id<MTLCommandQueue>)newCommandQueue {
  StandinQueue* queue = [StandinQueue new];
  queue->queue = std::make_shared<QueueState>();
  std::lock_guard guard(state().lock);
  state().counters.queues++;
  return queue;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)n options:(MTLResourceOptions)options {
  return n <= self.maxBufferLength && has_room(n) ? [[StandinBuffer alloc] initWithLength:n mode:mode_of(options)]
                                                  : nil;
}
- (id<MTLBuffer>)newBufferWithBytes:(const void*)p length:(NSUInteger)n options:(MTLResourceOptions)options {
  if (!has_room(n)) return nil;
  StandinBuffer* buffer = [[StandinBuffer alloc] initWithLength:n mode:mode_of(options)];
  memcpy(buffer->bytes, p, n);
  return buffer;
}
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)p
                                   length:(NSUInteger)n
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void*, NSUInteger))release {
  return n <= self.maxBufferLength ? [[StandinBuffer alloc] initAround:p length:n release:release] : nil;
}
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)n options:(MTLResourceOptions)options {
  return standin_heap_need(n);
}
- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor*)descriptor error:(NSError**)error {
  StandinResidencySet* set = [StandinResidencySet new];
  set.label = descriptor.label;
  return set;
}
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor {
  return has_room(descriptor.size) ? standin_heap(descriptor) : nil;
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source options:(MTLCompileOptions*)given error:(NSError**)error {
  standin::CompileOptions options;
  for (NSString* name in given.preprocessorMacros.allKeys)
    options.macros[name.UTF8String] = [given.preprocessorMacros[name] description].UTF8String;
  options.check = standin::options().check;
  if (given.languageVersion)
    options.language =
        static_cast<int>(given.languageVersion >> 16) * 100 + static_cast<int>(given.languageVersion & 0xffff) * 10;
  const std::string text = source.UTF8String;
  StandinLibrary* library = [StandinLibrary new];
  library->text = text;
  library->options = options;
  if (!may_compile(text)) library->library.error = "program_source:1:1: error: injected";
  else library->library = standin::compile(text, options);
  if (library->library.error.empty()) return library;
  if (error) *error = standin_error(MTLLibraryErrorDomain, 3, library->library.error);
  return nil;
}
- (id<MTLLibrary>)newLibraryWithURL:(NSURL*)url error:(NSError**)error {
  return standin_library(url.path.UTF8String, error);
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function error:(NSError**)error {
  MTLComputePipelineDescriptor* descriptor = [MTLComputePipelineDescriptor new];
  descriptor.computeFunction = function;
  return standin_pipeline(descriptor, MTLPipelineOptionNone, error);
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:(MTLComputePipelineReflection**)reflection
                                                               error:(NSError**)error {
  return standin_pipeline(descriptor, options, error);
}
- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor*)descriptor error:(NSError**)error {
  return standin_archive(descriptor, error);
}
@end

id<MTLDevice> MTLCreateSystemDefaultDevice(void) { return state().faults.no_device ? nil : [StandinDevice new]; }
