#include "mistakes.h"

#import <Metal/Metal.h>

#include <functional>
#include <map>

#include "metal/state.h"

namespace standin {
namespace {

const char* const kSource = R"(#include <metal_stdlib>
using namespace metal;
struct Size { uint n; uint more; };
kernel void fill(device float* y [[buffer(0)]], constant Size& p [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  if (i < p.n) y[i] = float(i);
}
kernel void twice(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant Size& p [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  if (i < p.n) y[i] = 2 * x[i];
}
kernel void local(device float* y [[buffer(0)]], threadgroup float* s [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]]) {
  s[i] = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = s[i];
}
[[max_total_threads_per_threadgroup(64)]]
kernel void narrow(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] = 1; }
constant bool loud [[function_constant(0)]];
kernel void optional(device float* y [[buffer(0)]], device const float* x [[buffer(1), function_constant(loud)]], uint i [[thread_position_in_grid]]) {
  y[i] = loud ? x[i] : 0.0f;
}
)";

struct Size {
  uint32_t n, more;
};

// What every program needs: a device, the pipelines, a command buffer with a concurrent encoder.
struct Scene {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  id<MTLCommandQueue> queue = [device newCommandQueue];
  id<MTLLibrary> library;
  id<MTLCommandBuffer> commands;
  id<MTLComputeCommandEncoder> encoder;
  Size size{64, 0};

