// Stand-in for <Metal/Metal.h>: compute only. Selectors, types and enum values as in Apple's headers.
#pragma once
#import <Foundation/Foundation.h>
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-completeness"
typedef struct { NSUInteger width, height, depth; } MTLSize;
static inline MTLSize MTLSizeMake(NSUInteger w, NSUInteger h, NSUInteger d) { return MTLSize{w, h, d}; }
typedef NS_OPTIONS(NSUInteger, MTLResourceOptions) {
  MTLResourceCPUCacheModeDefaultCache = 0, MTLResourceCPUCacheModeWriteCombined = 1, MTLResourceStorageModeShared = 0, MTLResourceStorageModeManaged = 1 << 4, MTLResourceStorageModePrivate = 2 << 4,
  MTLResourceHazardTrackingModeDefault = 0, MTLResourceHazardTrackingModeUntracked = 1 << 8, MTLResourceHazardTrackingModeTracked = 2 << 8 };
typedef NS_ENUM(NSUInteger, MTLStorageMode) { MTLStorageModeShared = 0, MTLStorageModeManaged = 1, MTLStorageModePrivate = 2 };
typedef NS_OPTIONS(NSUInteger, MTLBarrierScope) { MTLBarrierScopeBuffers = 1, MTLBarrierScopeTextures = 2 };
typedef NS_ENUM(NSUInteger, MTLDispatchType) { MTLDispatchTypeSerial = 0, MTLDispatchTypeConcurrent = 1 };
typedef NS_ENUM(NSUInteger, MTLDataType) { MTLDataTypeNone = 0, MTLDataTypeFloat = 3, MTLDataTypeHalf = 16, MTLDataTypeInt = 29, MTLDataTypeUInt = 33, MTLDataTypeShort = 37, MTLDataTypeUShort = 41, MTLDataTypeBool = 53 };
typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) { MTLCommandBufferStatusNotEnqueued = 0, MTLCommandBufferStatusEnqueued = 1, MTLCommandBufferStatusCommitted = 2, MTLCommandBufferStatusScheduled = 3, MTLCommandBufferStatusCompleted = 4, MTLCommandBufferStatusError = 5 };
typedef NS_ENUM(NSUInteger, MTLLanguageVersion) { MTLLanguageVersion3_0 = (3 << 16), MTLLanguageVersion3_1 = (3 << 16) + 1, MTLLanguageVersion3_2 = (3 << 16) + 2 };
typedef NS_ENUM(NSInteger, MTLGPUFamily) { MTLGPUFamilyApple7 = 1007, MTLGPUFamilyApple8 = 1008, MTLGPUFamilyApple9 = 1009, MTLGPUFamilyMetal3 = 5001 };
typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) { MTLPipelineOptionNone = 0, MTLPipelineOptionFailOnBinaryArchiveMiss = 1 << 2 };
FOUNDATION_EXPORT NSString* const MTLLibraryErrorDomain; FOUNDATION_EXPORT NSString* const MTLCommandBufferErrorDomain, * const MTLBinaryArchiveDomain;
@protocol MTLFence, MTLEvent, MTLSharedEvent, MTLCounterSet, MTLCounterSampleBuffer;
@class MTLCounterSampleBufferDescriptor, MTLComputePassDescriptor;
@protocol MTLDevice, MTLLibrary, MTLFunction, MTLComputePipelineState, MTLCommandQueue, MTLCommandBuffer, MTLCommandEncoder, MTLComputeCommandEncoder, MTLBlitCommandEncoder, MTLBuffer, MTLResource, MTLBinaryArchive, MTLHeap, MTLResidencySet;
@class MTLComputePipelineReflection, MTLResidencySetDescriptor;
typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);
@interface MTLCompileOptions : NSObject
@property (readwrite, nonatomic, copy) NSDictionary<NSString*, NSObject*>* preprocessorMacros; @property (readwrite, nonatomic) BOOL fastMathEnabled; @property (readwrite, nonatomic) MTLLanguageVersion languageVersion;
@end
@interface MTLFunctionConstantValues : NSObject
- (void)setConstantValue:(const void*)v type:(MTLDataType)t atIndex:(NSUInteger)i; - (void)reset;
@end
@interface MTLComputePipelineDescriptor : NSObject
@property (nonatomic, copy) NSString* label; @property (nonatomic, strong) id<MTLFunction> computeFunction; @property (nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth; @property (nonatomic) NSUInteger maxTotalThreadsPerThreadgroup; @property (nonatomic, copy) NSArray<id<MTLBinaryArchive>>* binaryArchives;
@end
@interface MTLBinaryArchiveDescriptor : NSObject
@property (nonatomic, copy) NSURL* url;
@end
typedef NS_ENUM(NSInteger, MTLHeapType) { MTLHeapTypeAutomatic = 0, MTLHeapTypePlacement = 1, MTLHeapTypeSparse = 2 };
typedef NS_ENUM(NSUInteger, MTLHazardTrackingMode) { MTLHazardTrackingModeDefault = 0, MTLHazardTrackingModeUntracked = 1, MTLHazardTrackingModeTracked = 2 };
typedef struct { NSUInteger size, align; } MTLSizeAndAlign;
@interface MTLHeapDescriptor : NSObject
@property (nonatomic) NSUInteger size; @property (nonatomic) MTLStorageMode storageMode; @property (nonatomic) MTLHazardTrackingMode hazardTrackingMode; @property (nonatomic) MTLHeapType type;
@end
typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) { MTLCounterSamplingPointAtStageBoundary = 0, MTLCounterSamplingPointAtDrawBoundary = 1, MTLCounterSamplingPointAtDispatchBoundary = 2, MTLCounterSamplingPointAtTileDispatchBoundary = 3, MTLCounterSamplingPointAtBlitBoundary = 4 };
typedef uint64_t MTLTimestamp; typedef NSString* MTLCommonCounterSet; FOUNDATION_EXPORT MTLCommonCounterSet const MTLCommonCounterSetTimestamp; FOUNDATION_EXPORT NSString* const MTLCounterErrorDomain;
typedef struct { uint64_t timestamp; } MTLCounterResultTimestamp;
#define MTLCounterErrorValue ((uint64_t)-1)
#define MTLCounterDontSample ((NSUInteger)-1)
@protocol MTLCounterSet <NSObject> @property (readonly, copy) NSString* name; @end
@interface MTLCounterSampleBufferDescriptor : NSObject
@property (nonatomic, strong) id<MTLCounterSet> counterSet; @property (nonatomic, copy) NSString* label; @property (nonatomic) MTLStorageMode storageMode; @property (nonatomic) NSUInteger sampleCount;
@end
@protocol MTLCounterSampleBuffer <NSObject> @property (readonly, copy) NSString* label; @property (readonly) NSUInteger sampleCount; - (NSData*)resolveCounterRange:(NSRange)r; @end
@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject
@property (nonatomic, strong) id<MTLCounterSampleBuffer> sampleBuffer; @property (nonatomic) NSUInteger startOfEncoderSampleIndex, endOfEncoderSampleIndex;
@end
@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject
- (MTLComputePassSampleBufferAttachmentDescriptor*)objectAtIndexedSubscript:(NSUInteger)i;
@end
@interface MTLComputePassDescriptor : NSObject
+ (MTLComputePassDescriptor*)computePassDescriptor; @property (nonatomic) MTLDispatchType dispatchType; @property (readonly) MTLComputePassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments;
@end
@protocol MTLFence <NSObject> @property (copy) NSString* label; @end
@protocol MTLEvent <NSObject> @property (copy) NSString* label; @end
@protocol MTLSharedEvent <MTLEvent> @property (readwrite) uint64_t signaledValue; - (BOOL)waitUntilSignaledValue:(uint64_t)v timeoutMS:(uint64_t)ms; @end
@protocol MTLDevice <NSObject>
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)n options:(MTLResourceOptions)o; - (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)d;
- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor*)d error:(NSError**)e;
@property (readonly) NSString* name; @property (readonly) uint64_t registryID; @property (readonly) BOOL hasUnifiedMemory; @property (readonly) NSUInteger maxThreadgroupMemoryLength; @property (readonly) MTLSize maxThreadsPerThreadgroup; @property (readonly) NSUInteger maxBufferLength; @property (readonly) uint64_t recommendedMaxWorkingSetSize; @property (readonly) NSUInteger currentAllocatedSize;
- (BOOL)supportsFamily:(MTLGPUFamily)f; - (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)p;
@property (readonly) NSArray<id<MTLCounterSet>>* counterSets;
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor*)d error:(NSError**)e; - (void)sampleTimestamps:(MTLTimestamp*)cpu gpuTimestamp:(MTLTimestamp*)gpu;
- (id<MTLFence>)newFence; - (id<MTLSharedEvent>)newSharedEvent;
- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)n options:(MTLResourceOptions)o; - (id<MTLBuffer>)newBufferWithBytes:(const void*)p length:(NSUInteger)n options:(MTLResourceOptions)o;
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)p length:(NSUInteger)n options:(MTLResourceOptions)o deallocator:(void (^)(void*, NSUInteger))d;
- (id<MTLLibrary>)newLibraryWithSource:(NSString*)s options:(MTLCompileOptions*)o error:(NSError**)e; - (id<MTLLibrary>)newLibraryWithURL:(NSURL*)u error:(NSError**)e;
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)f error:(NSError**)e;
- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)d options:(MTLPipelineOption)o reflection:(MTLComputePipelineReflection**)r error:(NSError**)e;
- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor*)d error:(NSError**)e;
@end
@protocol MTLLibrary <NSObject>
@property (copy) NSString* label; @property (readonly) NSArray<NSString*>* functionNames;
- (id<MTLFunction>)newFunctionWithName:(NSString*)n; - (id<MTLFunction>)newFunctionWithName:(NSString*)n constantValues:(MTLFunctionConstantValues*)v error:(NSError**)e;
@end
@protocol MTLFunction <NSObject> @property (readonly) NSString* name; @end
@protocol MTLBinaryArchive <NSObject>
@property (copy) NSString* label;
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor*)d error:(NSError**)e; - (BOOL)serializeToURL:(NSURL*)u error:(NSError**)e;
@end
@protocol MTLComputePipelineState <NSObject>
@property (readonly, copy) NSString* label;
@property (readonly) NSUInteger maxTotalThreadsPerThreadgroup, threadExecutionWidth, staticThreadgroupMemoryLength;
@end
@protocol MTLAllocation <NSObject> @property (readonly) NSUInteger allocatedSize; @end
@interface MTLResidencySetDescriptor : NSObject
@property (nonatomic, copy) NSString* label; @property (nonatomic) NSUInteger initialCapacity;
@end
@protocol MTLResidencySet <NSObject>
@property (readonly, copy) NSString* label; @property (readonly) NSUInteger allocationCount;
- (void)addAllocation:(id<MTLAllocation>)a; - (void)removeAllocation:(id<MTLAllocation>)a; - (void)commit; - (void)requestResidency; - (void)endResidency; - (BOOL)containsAllocation:(id<MTLAllocation>)a;
@end
@protocol MTLResource <MTLAllocation> @property (copy) NSString* label; @property (readonly) MTLStorageMode storageMode; @end
@protocol MTLBuffer <MTLResource>
@property (readonly) NSUInteger length; @property (readonly) uint64_t gpuAddress; - (void*)contents; - (void)didModifyRange:(NSRange)r;
@end
@protocol MTLHeap <MTLAllocation>
@property (copy) NSString* label; @property (readonly) NSUInteger size; @property (readonly) MTLStorageMode storageMode; @property (readonly) MTLHeapType type; @property (readonly) MTLHazardTrackingMode hazardTrackingMode;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)n options:(MTLResourceOptions)o offset:(NSUInteger)at;
@end
@protocol MTLCommandQueue <NSObject> @property (copy) NSString* label; - (id<MTLCommandBuffer>)commandBuffer; - (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences; - (void)addResidencySet:(id<MTLResidencySet>)s; - (void)removeResidencySet:(id<MTLResidencySet>)s; @end
@protocol MTLCommandBuffer <NSObject>
@property (copy) NSString* label; @property (readonly) MTLCommandBufferStatus status; @property (readonly) NSError* error; @property (readonly) CFTimeInterval GPUStartTime, GPUEndTime;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder; - (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)t; - (id<MTLBlitCommandEncoder>)blitCommandEncoder;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor*)d;
- (void)encodeSignalEvent:(id<MTLEvent>)e value:(uint64_t)v; - (void)encodeWaitForEvent:(id<MTLEvent>)e value:(uint64_t)v;
- (void)enqueue; - (void)commit; - (void)waitUntilCompleted; - (void)waitUntilScheduled; - (void)addCompletedHandler:(MTLCommandBufferHandler)h;
@end
@protocol MTLCommandEncoder <NSObject> @property (copy) NSString* label; - (void)insertDebugSignpost:(NSString*)s; - (void)endEncoding; @end
@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)s; - (void)setBuffer:(id<MTLBuffer>)b offset:(NSUInteger)o atIndex:(NSUInteger)i; - (void)setBufferOffset:(NSUInteger)o atIndex:(NSUInteger)i; - (void)setBytes:(const void*)p length:(NSUInteger)n atIndex:(NSUInteger)i; - (void)setThreadgroupMemoryLength:(NSUInteger)n atIndex:(NSUInteger)i;
- (void)dispatchThreadgroups:(MTLSize)g threadsPerThreadgroup:(MTLSize)t; - (void)dispatchThreads:(MTLSize)g threadsPerThreadgroup:(MTLSize)t;
- (void)updateFence:(id<MTLFence>)f; - (void)waitForFence:(id<MTLFence>)f; - (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)b atSampleIndex:(NSUInteger)i withBarrier:(BOOL)barrier;
- (void)memoryBarrierWithScope:(MTLBarrierScope)s; - (void)memoryBarrierWithResources:(const id<MTLResource>[])r count:(NSUInteger)n;
@end
@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)copyFromBuffer:(id<MTLBuffer>)s sourceOffset:(NSUInteger)so toBuffer:(id<MTLBuffer>)d destinationOffset:(NSUInteger)o size:(NSUInteger)n; - (void)fillBuffer:(id<MTLBuffer>)b range:(NSRange)r value:(uint8_t)v;
@end
FOUNDATION_EXPORT id<MTLDevice> MTLCreateSystemDefaultDevice(void) NS_RETURNS_RETAINED;
typedef NS_ENUM(NSInteger, MTLCaptureDestination) { MTLCaptureDestinationDeveloperTools = 1, MTLCaptureDestinationGPUTraceDocument = 2 };
@interface MTLCaptureDescriptor : NSObject
@property (nonatomic, strong) id captureObject; @property (nonatomic) MTLCaptureDestination destination; @property (nonatomic, copy) NSURL* outputURL;
@end
@interface MTLCaptureManager : NSObject
+ (MTLCaptureManager*)sharedCaptureManager;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)d error:(NSError**)e; - (void)stopCapture;
@end
#pragma clang diagnostic pop
