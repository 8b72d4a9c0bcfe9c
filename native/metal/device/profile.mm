#include "metal/device/profile.h"

#include "metal/device/objects.h"

namespace longhand::metal {

namespace {

constexpr NSUInteger dispatches = 1024;  // two samples of 8 bytes each; a buffer holds up to 32 KB

id<MTLCounterSet> timestamps(id<MTLDevice> device) {
  for (id<MTLCounterSet> each in device.counterSets)
    if ([each.name isEqualToString:MTLCommonCounterSetTimestamp]) return each;
  return nil;
}

// The two clocks at one moment. The GPU's has a unit of its own; the CPU's counts nanoseconds.
struct Moment {
  MTLTimestamp cpu = 0, gpu = 0;
  explicit Moment(id<MTLDevice> device) { [device sampleTimestamps:&cpu gpuTimestamp:&gpu]; }
};

}  // namespace

struct Samples::Objects {
  id<MTLDevice> device;
  id<MTLCounterSampleBuffer> buffer;
  Moment begin;
};

Samples::~Samples() = default;

std::unique_ptr<Samples> Samples::make(Device& device) {
  id<MTLDevice> gpu = device.objects().device;
  if (![gpu supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary]) return nullptr;
  MTLCounterSampleBufferDescriptor* descriptor = [MTLCounterSampleBufferDescriptor new];
  descriptor.counterSet = timestamps(gpu);
  descriptor.storageMode = MTLStorageModeShared;
  descriptor.sampleCount = 2 * dispatches;
  if (!descriptor.counterSet) return nullptr;
  id<MTLCounterSampleBuffer> buffer = [gpu newCounterSampleBufferWithDescriptor:descriptor error:nil];
  if (!buffer) return nullptr;
  std::unique_ptr<Samples> made(new Samples);
  made->objects_.reset(new Objects{gpu, buffer, Moment(gpu)});
  return made;
}

bool Samples::full() const { return kernels_.size() == dispatches; }

void* Samples::encoder(void* commands, const char* kernel) {
  MTLComputePassDescriptor* pass = [MTLComputePassDescriptor computePassDescriptor];
  pass.dispatchType = MTLDispatchTypeConcurrent;
  MTLComputePassSampleBufferAttachmentDescriptor* how = pass.sampleBufferAttachments[0];
  how.sampleBuffer = objects_->buffer;
  how.startOfEncoderSampleIndex = 2 * kernels_.size();
  how.endOfEncoderSampleIndex = 2 * kernels_.size() + 1;
  kernels_.push_back(kernel);
  return (__bridge void*)[(__bridge id<MTLCommandBuffer>)commands computeCommandEncoderWithDescriptor:pass];
}

void Samples::add_to(std::map<std::string, KernelTime>& times) const {
  if (kernels_.empty()) return;
  const Moment end(objects_->device);
  const double ticks = static_cast<double>(end.gpu - objects_->begin.gpu);
  const double unit = ticks > 0 ? 1e-9 * static_cast<double>(end.cpu - objects_->begin.cpu) / ticks : 0;
  NSData* data = [objects_->buffer resolveCounterRange:NSMakeRange(0, 2 * kernels_.size())];
  const auto* results = static_cast<const MTLCounterResultTimestamp*>(data.bytes);
  for (size_t i = 0; data && i < kernels_.size(); i++) {
    const uint64_t first = results[2 * i].timestamp, last = results[2 * i + 1].timestamp;
    if (first == MTLCounterErrorValue || last == MTLCounterErrorValue || last < first) continue;
    KernelTime& time = times[kernels_[i]];
    time.count++;
    time.seconds += unit * static_cast<double>(last - first);
  }
}

}  // namespace longhand::metal
