// Command buffers and queues. A concurrent encoder promises no order between barriers: those dispatches are run
// backwards, and in check mode the bytes they touched are compared, so that a missing barrier is found either way.
#include <cstdlib>

#include <algorithm>

#include "metal/classes.h"

using standin::misuse;
using standin::state;

NSString* const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";

void QueueState::loop() {
  for (;;) {
    std::function<void()> job;
    {
      std::unique_lock guard(lock);
      wake.wait(guard, [this] { return quit || !work.empty(); });
      if (work.empty()) return;
      job = std::move(work.front());
      work.pop_front();
    }
    job();
  }
}
void QueueState::push(std::function<void()> job) {
  std::lock_guard guard(lock);
  work.push_back(std::move(job));
  if (!thread.joinable()) thread = std::thread([this] { loop(); });
  wake.notify_all();
}
QueueState::~QueueState() {
  {
    std::lock_guard guard(lock);
    quit = true;
    wake.notify_all();
  }
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) thread.detach();
  else thread.join();
}

static double now() { return 1e-9 * static_cast<double>(standin::gpu_nanoseconds()); }

// Dispatches since the last barrier and what each touched.
struct Concurrent {
  std::vector<std::pair<std::string, standin::AccessSet>> dispatches;

  std::string check(const std::string& name) {
    const standin::AccessSet& mine = standin::last_accesses();
    for (const auto& [other, accesses] : dispatches)
      if (accesses.conflict(mine))
        return "missing barrier between '" + other + "' and '" + name + "': both touch byte " +
               std::to_string(accesses.conflict(mine)) + ", at least one writes it";
    standin::AccessSet copy;
    copy.merge(mine);
    dispatches.emplace_back(name, std::move(copy));
    return "";
  }
};

static std::string run_concurrently(const std::vector<Command>& commands, size_t first, size_t end) {
  Concurrent seen;
  std::string fault;
  for (size_t k = end; k-- > first && fault.empty();) {
    fault = commands[k].run();
    if (fault.empty() && standin::options().check) fault = seen.check(commands[k].name);
  }
  return fault;
}

static std::string run_all(const std::vector<Command>& commands) {
  static std::mutex gpu;  // one GPU, one dispatch at a time
  std::string fault;
  for (size_t i = 0; i < commands.size() && fault.empty();) {
    std::unique_lock guard(gpu, std::defer_lock);
    if (!commands[i].waits) guard.lock();
    size_t end = i;
    while (end < commands.size() && commands[end].concurrent && !commands[end].barrier) end++;
    if (end > i) {
      fault = run_concurrently(commands, i, end);
      i = end;
    } else {
      if (commands[i].run) fault = commands[i].run();
      i++;
    }
  }
  return fault;
}

// The error an injected fault ends this command buffer with, or 0.
static int injected_code() {
  std::lock_guard guard(state().lock);
  int& countdown = state().faults.command_buffer;
  if (countdown == 0 || --countdown > 0) return 0;
  return state().faults.command_buffer_code;
}

@implementation StandinCommandBuffer

