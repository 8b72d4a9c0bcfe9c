// The classes behind the protocols of <Metal/Metal.h>.
#pragma once

#import <Metal/Metal.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "compiler/compile.h"
#include "executor/checker.h"
#include "executor/executor.h"
#include "metal/state.h"

using ConstantValues = std::map<unsigned, std::vector<char>>;

NSError* standin_error(NSString* domain, NSInteger code, const std::string& text);

@interface MTLFunctionConstantValues () {
 @public
  ConstantValues byIndex;
}
@end

@interface StandinBuffer : NSObject <MTLBuffer> {
 @public
  char* bytes;
  void* mapping;
  size_t mapping_bytes;
  void (^release_)(void*, NSUInteger);
  StandinBuffer* inside;  // the memory of the heap it was placed in
}
@property(copy) NSString* label;
@property NSUInteger length;
@property MTLStorageMode storageMode;
- (instancetype)initWithLength:(NSUInteger)n mode:(MTLStorageMode)mode;
- (instancetype)initAround:(void*)p length:(NSUInteger)n release:(void (^)(void*, NSUInteger))release;
- (instancetype)initInside:(StandinBuffer*)memory at:(NSUInteger)offset length:(NSUInteger)n;
@end

@interface StandinHeap : NSObject <MTLHeap> {
 @public
  StandinBuffer* memory;
}
@property(copy) NSString* label;
@property NSUInteger size;
@property MTLStorageMode storageMode;
@property MTLHeapType type;
@property MTLHazardTrackingMode hazardTrackingMode;
@end

@interface StandinFunction : NSObject <MTLFunction> {
 @public
  standin::Library library;
  std::string text;
  standin::CompileOptions options;
  StandinFunction* watched;  // the same, compiled for check mode
  const mtl_kernel_desc* kernel;
  ConstantValues constants;
}
@property NSString* name;
- (std::string)identity;
@end

@interface StandinPipeline : NSObject <MTLComputePipelineState> {
 @public
  StandinFunction* function;
  NSUInteger madeFor;  // threads of a threadgroup; 0: nothing was said
}
- (NSUInteger)limit;  // of its threads, whatever fault is told
@property(copy) NSString* label;
@end

@interface StandinLibrary : NSObject <MTLLibrary> {
 @public
  standin::Library library;
  std::string text;
  standin::CompileOptions options;
}
@property(copy) NSString* label;
@end

@interface StandinArchive : NSObject <MTLBinaryArchive> {
 @public
  std::map<std::string, bool> entries;
}
@property(copy) NSString* label;
@end

@class StandinCommandBuffer;
// One thing a command buffer does: a dispatch, a copy, or a barrier (`run` empty).
struct Command {
  std::function<std::string()> run;
  bool barrier = false, concurrent = false;
  bool waits = false;  // for something else on the GPU
  std::string name;
};

// The GPU's side of a queue: one thread that takes work in order.
struct QueueState {
  std::mutex lock;
  std::condition_variable wake;
  std::deque<std::function<void()>> work;
  std::thread thread;
  bool quit = false;
  void push(std::function<void()> job);
  ~QueueState();

 private:
  void loop();
};

@interface StandinFence : NSObject <MTLFence> {
 @public
  StandinCommandBuffer* updated;  // by an encoder of this command buffer last
}
@property(copy) NSString* label;
@end

@interface StandinEvent : NSObject <MTLSharedEvent> {
 @public
  std::mutex lock;
  std::condition_variable changed;
  uint64_t value;
  std::multiset<uint64_t> coming;  // of command buffers that are not done
}
@property(copy) NSString* label;
@end

@interface StandinSamples : NSObject <MTLCounterSampleBuffer> {
 @public
  std::vector<uint64_t> samples;              // MTLCounterErrorValue: not taken
  std::vector<StandinCommandBuffer*> owners;  // who takes it
}
@property(copy) NSString* label;
@end

@interface StandinEncoder : NSObject <MTLComputeCommandEncoder, MTLBlitCommandEncoder> {
 @public
  StandinCommandBuffer* owner;
  BOOL concurrent, ended;
  StandinSamples* samples;
  NSUInteger last_sample;
  std::vector<StandinFence*> updated;  // here
  StandinPipeline* pipeline;
  StandinBuffer* buffers[standin::kBufferSlots];
  NSUInteger offsets[standin::kBufferSlots];
  std::shared_ptr<std::vector<char>> inline_bytes[standin::kBufferSlots];
  uint32_t threadgroup_bytes[standin::kBufferSlots];
}
@property(copy) NSString* label;
@end

@interface StandinCommandBuffer : NSObject <MTLCommandBuffer> {
 @public
  std::vector<Command> commands;
  std::vector<MTLCommandBufferHandler> handlers;
  std::shared_ptr<QueueState> queue;
  std::mutex lock;
  std::condition_variable finished;
  BOOL encoding;
  std::vector<std::pair<StandinEvent*, uint64_t>> signals;
}
@property(copy) NSString* label;
@property MTLCommandBufferStatus status;
@property(strong) NSError* error;
@property CFTimeInterval GPUStartTime, GPUEndTime;
- (void)take:(NSUInteger)index of:(StandinSamples*)samples;
@end

@interface StandinResidencySet : NSObject <MTLResidencySet>
@property(copy) NSString* label;
@end

@interface StandinQueue : NSObject <MTLCommandQueue> {
 @public
  std::shared_ptr<QueueState> queue;
}
@property(copy) NSString* label;
@end

@interface StandinDevice : NSObject <MTLDevice>
@end

// This place of the sample buffer is filled by that command buffer.
void standin_claim(StandinSamples* samples, NSUInteger index, StandinCommandBuffer* by);
// Sets the event; the rule it breaks, or "".
std::string standin_signal(StandinEvent* event, uint64_t value);
// Waits for the value; false when no command buffer signals it any more.
bool standin_await(StandinEvent* event, uint64_t value);
// A command buffer that signals this value is made, or done.
void standin_expect(StandinEvent* event, uint64_t value, bool coming);
