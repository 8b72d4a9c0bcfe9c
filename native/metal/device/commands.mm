#include "metal/device/commands.h"

#include <algorithm>
#include <cstdlib>
#include <deque>

#include "formats/error.h"
#include "metal/device/objects.h"
#include "metal/device/profile.h"

namespace longhand::metal {
namespace {

constexpr size_t in_flight = 2;
// About 50 ms on the slowest supported GPU (M1, 8 cores): the desktop draws its frames between command buffers.
constexpr double work_per_command_buffer = 5e10;

// LONGHAND_METAL_CAPTURE=<file.gputrace>: the first pass of every model goes into a document for Xcode.
bool begin_capture(id<MTLDevice> device) {
  const char* path = std::getenv("LONGHAND_METAL_CAPTURE");
  if (!path || !*path) return false;
  MTLCaptureDescriptor* descriptor = [MTLCaptureDescriptor new];
  descriptor.captureObject = device;
  descriptor.destination = MTLCaptureDestinationGPUTraceDocument;
  descriptor.outputURL = [NSURL fileURLWithPath:[NSString stringWithUTF8String:path]];
  NSError* error = nil;
  if ([[MTLCaptureManager sharedCaptureManager] startCaptureWithDescriptor:descriptor error:&error]) return true;
  throw DeviceError("[metal] no capture into " + std::string(path) + ": " + text(error) +
                    "; MTL_CAPTURE_ENABLED=1 must be set");
}

MTLSize size(const std::array<size_t, 3>& n) { return MTLSizeMake(n[0], n[1], n[2]); }

}  // namespace

struct Commands::Objects {
  struct Running {
    id<MTLCommandBuffer> commands;
    std::unique_ptr<Samples> samples;  // when every dispatch is timed
  };
  id<MTLCommandBuffer> commands;
  id<MTLComputeCommandEncoder> encoder;
  std::unique_ptr<Samples> samples;
  std::deque<Running> running;
};

Commands::Commands(Device& device, Pipelines& pipelines)
    : device_(device), pipelines_(pipelines), objects_(std::make_unique<Objects>()) {
  @autoreleasepool {
    capturing_ = begin_capture(device.objects().device);
  }
}
Commands::~Commands() {
  abandon();
  end_capture();
}

void Commands::end_capture() {
  if (capturing_) [[MTLCaptureManager sharedCaptureManager] stopCapture];
  capturing_ = false;
}

bool Commands::busy() const { return objects_->encoder || !objects_->running.empty(); }

bool Commands::profile() {
  @autoreleasepool {
    return profiling_ = Samples::make(device_) != nullptr;
  }
}

void Commands::open() {
  if (objects_->commands) return;
  device_.objects().residency->settle();
  objects_->commands = [device_.objects().queue commandBuffer];
  if (profiling_) objects_->samples = Samples::make(device_);
}

// One for the whole command buffer; with samples, one for each dispatch.
void Commands::open_encoder(const char* kernel) {
  if (objects_->encoder && !objects_->samples) return;
  if (objects_->encoder) [objects_->encoder endEncoding];
  if (objects_->samples) {
    touched_.clear();
    objects_->encoder =
        (__bridge id<MTLComputeCommandEncoder>)objects_->samples->encoder((__bridge void*)objects_->commands, kernel);
  } else {
    objects_->encoder = [objects_->commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
  }
  if (!objects_->encoder) throw DeviceError("[metal] the GPU gave no command encoder");
}

bool Commands::collides(const Argument& a) const {
  const bool writes = a.access != Access::read;
  return std::any_of(touched_.begin(), touched_.end(), [&](const Span& span) {
    return span.buffer == a.buffer && a.offset < span.high && span.low < a.offset + a.bytes && (writes || span.writes);
  });
}

void Commands::dispatch(const Kernel& kernel, const Constants& constants, std::initializer_list<Argument> arguments,
                        const void* params, size_t params_bytes, const Grid& grid) {
  @autoreleasepool {
    const size_t threads = grid.threads_in_group();
    id<MTLComputePipelineState> pipeline =
        (__bridge id<MTLComputePipelineState>)pipelines_.get({kernel, constants, threads});
    if (threads > pipeline.maxTotalThreadsPerThreadgroup)
      throw DeviceError("[metal] kernel " + std::string(kernel.name) + " runs with " + std::to_string(threads) +
                        " threads, this GPU allows " + std::to_string(pipeline.maxTotalThreadsPerThreadgroup));
    open();
    open_encoder(kernel.name);
    id<MTLComputeCommandEncoder> encoder = objects_->encoder;
    if (std::any_of(arguments.begin(), arguments.end(), [&](const Argument& a) { return collides(a); })) {
      [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
      touched_.clear();
    }
    [encoder setComputePipelineState:pipeline];
    NSUInteger index = 0;
    for (const Argument& a : arguments) {
      [encoder setBuffer:(__bridge id<MTLBuffer>)metal_buffer(*a.buffer).handle() offset:a.offset atIndex:index++];
      touched_.push_back({a.buffer, a.offset, a.offset + a.bytes, a.access != Access::read});
    }
    [encoder setBytes:params length:params_bytes atIndex:index];
    if (grid.threadgroup_bytes) [encoder setThreadgroupMemoryLength:(grid.threadgroup_bytes + 15) / 16 * 16 atIndex:0];
    [encoder dispatchThreadgroups:size(grid.groups) threadsPerThreadgroup:size(grid.threads)];
    work_ += grid.work;
    if (work_ > work_per_command_buffer || (objects_->samples && objects_->samples->full())) commit();
  }
}

void Commands::commit() {
  if (!objects_->encoder) return;
  [objects_->encoder endEncoding];
  [objects_->commands commit];
  objects_->running.push_back({objects_->commands, std::move(objects_->samples)});
  ++committed_;
  objects_->encoder = nil;
  objects_->commands = nil;
  touched_.clear();
  work_ = 0;
  wait(in_flight - 1);
}

void Commands::retire() {
  const Objects::Running oldest = std::move(objects_->running.front());
  objects_->running.pop_front();
  [oldest.commands waitUntilCompleted];
  gpu_seconds_ += oldest.commands.GPUEndTime - oldest.commands.GPUStartTime;
  if (oldest.samples) oldest.samples->add_to(kernel_times_);
}

// The queue runs command buffers in order, so the oldest ends first. An error of any of them is the pass's error.
void Commands::wait(size_t allowed) {
  std::string failure;
  while (objects_->running.size() > allowed) {
    id<MTLCommandBuffer> oldest = objects_->running.front().commands;
    retire();
    if (oldest.status == MTLCommandBufferStatusError && failure.empty()) failure = text(oldest.error);
  }
  if (!failure.empty()) throw DeviceError("[metal] the GPU stopped: " + failure);
}

void Commands::finish() {
  @autoreleasepool {
    const bool worked = busy();
    commit();
    wait(0);
    if (worked) end_capture();
  }
}

uint64_t Commands::submit() {
  @autoreleasepool {
    commit();
    return committed_;
  }
}

void Commands::await(uint64_t ticket) {
  @autoreleasepool {
    wait(static_cast<size_t>(std::min<uint64_t>(committed_ - ticket, objects_->running.size())));
  }
}

void Commands::abandon() {
  @autoreleasepool {
    if (objects_->encoder) [objects_->encoder endEncoding];
    objects_->encoder = nil;
    objects_->commands = nil;
    objects_->samples.reset();
    touched_.clear();
    work_ = 0;
    while (!objects_->running.empty()) retire();
  }
}

}  // namespace longhand::metal