- (StandinEncoder*)encoder:(BOOL)concurrent {
  if (_status >= MTLCommandBufferStatusCommitted) misuse("encoding into a committed command buffer");
  if (encoding) misuse("the previous encoder is still open");
  encoding = YES;
  StandinEncoder* encoder = [StandinEncoder new];
  encoder->owner = self;
  encoder->concurrent = concurrent;
  return encoder;
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder {
  return [self encoder:NO];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type {
  return [self encoder:type == MTLDispatchTypeConcurrent];
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder {
  return [self encoder:NO];
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor*)pass {
  MTLComputePassSampleBufferAttachmentDescriptor* how = pass.sampleBufferAttachments[0];
  StandinSamples* samples = (StandinSamples*)how.sampleBuffer;
  if (samples) {
    standin_claim(samples, how.startOfEncoderSampleIndex, self);
    standin_claim(samples, how.endOfEncoderSampleIndex, self);
  }
  StandinEncoder* encoder = [self encoder:pass.dispatchType == MTLDispatchTypeConcurrent];
  if (!samples) return encoder;
  encoder->samples = samples;
  encoder->last_sample = how.endOfEncoderSampleIndex;
  [self take:how.startOfEncoderSampleIndex of:samples];
  return encoder;
}
- (void)take:(NSUInteger)index of:(StandinSamples*)samples {
  [self between:^{
    samples->samples[index] = standin::gpu_nanoseconds();
    return std::string();
  }];
}
// Something the GPU does between encoders.
- (void)between:(std::string (^)(void))work {
  Command command;
  command.run = [work] { return work(); };
  commands.push_back(std::move(command));
}
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value {
  if (encoding) misuse("an event is signalled with an open encoder");
  StandinEvent* which = (StandinEvent*)event;
  signals.emplace_back(which, value);
  standin_expect(which, value, true);
  [self between:^{
    return standin_signal(which, value);
  }];
}
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value {
  if (encoding) misuse("an event is waited for with an open encoder");
  StandinEvent* which = (StandinEvent*)event;
  [self between:^{
    return standin_await(which, value)
               ? std::string()
               : "Caused GPU Timeout Error: nothing signals the event's value " + std::to_string(value);
  }];
  commands.back().waits = true;
}
- (void)enqueue {
  _status = MTLCommandBufferStatusEnqueued;
}

- (void)execute {
  self.GPUStartTime = now();
  const int code = injected_code();
  std::string fault;
  if (code == 0) fault = run_all(commands);
  else fault = code == 2 ? "Caused GPU Timeout Error" : code == 8 ? "Insufficient Memory" : "Internal Error";
  const auto barriers = std::count_if(commands.begin(), commands.end(), [](const Command& c) { return c.barrier; });
  commands.clear();
  for (const auto& [event, value] : signals) standin_expect(event, value, false);
  signals.clear();
  self.GPUEndTime = now();
  if (!fault.empty()) self.error = standin_error(MTLCommandBufferErrorDomain, code ? code : 1, fault);
  {
    std::lock_guard guard(state().lock);
    state().counters.barriers += static_cast<uint64_t>(barriers);
    state().counters.in_flight--;
  }
  {
    std::lock_guard guard(lock);
    _status = fault.empty() ? MTLCommandBufferStatusCompleted : MTLCommandBufferStatusError;
  }
  auto callbacks = std::move(handlers);
  handlers.clear();
  for (const MTLCommandBufferHandler& callback : callbacks) callback(self);
  std::lock_guard guard(lock);
  finished.notify_all();
}

- (void)commit {
  if (_status >= MTLCommandBufferStatusCommitted) misuse("command buffer committed twice");
  if (encoding) misuse("commit with an open encoder");
  _status = MTLCommandBufferStatusCommitted;
  {
    std::lock_guard guard(state().lock);
    standin::Counters& all = state().counters;
    all.command_buffers++;
    all.most_in_flight = std::max(all.most_in_flight, ++all.in_flight);
  }
  StandinCommandBuffer* me = self;
  queue->push([me] {
    @autoreleasepool {
      [me execute];
    }
  });
}
- (void)waitUntilCompleted {
  if (_status < MTLCommandBufferStatusCommitted) misuse("waitUntilCompleted before commit");
  {
    std::lock_guard guard(state().lock);
    state().counters.waits++;
  }
  std::unique_lock guard(lock);
  finished.wait(guard, [self] { return _status >= MTLCommandBufferStatusCompleted; });
}
- (void)waitUntilScheduled {
  if (_status < MTLCommandBufferStatusCommitted) misuse("waitUntilScheduled before commit");
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler {
  if (_status >= MTLCommandBufferStatusCommitted) misuse("addCompletedHandler after commit");
  handlers.push_back(handler);
}
@end

@implementation StandinQueue
- (void)dealloc {
  std::lock_guard guard(state().lock);
  state().counters.queues--;
}
- (id<MTLCommandBuffer>)commandBuffer {
  StandinCommandBuffer* buffer = [StandinCommandBuffer new];
  buffer->queue = queue;
  return buffer;
}
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences {
  return [self commandBuffer];
}
- (void)addResidencySet:(id<MTLResidencySet>)set {
  if (!set) misuse("nil residency set");
}
- (void)removeResidencySet:(id<MTLResidencySet>)set {
}
@end
