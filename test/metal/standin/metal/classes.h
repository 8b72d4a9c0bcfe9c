// The classes behind the protocols of <Metal/Metal.h>.
#pragma once

#import <Metal/Metal.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
  const mtl_kernel_desc* kernel;
  ConstantValues constants;
}
@property NSString* name;
- (std::string)identity;
@end

@interface StandinPipeline : NSObject <MTLComputePipelineState> {
 @public
  StandinFunction* function;
}
@property(copy) NSString* label;
@end

@interface StandinLibrary : NSObject <MTLLibrary> {
 @public
  standin::Library library;
}
@property(copy) NSString* label;
@end

@interface StandinArchive : NSObject <MTLBinaryArchive> {
 @public
  std::map<std::string, bool> entries;
}
@property(copy) NSString* label;
@end

// One thing a command buffer does: a dispatch, a copy, or a barrier (`run` empty).
struct Command {
  std::function<std::string()> run;
  bool barrier = false, concurrent = false;
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

@class StandinCommandBuffer;
@interface StandinEncoder : NSObject <MTLComputeCommandEncoder, MTLBlitCommandEncoder> {
 @public
  StandinCommandBuffer* owner;
  BOOL concurrent, ended;
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
}
@property(copy) NSString* label;
@property MTLCommandBufferStatus status;
@property(strong) NSError* error;
@property CFTimeInterval GPUStartTime, GPUEndTime;
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