  Scene() {
    NSError* error = nil;
    library = [device newLibraryWithSource:[NSString stringWithUTF8String:kSource]
                                   options:[MTLCompileOptions new]
                                     error:&error];
    if (!library) throw Misuse(error.localizedDescription.UTF8String);
    commands = [queue commandBuffer];
    encoder = [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
  }
  ~Scene() {
    if (encoder) try {
        [encoder endEncoding];
      } catch (const Misuse&) {
      }
  }
  id<MTLComputePipelineState> pipeline(NSString* name, NSUInteger threads = 0) {
    MTLComputePipelineDescriptor* descriptor = [MTLComputePipelineDescriptor new];
    descriptor.computeFunction = [library newFunctionWithName:name];
    descriptor.maxTotalThreadsPerThreadgroup = threads;
    return [device newComputePipelineStateWithDescriptor:descriptor
                                                 options:MTLPipelineOptionNone
                                              reflection:nil
                                                   error:nil];
  }
  id<MTLBuffer> buffer(NSUInteger floats) {
    id<MTLBuffer> made = [device newBufferWithLength:floats * 4 options:MTLResourceStorageModeShared];
    made.label = @"test";
    return made;
  }
  id<MTLResidencySet> residency() {
    return [device newResidencySetWithDescriptor:[MTLResidencySetDescriptor new] error:nil];
  }
  id<MTLHeap> heap(NSUInteger bytes, MTLHeapType type) {
    MTLHeapDescriptor* descriptor = [MTLHeapDescriptor new];
    descriptor.size = bytes;
    descriptor.type = type;
    return [device newHeapWithDescriptor:descriptor];
  }
  id<MTLBuffer> placed(id<MTLHeap> in, NSUInteger offset) {
    return [in newBufferWithLength:256 options:MTLResourceStorageModeShared offset:offset];
  }
  void fill(id<MTLBuffer> to, NSUInteger offset = 0) {
    [encoder setComputePipelineState:pipeline(@"fill")];
    [encoder setBuffer:to offset:offset atIndex:0];
    [encoder setBytes:&size length:sizeof size atIndex:1];
    [encoder dispatchThreads:MTLSizeMake(64, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  }
  void twice(id<MTLBuffer> from, id<MTLBuffer> to) {
    [encoder setComputePipelineState:pipeline(@"twice")];
    [encoder setBuffer:from offset:0 atIndex:0];
    [encoder setBuffer:to offset:0 atIndex:1];
    [encoder setBytes:&size length:sizeof size atIndex:2];
    [encoder dispatchThreads:MTLSizeMake(64, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
  }
  MTLCounterSampleBufferDescriptor* sample_descriptor(NSUInteger count) {
    MTLCounterSampleBufferDescriptor* descriptor = [MTLCounterSampleBufferDescriptor new];
    descriptor.counterSet = device.counterSets[0];
    descriptor.storageMode = MTLStorageModeShared;
    descriptor.sampleCount = count;
    return descriptor;
  }
  id<MTLCounterSampleBuffer> samples(NSUInteger count) {
    return [device newCounterSampleBufferWithDescriptor:sample_descriptor(count) error:nil];
  }
  // From here on an encoder between two samples.
  void sampled(id<MTLCounterSampleBuffer> samples, NSUInteger first, NSUInteger last) {
    [encoder endEncoding];
    encoder = nil;
    MTLComputePassDescriptor* pass = [MTLComputePassDescriptor computePassDescriptor];
    pass.sampleBufferAttachments[0].sampleBuffer = samples;
    pass.sampleBufferAttachments[0].startOfEncoderSampleIndex = first;
    pass.sampleBufferAttachments[0].endOfEncoderSampleIndex = last;
    encoder = [commands computeCommandEncoderWithDescriptor:pass];
  }
  // Ends the encoder, signals, commits and waits; the command buffer's error.
  std::string signal(id<MTLSharedEvent> event, uint64_t value) {
    [encoder endEncoding];
    encoder = nil;
    [commands encodeSignalEvent:event value:value];
    return finish();
  }
  void barrier() { [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers]; }
  // Ends, commits and waits; the command buffer's error.
  std::string finish() {
    if (encoder) [encoder endEncoding];
    encoder = nil;
    [commands commit];
    [commands waitUntilCompleted];
    return commands.status == MTLCommandBufferStatusCompleted ? "" : commands.error.localizedDescription.UTF8String;
  }
};

using Program = std::function<std::string(Scene&)>;
constexpr MTLSize kOne{1, 1, 1};

const std::map<std::string, Program>& programs() {
  static const std::map<std::string, Program> all = {
      {"none",
       [](Scene& s) {
         id<MTLBuffer> a = s.buffer(64), b = s.buffer(64);
         s.fill(a), s.barrier(), s.twice(a, b);
         const std::string error = s.finish();
         return error.empty() && static_cast<float*>([b contents])[63] == 126 ? "" : "wrong result " + error;
       }},
      {"missing barrier, read after write",
       [](Scene& s) {
         id<MTLBuffer> a = s.buffer(64), b = s.buffer(64);
         s.fill(a), s.twice(a, b);
         return s.finish();
       }},
      {"missing barrier, write after read",
       [](Scene& s) {
         id<MTLBuffer> a = s.buffer(64), b = s.buffer(64);
         s.twice(a, b), s.fill(a);
         return s.finish();
       }},
      {"missing barrier, write after write",
       [](Scene& s) {
         id<MTLBuffer> a = s.buffer(64);
         s.fill(a), s.fill(a);
         return s.finish();
       }},
      {"offset leaves too little room", [](Scene& s) { return s.fill(s.buffer(64), 128), s.finish(); }},
      {"offset beyond the buffer", [](Scene& s) { return s.fill(s.buffer(64), 512), s.finish(); }},
      {"offset not aligned", [](Scene& s) { return s.fill(s.buffer(80), 6), s.finish(); }},
      {"unbound buffer",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"fill")];
         [s.encoder setBytes:&s.size length:sizeof s.size atIndex:1];
         [s.encoder dispatchThreads:MTLSizeMake(64, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
         return s.finish();
       }},
      {"short constant",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"fill")];
         [s.encoder setBuffer:s.buffer(64) offset:0 atIndex:0];
         [s.encoder setBytes:&s.size length:4 atIndex:1];
         [s.encoder dispatchThreads:MTLSizeMake(64, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
         return s.finish();
       }},
      {"setBytes over 4 KB",
       [](Scene& s) {
         const std::string big(5000, 'x');
         [s.encoder setBytes:big.data() length:big.size() atIndex:1];
         return s.finish();
       }},
      {"dispatch without a pipeline",
       [](Scene& s) {
         [s.encoder dispatchThreadgroups:kOne threadsPerThreadgroup:kOne];
         return s.finish();
       }},
      {"empty grid",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"fill")];
         [s.encoder dispatchThreadgroups:MTLSizeMake(0, 1, 1) threadsPerThreadgroup:kOne];
         return s.finish();
       }},
      {"threadgroup too large for the device",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"fill", 1024)];
         [s.encoder dispatchThreadgroups:kOne threadsPerThreadgroup:MTLSizeMake(2048, 1, 1)];
         return s.finish();
       }},
      {"threadgroup too large for the pipeline",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"narrow")];
         [s.encoder dispatchThreadgroups:kOne threadsPerThreadgroup:MTLSizeMake(128, 1, 1)];
         return s.finish();
       }},
      {"threadgroup too large for what was said",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"fill")];
         [s.encoder dispatchThreadgroups:kOne threadsPerThreadgroup:MTLSizeMake(512, 1, 1)];
         return s.finish();
       }},
      {"a pipeline for too many threads",
       [](Scene& s) {
         s.pipeline(@"fill", 2048);
         return std::string();
       }},
      {"threadgroup memory not set",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"local")];
         [s.encoder setBuffer:s.buffer(32) offset:0 atIndex:0];
         [s.encoder dispatchThreadgroups:kOne threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
         return s.finish();
       }},
      {"threadgroup memory over 32 KB",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"local")];
         [s.encoder setBuffer:s.buffer(32) offset:0 atIndex:0];
         [s.encoder setThreadgroupMemoryLength:40000 atIndex:0];
         [s.encoder dispatchThreadgroups:kOne threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
         return s.finish();
       }},
      {"threadgroup memory too short",
       [](Scene& s) {
         [s.encoder setComputePipelineState:s.pipeline(@"local")];
         [s.encoder setBuffer:s.buffer(32) offset:0 atIndex:0];
         [s.encoder setThreadgroupMemoryLength:64 atIndex:0];
         [s.encoder dispatchThreadgroups:kOne threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
         return s.finish();
       }},
      {"encoder used after its end",
       [](Scene& s) {
         [s.encoder endEncoding];
         s.fill(s.buffer(64));
         return std::string();
       }},
      {"commit with an open encoder",
       [](Scene& s) {
         [s.commands commit];
         return std::string();
       }},
      {"commit twice",
       [](Scene& s) {
         s.finish();
         [s.commands commit];
         return std::string();
       }},
      {"two encoders at once",
       [](Scene& s) {
         [s.commands computeCommandEncoder];
         return std::string();
       }},
      {"wait before commit",
       [](Scene& s) {
         [s.commands waitUntilCompleted];
         return std::string();
       }},
      {"buffer freed too early",
       [](Scene& s) {
         // A view on memory that is gone when the GPU reads it: the encoder retains the buffer, nobody retains the
         // pages.
         id<MTLBuffer> b = s.buffer(64);
         id<MTLBuffer> view = [s.device newBufferWithBytesNoCopy:[b contents]
                                                          length:16384
                                                         options:MTLResourceStorageModeShared
                                                     deallocator:nil];
         s.fill(view);
         return s.finish();
       }},
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
      {"function constant of another type",
       [](Scene& s) {
         MTLFunctionConstantValues* values = [MTLFunctionConstantValues new];
         const uint32_t wide = 1;
         [values setConstantValue:&wide type:MTLDataTypeUInt atIndex:0];
         NSError* error = nil;
         id<MTLFunction> function = [s.library newFunctionWithName:@"optional" constantValues:values error:&error];
         return std::string(function ? "" : error.localizedDescription.UTF8String);
       }},
      {"blit outside a buffer",
       [](Scene& s) {
         [s.encoder endEncoding];
         s.encoder = nil;
         id<MTLBlitCommandEncoder> blit = [s.commands blitCommandEncoder];
         try {
           [blit copyFromBuffer:s.buffer(4) sourceOffset:0 toBuffer:s.buffer(4) destinationOffset:8 size:16];
         } catch (const Misuse& noticed) {
           [blit endEncoding];
           return std::string(noticed.what());
         }
         [blit endEncoding];
         return std::string();
       }},
  };
  return all;
}

}  // namespace

std::string make_mistake(const std::string& name) {
  const auto found = programs().find(name);
  if (found == programs().end()) return "no such program";
  @autoreleasepool {
    try {
      Scene scene;
      return found->second(scene);
    } catch (const Misuse& noticed) {
      return noticed.what();
    }
  }
}

}  // namespace standin
