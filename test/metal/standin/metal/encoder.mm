// The compute and blit encoders: check every call, then record what the command buffer will run.
#include <algorithm>
#include <cstring>

#include "metal/classes.h"

using standin::misuse;

static std::string text_of(NSUInteger n) { return std::to_string(n); }

// Function constants are variables of the kernel's shared object: set before each dispatch, since pipelines share it.
static void set_constants(const StandinFunction* function) {
  const mtl_library_desc& all = *function->library.description;
  for (unsigned i = 0; i < all.nfcs; i++) {
    const auto given = function->constants.find(all.fcs[i].index);
    *all.fcs[i].defined = given != function->constants.end();
    if (*all.fcs[i].defined) memcpy(all.fcs[i].value, given->second.data(), all.fcs[i].size);
    else memset(all.fcs[i].value, 0, all.fcs[i].size);
  }
}

// What a pipeline that was made before check mode runs in it: accesses are followed only where they were compiled for
// it.
static StandinFunction* watched(StandinFunction* function) {
  if (function->options.check) return function;
  static std::mutex one;
  std::lock_guard guard(one);
  if (function->watched) return function->watched;
  StandinLibrary* library = [StandinLibrary new];
  library->text = function->text;
  library->options = function->options;
  library->options.check = true;
  library->library = standin::compile(library->text, library->options);
  function->watched = [library newFunctionWithName:function.name];
  function->watched->constants = function->constants;
  return function->watched;
}

static bool bound(const std::shared_ptr<std::vector<char>>& bytes, StandinBuffer* buffer) { return bytes || buffer; }

@implementation StandinEncoder

- (void)dealloc {
  if (!ended) fprintf(stderr, "[metal misuse] encoder released without endEncoding\n"), abort();
}
- (void)use {
  if (ended) misuse("encoder used after endEncoding");
}
- (void)useIndex:(NSUInteger)i {
  [self use];
  if (i >= standin::kBufferSlots) misuse("argument index " + text_of(i) + " is above 30");
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)chosen {
  [self use];
  if (!chosen) misuse("nil pipeline state");
  pipeline = (StandinPipeline*)chosen;
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)i {
  [self useIndex:i];
  if (buffer && offset >= buffer.length)
    misuse("buffer offset " + text_of(offset) + " is not below the length " + text_of(buffer.length));
  if (offset % 4) misuse("buffer offset " + text_of(offset) + " is not a multiple of 4");
  buffers[i] = (StandinBuffer*)buffer;
  offsets[i] = offset;
  inline_bytes[i] = nullptr;
}
- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)i {
  [self useIndex:i];
  if (!buffers[i]) misuse("setBufferOffset at an index without a buffer");
  if (offset >= buffers[i].length)
    misuse("buffer offset " + text_of(offset) + " is not below the length " + text_of(buffers[i].length));
  offsets[i] = offset;
}
- (void)setBytes:(const void*)p length:(NSUInteger)n atIndex:(NSUInteger)i {
  [self useIndex:i];
  if (n == 0 || n > 4096) misuse("setBytes takes 1 to 4096 bytes, " + text_of(n) + " were given");
  const char* bytes = static_cast<const char*>(p);
  inline_bytes[i] = std::make_shared<std::vector<char>>(bytes, bytes + n);
  buffers[i] = nil;
}
- (void)setThreadgroupMemoryLength:(NSUInteger)n atIndex:(NSUInteger)i {
  [self useIndex:i];
  if (n % 16) misuse("threadgroup memory length " + text_of(n) + " is not a multiple of 16");
  threadgroup_bytes[i] = static_cast<uint32_t>(n);
}

