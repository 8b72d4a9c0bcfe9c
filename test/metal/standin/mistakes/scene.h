// What every program of mistakes needs: a device, the pipelines, a command buffer with a concurrent encoder.
#pragma once

#import <Metal/Metal.h>

#include <functional>
#include <map>
#include <string>

#include "metal/state.h"

namespace standin {

inline const char* const kSource = R"(#include <metal_stdlib>
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
inline constexpr MTLSize kOne{1, 1, 1};

// By their names.
using Programs = std::map<std::string, Program>;
const Programs& encoder_programs();
const Programs& resource_programs();

}  // namespace standin
