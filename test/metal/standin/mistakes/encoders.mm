// Mistakes in what is encoded: barriers, arguments, grids, command buffers.
#include "mistakes/scene.h"

namespace standin {

const Programs& encoder_programs() {
  static const Programs all = {
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

}  // namespace standin