- (void)dispatch:(MTLSize)grid threads:(MTLSize)threads whole:(bool)whole {
  [self use];
  if (!pipeline) misuse("dispatch without a pipeline state");
  if (!grid.width || !grid.height || !grid.depth) misuse("empty dispatch");
  const NSUInteger count = threads.width * threads.height * threads.depth;
  // Not the one of a fault, which may have come since the caller asked for it.
  if (count > [pipeline limit])
    misuse("threadgroup of " + text_of(count) + " threads, the pipeline's limit is " + text_of([pipeline limit]));
  auto dispatch = std::make_shared<standin::Dispatch>();
  StandinFunction* function = standin::options().check ? watched(pipeline->function) : pipeline->function;
  dispatch->kernel = function->kernel;
  dispatch->max_threads = static_cast<unsigned>(pipeline->madeFor);
  dispatch->grid = {static_cast<unsigned>(grid.width), static_cast<unsigned>(grid.height),
                    static_cast<unsigned>(grid.depth)};
  dispatch->threadgroup = {static_cast<unsigned>(threads.width), static_cast<unsigned>(threads.height),
                           static_cast<unsigned>(threads.depth)};
  dispatch->whole_threadgroups = whole;
  const auto across = [](NSUInteger all, NSUInteger each) { return (all + each - 1) / each; };
  const uint64_t threadgroups =
      across(grid.width, threads.width) * across(grid.height, threads.height) * across(grid.depth, threads.depth);
  std::vector<std::shared_ptr<std::vector<char>>> constants;
  std::vector<StandinBuffer*> held;
  for (int i = 0; i < standin::kBufferSlots; i++) {
    dispatch->threadgroup_bytes[i] = threadgroup_bytes[i];
    if (!bound(inline_bytes[i], buffers[i])) continue;
    if (inline_bytes[i]) {
      dispatch->buffer[i] = inline_bytes[i]->data();
      dispatch->buffer_bytes[i] = inline_bytes[i]->size();
      constants.push_back(inline_bytes[i]);
    } else {
      dispatch->buffer[i] = buffers[i]->bytes + offsets[i];
      dispatch->buffer_bytes[i] = buffers[i].length - offsets[i];
      dispatch->buffer_label[i] = buffers[i].label ? buffers[i].label.UTF8String : "unnamed";
      held.push_back(buffers[i]);
    }
  }
  Command command;
  command.concurrent = concurrent;
  command.name = function->kernel->name;
  const std::string description =
      [function identity] + " threads=" + text_of(threads.width * threads.height * threads.depth);
  command.run = [dispatch, function, constants, held, description, threadgroups] {
    set_constants(function);
    standin::Work work;
    const std::string fault = standin::options().dry ? "" : standin::run(*dispatch, &work);
    standin::gpu_worked(description);
    std::lock_guard guard(standin::state().lock);
    standin::Counters& all = standin::state().counters;
    if (standin::state().faults.spoil_kernel == dispatch->kernel->name)
      ++*static_cast<uint32_t*>(dispatch->buffer[standin::state().faults.spoil_argument]);
    all.dispatches++;
    all.kernels[dispatch->kernel->name]++;
    all.threadgroups[dispatch->kernel->name] += threadgroups;
    all.work.threads += work.threads;
    all.work.barriers += work.barriers;
    all.work.simd_operations += work.simd_operations;
    all.work.matrix_operations += work.matrix_operations;
    if (work.bank_conflicts > 0) all.bank_conflicts[dispatch->kernel->name] += work.bank_conflicts;
    all.work.threadgroup_bytes = std::max(all.work.threadgroup_bytes, work.threadgroup_bytes);
    if (!standin::options().check) return fault;
    for (int i = 0; i < standin::kBufferSlots; i++) {  // a buffer bound twice is counted once
      bool again = !dispatch->buffer_label[i];
      for (int j = 0; j < i; j++) again |= dispatch->buffer[j] == dispatch->buffer[i];
      if (again) continue;
      const std::string label = dispatch->buffer_label[i];
      const uintptr_t low = reinterpret_cast<uintptr_t>(dispatch->buffer[i]);
      standin::Bytes& bytes = all.bytes[label.substr(0, label.find(' '))];
      bytes.read += standin::last_accesses().count(low, low + dispatch->buffer_bytes[i], standin::AccessSet::kRead);
      bytes.written +=
          standin::last_accesses().count(low, low + dispatch->buffer_bytes[i], standin::AccessSet::kWritten);
    }
    return fault;
  };
  owner->commands.push_back(std::move(command));
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads {
  [self dispatch:MTLSizeMake(groups.width * threads.width, groups.height * threads.height, groups.depth * threads.depth)
         threads:threads
           whole:true];
}
- (void)dispatchThreads:(MTLSize)grid threadsPerThreadgroup:(MTLSize)threads {
  [self dispatch:grid threads:threads whole:false];
}

- (void)updateFence:(id<MTLFence>)fence {
  [self use];
  if (!fence) misuse("nil fence");
  updated.push_back((StandinFence*)fence);
}
- (void)waitForFence:(id<MTLFence>)fence {
  [self use];
  StandinFence* which = (StandinFence*)fence;
  if (std::count(updated.begin(), updated.end(), which)) misuse("an encoder waits for a fence it has updated itself");
  if (!which->updated) misuse("an encoder waits for a fence that no encoder before it updates");
}
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)buffer
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier {
  [self use];
  misuse("this GPU takes samples between encoders only: ask supportsCounterSampling first");
}

- (void)memoryBarrierWithScope:(MTLBarrierScope)scope {
  [self use];
  if (scope != MTLBarrierScopeBuffers) misuse("a compute back end has no textures to order");
  Command command;
  command.barrier = true;
  owner->commands.push_back(std::move(command));
}
- (void)memoryBarrierWithResources:(const id<MTLResource>[])resources count:(NSUInteger)count {
  [self memoryBarrierWithScope:MTLBarrierScopeBuffers];
}

- (void)record:(std::string (^)(void))work name:(const char*)name {
  Command command;
  command.name = name;
  command.run = [work] { return work(); };
  owner->commands.push_back(std::move(command));
}
- (void)copyFromBuffer:(id<MTLBuffer>)from
          sourceOffset:(NSUInteger)at
              toBuffer:(id<MTLBuffer>)to
     destinationOffset:(NSUInteger)there
                  size:(NSUInteger)n {
  [self use];
  if (at + n > from.length || there + n > to.length) misuse("copy outside a buffer");
  StandinBuffer *a = (StandinBuffer*)from, *b = (StandinBuffer*)to;
  [self
      record:^{
        memmove(b->bytes + there, a->bytes + at, n);
        return std::string();
      }
        name:"copy"];
}
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  [self use];
  if (range.location + range.length > buffer.length) misuse("fill outside a buffer");
  StandinBuffer* b = (StandinBuffer*)buffer;
  [self
      record:^{
        memset(b->bytes + range.location, value, range.length);
        return std::string();
      }
        name:"fill"];
}

- (void)insertDebugSignpost:(NSString*)text {
  [self use];
}
- (void)endEncoding {
  [self use];
  ended = YES;
  owner->encoding = NO;
  for (StandinFence* fence : updated) fence->updated = owner;
  Command command;
  command.barrier = true;
  owner->commands.push_back(std::move(command));
  if (samples) [owner take:last_sample of:samples];
  owner = nil;
}
@end
