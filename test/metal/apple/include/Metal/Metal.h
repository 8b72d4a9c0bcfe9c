// Made by generate.py from objc2-metal 0.3.2 (Zlib, Apache-2.0 or MIT).
#pragma once
#include "../prelude/Metal.h"
@class MTLBinaryArchiveDescriptor, MTLCaptureDescriptor, MTLCaptureManager, MTLCompileOptions, MTLComputePassDescriptor, MTLComputePassSampleBufferAttachmentDescriptor, MTLComputePassSampleBufferAttachmentDescriptorArray, MTLComputePipelineDescriptor, MTLComputePipelineReflection, MTLCounterSampleBufferDescriptor, MTLFunctionConstantValues, MTLHeapDescriptor, MTLResidencySetDescriptor;
@protocol MTLAllocation, MTLBinaryArchive, MTLBlitCommandEncoder, MTLBuffer, MTLCommandBuffer, MTLCommandEncoder, MTLCommandQueue, MTLComputeCommandEncoder, MTLComputePipelineState, MTLCounterSampleBuffer, MTLCounterSet, MTLDevice, MTLEvent, MTLFence, MTLFunction, MTLHeap, MTLLibrary, MTLResidencySet, MTLResource, MTLSharedEvent;
typedef enum __attribute__((enum_extensibility(open))) MTLBarrierScope : NSUInteger MTLBarrierScope;
enum MTLBarrierScope : NSUInteger { MTLBarrierScopeBuffers = 1, MTLBarrierScopeTextures = 2, MTLBarrierScopeRenderTargets = 4 };
typedef enum __attribute__((enum_extensibility(open))) MTLCPUCacheMode : NSUInteger MTLCPUCacheMode;
enum MTLCPUCacheMode : NSUInteger { MTLCPUCacheModeDefaultCache = 0, MTLCPUCacheModeWriteCombined = 1 };
typedef enum __attribute__((enum_extensibility(open))) MTLCaptureDestination : NSInteger MTLCaptureDestination;
enum MTLCaptureDestination : NSInteger { MTLCaptureDestinationDeveloperTools = 1, MTLCaptureDestinationGPUTraceDocument = 2 };
typedef enum __attribute__((enum_extensibility(open))) MTLCommandBufferStatus : NSUInteger MTLCommandBufferStatus;
enum MTLCommandBufferStatus : NSUInteger { MTLCommandBufferStatusNotEnqueued = 0, MTLCommandBufferStatusEnqueued = 1, MTLCommandBufferStatusCommitted = 2, MTLCommandBufferStatusScheduled = 3, MTLCommandBufferStatusCompleted = 4, MTLCommandBufferStatusError = 5 };
typedef enum __attribute__((enum_extensibility(open))) MTLCompileSymbolVisibility : NSInteger MTLCompileSymbolVisibility;
enum MTLCompileSymbolVisibility : NSInteger { MTLCompileSymbolVisibilityDefault = 0, MTLCompileSymbolVisibilityHidden = 1 };
typedef enum __attribute__((enum_extensibility(open))) MTLCounterSamplingPoint : NSUInteger MTLCounterSamplingPoint;
enum MTLCounterSamplingPoint : NSUInteger { MTLCounterSamplingPointAtStageBoundary = 0, MTLCounterSamplingPointAtDrawBoundary = 1, MTLCounterSamplingPointAtDispatchBoundary = 2, MTLCounterSamplingPointAtTileDispatchBoundary = 3, MTLCounterSamplingPointAtBlitBoundary = 4 };
typedef enum __attribute__((enum_extensibility(open))) MTLDataType : NSUInteger MTLDataType;
enum MTLDataType : NSUInteger { MTLDataTypeNone = 0, MTLDataTypeStruct = 1, MTLDataTypeArray = 2, MTLDataTypeFloat = 3, MTLDataTypeFloat2 = 4, MTLDataTypeFloat3 = 5, MTLDataTypeFloat4 = 6, MTLDataTypeFloat2x2 = 7, MTLDataTypeFloat2x3 = 8, MTLDataTypeFloat2x4 = 9, MTLDataTypeFloat3x2 = 10, MTLDataTypeFloat3x3 = 11, MTLDataTypeFloat3x4 = 12, MTLDataTypeFloat4x2 = 13, MTLDataTypeFloat4x3 = 14, MTLDataTypeFloat4x4 = 15, MTLDataTypeHalf = 16, MTLDataTypeHalf2 = 17, MTLDataTypeHalf3 = 18, MTLDataTypeHalf4 = 19, MTLDataTypeHalf2x2 = 20, MTLDataTypeHalf2x3 = 21, MTLDataTypeHalf2x4 = 22, MTLDataTypeHalf3x2 = 23, MTLDataTypeHalf3x3 = 24, MTLDataTypeHalf3x4 = 25, MTLDataTypeHalf4x2 = 26, MTLDataTypeHalf4x3 = 27, MTLDataTypeHalf4x4 = 28, MTLDataTypeInt = 29, MTLDataTypeInt2 = 30, MTLDataTypeInt3 = 31, MTLDataTypeInt4 = 32, MTLDataTypeUInt = 33, MTLDataTypeUInt2 = 34, MTLDataTypeUInt3 = 35, MTLDataTypeUInt4 = 36, MTLDataTypeShort = 37, MTLDataTypeShort2 = 38, MTLDataTypeShort3 = 39, MTLDataTypeShort4 = 40, MTLDataTypeUShort = 41, MTLDataTypeUShort2 = 42, MTLDataTypeUShort3 = 43, MTLDataTypeUShort4 = 44, MTLDataTypeChar = 45, MTLDataTypeChar2 = 46, MTLDataTypeChar3 = 47, MTLDataTypeChar4 = 48, MTLDataTypeUChar = 49, MTLDataTypeUChar2 = 50, MTLDataTypeUChar3 = 51, MTLDataTypeUChar4 = 52, MTLDataTypeBool = 53, MTLDataTypeBool2 = 54, MTLDataTypeBool3 = 55, MTLDataTypeBool4 = 56, MTLDataTypeTexture = 58, MTLDataTypeSampler = 59, MTLDataTypePointer = 60, MTLDataTypeR8Unorm = 62, MTLDataTypeR8Snorm = 63, MTLDataTypeR16Unorm = 64, MTLDataTypeR16Snorm = 65, MTLDataTypeRG8Unorm = 66, MTLDataTypeRG8Snorm = 67, MTLDataTypeRG16Unorm = 68, MTLDataTypeRG16Snorm = 69, MTLDataTypeRGBA8Unorm = 70, MTLDataTypeRGBA8Unorm_sRGB = 71, MTLDataTypeRGBA8Snorm = 72, MTLDataTypeRGBA16Unorm = 73, MTLDataTypeRGBA16Snorm = 74, MTLDataTypeRGB10A2Unorm = 75, MTLDataTypeRG11B10Float = 76, MTLDataTypeRGB9E5Float = 77, MTLDataTypeRenderPipeline = 78, MTLDataTypeComputePipeline = 79, MTLDataTypeIndirectCommandBuffer = 80, MTLDataTypeLong = 81, MTLDataTypeLong2 = 82, MTLDataTypeLong3 = 83, MTLDataTypeLong4 = 84, MTLDataTypeULong = 85, MTLDataTypeULong2 = 86, MTLDataTypeULong3 = 87, MTLDataTypeULong4 = 88, MTLDataTypeVisibleFunctionTable = 115, MTLDataTypeIntersectionFunctionTable = 116, MTLDataTypePrimitiveAccelerationStructure = 117, MTLDataTypeInstanceAccelerationStructure = 118, MTLDataTypeBFloat = 121, MTLDataTypeBFloat2 = 122, MTLDataTypeBFloat3 = 123, MTLDataTypeBFloat4 = 124, MTLDataTypeDepthStencilState = 139, MTLDataTypeTensor = 140 };
typedef enum __attribute__((enum_extensibility(open))) MTLDispatchType : NSUInteger MTLDispatchType;
enum MTLDispatchType : NSUInteger { MTLDispatchTypeSerial = 0, MTLDispatchTypeConcurrent = 1 };
typedef enum __attribute__((enum_extensibility(open))) MTLGPUFamily : NSInteger MTLGPUFamily;
enum MTLGPUFamily : NSInteger { MTLGPUFamilyApple1 = 1001, MTLGPUFamilyApple2 = 1002, MTLGPUFamilyApple3 = 1003, MTLGPUFamilyApple4 = 1004, MTLGPUFamilyApple5 = 1005, MTLGPUFamilyApple6 = 1006, MTLGPUFamilyApple7 = 1007, MTLGPUFamilyApple8 = 1008, MTLGPUFamilyApple9 = 1009, MTLGPUFamilyApple10 API_AVAILABLE(macos(26.0)) = 1010, MTLGPUFamilyMac1 = 2001, MTLGPUFamilyMac2 = 2002, MTLGPUFamilyCommon1 = 3001, MTLGPUFamilyCommon2 = 3002, MTLGPUFamilyCommon3 = 3003, MTLGPUFamilyMacCatalyst1 = 4001, MTLGPUFamilyMacCatalyst2 = 4002, MTLGPUFamilyMetal3 = 5001, MTLGPUFamilyMetal4 API_AVAILABLE(macos(26.0)) = 5002 };
typedef enum __attribute__((enum_extensibility(open))) MTLHazardTrackingMode : NSUInteger MTLHazardTrackingMode;
enum MTLHazardTrackingMode : NSUInteger { MTLHazardTrackingModeDefault = 0, MTLHazardTrackingModeUntracked = 1, MTLHazardTrackingModeTracked = 2 };
typedef enum __attribute__((enum_extensibility(open))) MTLHeapType : NSInteger MTLHeapType;
enum MTLHeapType : NSInteger { MTLHeapTypeAutomatic = 0, MTLHeapTypePlacement = 1, MTLHeapTypeSparse = 2 };
typedef enum __attribute__((enum_extensibility(open))) MTLLanguageVersion : NSUInteger MTLLanguageVersion;
enum MTLLanguageVersion : NSUInteger { MTLLanguageVersion1_0 = 65536, MTLLanguageVersion1_1 = 65537, MTLLanguageVersion1_2 = 65538, MTLLanguageVersion2_0 = 131072, MTLLanguageVersion2_1 = 131073, MTLLanguageVersion2_2 = 131074, MTLLanguageVersion2_3 = 131075, MTLLanguageVersion2_4 = 131076, MTLLanguageVersion3_0 = 196608, MTLLanguageVersion3_1 = 196609, MTLLanguageVersion3_2 API_AVAILABLE(macos(15.0)) = 196610, MTLLanguageVersion4_0 API_AVAILABLE(macos(26.0)) = 262144 };
typedef enum __attribute__((enum_extensibility(open))) MTLLibraryOptimizationLevel : NSInteger MTLLibraryOptimizationLevel;
enum MTLLibraryOptimizationLevel : NSInteger { MTLLibraryOptimizationLevelDefault = 0, MTLLibraryOptimizationLevelSize = 1 };
typedef enum __attribute__((enum_extensibility(open))) MTLMathFloatingPointFunctions : NSInteger MTLMathFloatingPointFunctions API_AVAILABLE(macos(15.0));
enum MTLMathFloatingPointFunctions : NSInteger { MTLMathFloatingPointFunctionsFast = 0, MTLMathFloatingPointFunctionsPrecise = 1 } API_AVAILABLE(macos(15.0));
typedef enum __attribute__((enum_extensibility(open))) MTLMathMode : NSInteger MTLMathMode API_AVAILABLE(macos(15.0));
enum MTLMathMode : NSInteger { MTLMathModeSafe = 0, MTLMathModeRelaxed = 1, MTLMathModeFast = 2 } API_AVAILABLE(macos(15.0));
typedef enum __attribute__((enum_extensibility(open))) MTLPipelineOption : NSUInteger MTLPipelineOption;
enum MTLPipelineOption : NSUInteger { MTLPipelineOptionNone = 0, MTLPipelineOptionArgumentInfo = 1, MTLPipelineOptionBindingInfo = 1, MTLPipelineOptionBufferTypeInfo = 2, MTLPipelineOptionFailOnBinaryArchiveMiss = 4 };
typedef enum __attribute__((enum_extensibility(open))) MTLPurgeableState : NSUInteger MTLPurgeableState;
enum MTLPurgeableState : NSUInteger { MTLPurgeableStateKeepCurrent = 1, MTLPurgeableStateNonVolatile = 2, MTLPurgeableStateVolatile = 3, MTLPurgeableStateEmpty = 4 };
typedef enum __attribute__((enum_extensibility(open))) MTLResourceOptions : NSUInteger MTLResourceOptions;
enum MTLResourceOptions : NSUInteger { MTLResourceCPUCacheModeDefaultCache = 0, MTLResourceCPUCacheModeWriteCombined = 1, MTLResourceStorageModeShared = 0, MTLResourceStorageModeManaged = 16, MTLResourceStorageModePrivate = 32, MTLResourceStorageModeMemoryless = 48, MTLResourceHazardTrackingModeDefault = 0, MTLResourceHazardTrackingModeUntracked = 256, MTLResourceHazardTrackingModeTracked = 512, MTLResourceOptionCPUCacheModeDefault = 0, MTLResourceOptionCPUCacheModeWriteCombined = 1 };
typedef enum __attribute__((enum_extensibility(open))) MTLShaderValidation : NSInteger MTLShaderValidation API_AVAILABLE(macos(15.0));
enum MTLShaderValidation : NSInteger { MTLShaderValidationDefault = 0, MTLShaderValidationEnabled = 1, MTLShaderValidationDisabled = 2 } API_AVAILABLE(macos(15.0));
typedef enum __attribute__((enum_extensibility(open))) MTLStorageMode : NSUInteger MTLStorageMode;
enum MTLStorageMode : NSUInteger { MTLStorageModeShared = 0, MTLStorageModeManaged = 1, MTLStorageModePrivate = 2, MTLStorageModeMemoryless = 3 };
typedef struct { uint64_t timestamp; } MTLCounterResultTimestamp;
typedef struct { NSUInteger width; NSUInteger height; NSUInteger depth; } MTLSize;
typedef struct { NSUInteger size; NSUInteger align; } MTLSizeAndAlign;
API_AVAILABLE(macos(15.0))
@protocol MTLAllocation <NSObject>
- (NSUInteger)allocatedSize API_AVAILABLE(macos(15.0));
@end
@protocol MTLBinaryArchive <NSObject>
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (id<MTLDevice> _Nonnull)device;
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
- (BOOL)serializeToURL:(NSURL * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
@end
@interface MTLBinaryArchiveDescriptor : NSObject <NSCopying>
- (NSURL * _Nullable)url;
- (void)setUrl:(NSURL * _Nullable)a0;
@end
@protocol MTLCommandEncoder <NSObject>
- (id<MTLDevice> _Nonnull)device;
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (void)endEncoding;
- (void)insertDebugSignpost:(NSString * _Nonnull)a0;
- (void)pushDebugGroup:(NSString * _Nonnull)a0;
- (void)popDebugGroup;
@end
@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
- (void)synchronizeResource:(id<MTLResource> _Nonnull)a0;
- (void)fillBuffer:(id<MTLBuffer> _Nonnull)a0 range:(NSRange)a1 value:(uint8_t)a2;
- (void)copyFromBuffer:(id<MTLBuffer> _Nonnull)a0 sourceOffset:(NSUInteger)a1 toBuffer:(id<MTLBuffer> _Nonnull)a2 destinationOffset:(NSUInteger)a3 size:(NSUInteger)a4;
- (void)updateFence:(id<MTLFence> _Nonnull)a0;
- (void)waitForFence:(id<MTLFence> _Nonnull)a0;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer> _Nonnull)a0 atSampleIndex:(NSUInteger)a1 withBarrier:(BOOL)a2;
- (void)resolveCounters:(id<MTLCounterSampleBuffer> _Nonnull)a0 inRange:(NSRange)a1 destinationBuffer:(id<MTLBuffer> _Nonnull)a2 destinationOffset:(NSUInteger)a3;
@end
@protocol MTLResource <MTLAllocation>
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (id<MTLDevice> _Nonnull)device;
- (MTLCPUCacheMode)cpuCacheMode;
- (MTLStorageMode)storageMode;
- (MTLHazardTrackingMode)hazardTrackingMode;
- (MTLResourceOptions)resourceOptions;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)a0;
- (id<MTLHeap> _Nullable)heap;
- (NSUInteger)heapOffset;
- (NSUInteger)allocatedSize;
- (void)makeAliasable;
- (BOOL)isAliasable;
@end
@protocol MTLBuffer <MTLResource>
- (NSUInteger)length;
- (void * _Nonnull)contents;
- (void)didModifyRange:(NSRange)a0;
- (void)addDebugMarker:(NSString * _Nonnull)a0 range:(NSRange)a1;
- (void)removeAllDebugMarkers;
- (id<MTLBuffer> _Nullable)remoteStorageBuffer;
- (id<MTLBuffer> _Nullable)newRemoteBufferViewForDevice:(id<MTLDevice> _Nonnull)a0;
- (uint64_t)gpuAddress;
@end
@interface MTLCaptureDescriptor : NSObject <NSCopying>
- (id _Nullable)captureObject;
- (void)setCaptureObject:(id _Nullable)a0;
- (MTLCaptureDestination)destination;
- (void)setDestination:(MTLCaptureDestination)a0;
- (NSURL * _Nullable)outputURL;
- (void)setOutputURL:(NSURL * _Nullable)a0;
@end
@interface MTLCaptureManager : NSObject <NSCopying>
+ (MTLCaptureManager * _Nonnull)sharedCaptureManager;
- (BOOL)supportsDestination:(MTLCaptureDestination)a0;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
- (void)startCaptureWithDevice:(id<MTLDevice> _Nonnull)a0;
- (void)startCaptureWithCommandQueue:(id<MTLCommandQueue> _Nonnull)a0;
- (void)stopCapture;
- (BOOL)isCapturing;
@end
@protocol MTLCommandBuffer <NSObject>
- (id<MTLDevice> _Nonnull)device;
- (id<MTLCommandQueue> _Nonnull)commandQueue;
- (BOOL)retainedReferences;
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (double)kernelStartTime;
- (double)kernelEndTime;
- (double)GPUStartTime;
- (double)GPUEndTime;
- (void)enqueue;
- (void)commit;
- (void)waitUntilScheduled;
- (void)waitUntilCompleted;
- (MTLCommandBufferStatus)status;
- (NSError * _Nullable)error;
- (id<MTLBlitCommandEncoder> _Nullable)blitCommandEncoder;
- (id<MTLComputeCommandEncoder> _Nullable)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor * _Nonnull)a0;
- (id<MTLComputeCommandEncoder> _Nullable)computeCommandEncoder;
- (id<MTLComputeCommandEncoder> _Nullable)computeCommandEncoderWithDispatchType:(MTLDispatchType)a0;
- (void)encodeWaitForEvent:(id<MTLEvent> _Nonnull)a0 value:(uint64_t)a1;
- (void)encodeSignalEvent:(id<MTLEvent> _Nonnull)a0 value:(uint64_t)a1;
- (void)pushDebugGroup:(NSString * _Nonnull)a0;
- (void)popDebugGroup;
- (void)useResidencySet:(id<MTLResidencySet> _Nonnull)a0 API_AVAILABLE(macos(15.0));
@end
@protocol MTLCommandQueue <NSObject>
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (id<MTLDevice> _Nonnull)device;
- (id<MTLCommandBuffer> _Nullable)commandBuffer;
- (id<MTLCommandBuffer> _Nullable)commandBufferWithUnretainedReferences;
- (void)insertDebugCaptureBoundary;
- (void)addResidencySet:(id<MTLResidencySet> _Nonnull)a0 API_AVAILABLE(macos(15.0));
- (void)removeResidencySet:(id<MTLResidencySet> _Nonnull)a0 API_AVAILABLE(macos(15.0));
@end
@interface MTLCompileOptions : NSObject <NSCopying>
- (NSDictionary<NSString *, NSObject *> * _Nullable)preprocessorMacros;
- (void)setPreprocessorMacros:(NSDictionary<NSString *, NSObject *> * _Nullable)a0;
- (BOOL)fastMathEnabled;
- (void)setFastMathEnabled:(BOOL)a0;
- (MTLMathMode)mathMode API_AVAILABLE(macos(15.0));
- (void)setMathMode:(MTLMathMode)a0 API_AVAILABLE(macos(15.0));
- (MTLMathFloatingPointFunctions)mathFloatingPointFunctions API_AVAILABLE(macos(15.0));
- (void)setMathFloatingPointFunctions:(MTLMathFloatingPointFunctions)a0 API_AVAILABLE(macos(15.0));
- (MTLLanguageVersion)languageVersion;
- (void)setLanguageVersion:(MTLLanguageVersion)a0;
- (NSString * _Nullable)installName;
- (void)setInstallName:(NSString * _Nullable)a0;
- (BOOL)preserveInvariance;
- (void)setPreserveInvariance:(BOOL)a0;
- (MTLLibraryOptimizationLevel)optimizationLevel;
- (void)setOptimizationLevel:(MTLLibraryOptimizationLevel)a0;
- (MTLCompileSymbolVisibility)compileSymbolVisibility;
- (void)setCompileSymbolVisibility:(MTLCompileSymbolVisibility)a0;
- (BOOL)allowReferencingUndefinedSymbols;
- (void)setAllowReferencingUndefinedSymbols:(BOOL)a0;
- (NSUInteger)maxTotalThreadsPerThreadgroup;
- (void)setMaxTotalThreadsPerThreadgroup:(NSUInteger)a0;
- (MTLSize)requiredThreadsPerThreadgroup API_AVAILABLE(macos(26.0));
- (void)setRequiredThreadsPerThreadgroup:(MTLSize)a0 API_AVAILABLE(macos(26.0));
- (BOOL)enableLogging API_AVAILABLE(macos(15.0));
- (void)setEnableLogging:(BOOL)a0 API_AVAILABLE(macos(15.0));
@end
@protocol MTLComputeCommandEncoder <MTLCommandEncoder>
- (MTLDispatchType)dispatchType;
- (void)setComputePipelineState:(id<MTLComputePipelineState> _Nonnull)a0;
- (void)setBytes:(const void * _Nonnull)a0 length:(NSUInteger)a1 atIndex:(NSUInteger)a2;
- (void)setBuffer:(id<MTLBuffer> _Nullable)a0 offset:(NSUInteger)a1 atIndex:(NSUInteger)a2;
- (void)setBufferOffset:(NSUInteger)a0 atIndex:(NSUInteger)a1;
- (void)setBuffer:(id<MTLBuffer> _Nonnull)a0 offset:(NSUInteger)a1 attributeStride:(NSUInteger)a2 atIndex:(NSUInteger)a3;
- (void)setBufferOffset:(NSUInteger)a0 attributeStride:(NSUInteger)a1 atIndex:(NSUInteger)a2;
- (void)setBytes:(const void * _Nonnull)a0 length:(NSUInteger)a1 attributeStride:(NSUInteger)a2 atIndex:(NSUInteger)a3;
- (void)setThreadgroupMemoryLength:(NSUInteger)a0 atIndex:(NSUInteger)a1;
- (void)setImageblockWidth:(NSUInteger)a0 height:(NSUInteger)a1;
- (void)setStageInRegionWithIndirectBuffer:(id<MTLBuffer> _Nonnull)a0 indirectBufferOffset:(NSUInteger)a1;
- (void)dispatchThreadgroups:(MTLSize)a0 threadsPerThreadgroup:(MTLSize)a1;
- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer> _Nonnull)a0 indirectBufferOffset:(NSUInteger)a1 threadsPerThreadgroup:(MTLSize)a2;
- (void)dispatchThreads:(MTLSize)a0 threadsPerThreadgroup:(MTLSize)a1;
- (void)updateFence:(id<MTLFence> _Nonnull)a0;
- (void)waitForFence:(id<MTLFence> _Nonnull)a0;
- (void)useHeap:(id<MTLHeap> _Nonnull)a0;
- (void)memoryBarrierWithScope:(MTLBarrierScope)a0;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer> _Nonnull)a0 atSampleIndex:(NSUInteger)a1 withBarrier:(BOOL)a2;
@end
@interface MTLComputePassDescriptor : NSObject <NSCopying>
+ (MTLComputePassDescriptor * _Nonnull)computePassDescriptor;
- (MTLDispatchType)dispatchType;
- (void)setDispatchType:(MTLDispatchType)a0;
- (MTLComputePassSampleBufferAttachmentDescriptorArray * _Nonnull)sampleBufferAttachments;
@end
@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject <NSCopying>
- (id<MTLCounterSampleBuffer> _Nullable)sampleBuffer;
- (void)setSampleBuffer:(id<MTLCounterSampleBuffer> _Nullable)a0;
- (NSUInteger)startOfEncoderSampleIndex;
- (void)setStartOfEncoderSampleIndex:(NSUInteger)a0;
- (NSUInteger)endOfEncoderSampleIndex;
- (void)setEndOfEncoderSampleIndex:(NSUInteger)a0;
@end
@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject <NSCopying>
- (MTLComputePassSampleBufferAttachmentDescriptor * _Nonnull)objectAtIndexedSubscript:(NSUInteger)a0;
- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor * _Nullable)a0 atIndexedSubscript:(NSUInteger)a1;
@end
@interface MTLComputePipelineDescriptor : NSObject <NSCopying>
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (id<MTLFunction> _Nullable)computeFunction;
- (void)setComputeFunction:(id<MTLFunction> _Nullable)a0;
- (BOOL)threadGroupSizeIsMultipleOfThreadExecutionWidth;
- (void)setThreadGroupSizeIsMultipleOfThreadExecutionWidth:(BOOL)a0;
- (NSUInteger)maxTotalThreadsPerThreadgroup;
- (void)setMaxTotalThreadsPerThreadgroup:(NSUInteger)a0;
- (BOOL)supportIndirectCommandBuffers;
- (void)setSupportIndirectCommandBuffers:(BOOL)a0;
- (NSArray<id<MTLBinaryArchive>> * _Nullable)binaryArchives;
- (void)setBinaryArchives:(NSArray<id<MTLBinaryArchive>> * _Nullable)a0;
- (void)reset;
- (BOOL)supportAddingBinaryFunctions;
- (void)setSupportAddingBinaryFunctions:(BOOL)a0;
- (NSUInteger)maxCallStackDepth;
- (void)setMaxCallStackDepth:(NSUInteger)a0;
- (MTLShaderValidation)shaderValidation API_AVAILABLE(macos(15.0));
- (void)setShaderValidation:(MTLShaderValidation)a0 API_AVAILABLE(macos(15.0));
- (MTLSize)requiredThreadsPerThreadgroup API_AVAILABLE(macos(26.0));
- (void)setRequiredThreadsPerThreadgroup:(MTLSize)a0 API_AVAILABLE(macos(26.0));
@end
@interface MTLComputePipelineReflection : NSObject <NSCopying>
@end
@protocol MTLComputePipelineState <MTLAllocation>
- (NSString * _Nullable)label;
- (MTLComputePipelineReflection * _Nullable)reflection;
- (id<MTLDevice> _Nonnull)device;
- (NSUInteger)maxTotalThreadsPerThreadgroup;
- (NSUInteger)threadExecutionWidth;
- (NSUInteger)staticThreadgroupMemoryLength;
- (NSUInteger)imageblockMemoryLengthForDimensions:(MTLSize)a0;
- (BOOL)supportIndirectCommandBuffers;
- (id<MTLComputePipelineState> _Nullable)newComputePipelineStateWithAdditionalBinaryFunctions:(NSArray<id<MTLFunction>> * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
- (MTLShaderValidation)shaderValidation API_AVAILABLE(macos(15.0));
- (MTLSize)requiredThreadsPerThreadgroup API_AVAILABLE(macos(26.0));
@end
@protocol MTLCounterSampleBuffer <NSObject>
- (id<MTLDevice> _Nonnull)device;
- (NSString * _Nonnull)label;
- (NSUInteger)sampleCount;
- (NSData * _Nullable)resolveCounterRange:(NSRange)a0;
@end
@interface MTLCounterSampleBufferDescriptor : NSObject <NSCopying>
- (id<MTLCounterSet> _Nullable)counterSet;
- (void)setCounterSet:(id<MTLCounterSet> _Nullable)a0;
- (NSString * _Nonnull)label;
- (void)setLabel:(NSString * _Nonnull)a0;
- (MTLStorageMode)storageMode;
- (void)setStorageMode:(MTLStorageMode)a0;
- (NSUInteger)sampleCount;
- (void)setSampleCount:(NSUInteger)a0;
@end
@protocol MTLCounterSet <NSObject>
- (NSString * _Nonnull)name;
@end
@protocol MTLDevice <NSObject>
- (NSString * _Nonnull)name;
- (uint64_t)registryID;
- (MTLSize)maxThreadsPerThreadgroup;
- (BOOL)isLowPower;
- (BOOL)isHeadless;
- (BOOL)isRemovable;
- (BOOL)hasUnifiedMemory;
- (uint64_t)recommendedMaxWorkingSetSize;
- (NSUInteger)locationNumber;
- (uint64_t)maxTransferRate;
- (BOOL)isDepth24Stencil8PixelFormatSupported;
- (BOOL)areRasterOrderGroupsSupported;
- (BOOL)supports32BitFloatFiltering;
- (BOOL)supports32BitMSAA;
- (BOOL)supportsQueryTextureLOD;
- (BOOL)supportsBCTextureCompression;
- (BOOL)supportsPullModelInterpolation;
- (BOOL)areBarycentricCoordsSupported;
- (BOOL)supportsShaderBarycentricCoordinates;
- (NSUInteger)currentAllocatedSize;
- (id<MTLCommandQueue> _Nullable)newCommandQueue;
- (id<MTLCommandQueue> _Nullable)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)a0;
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)a0 options:(MTLResourceOptions)a1;
- (id<MTLHeap> _Nullable)newHeapWithDescriptor:(MTLHeapDescriptor * _Nonnull)a0;
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)a0 options:(MTLResourceOptions)a1;
- (id<MTLBuffer> _Nullable)newBufferWithBytes:(const void * _Nonnull)a0 length:(NSUInteger)a1 options:(MTLResourceOptions)a2;
- (id<MTLBuffer> _Nullable)newBufferWithBytesNoCopy:(const void * _Nonnull)a0 length:(NSUInteger)a1 options:(MTLResourceOptions)a2 deallocator:(void (^ _Nullable)(const void * _Nonnull, NSUInteger))a3;
- (id<MTLLibrary> _Nullable)newDefaultLibrary;
- (id<MTLLibrary> _Nullable)newLibraryWithFile:(NSString * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
- (id<MTLLibrary> _Nullable)newLibraryWithURL:(NSURL * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
- (id<MTLLibrary> _Nullable)newLibraryWithSource:(NSString * _Nonnull)a0 options:(MTLCompileOptions * _Nullable)a1 error:(NSError * _Nullable * _Nullable)a2;
- (id<MTLComputePipelineState> _Nullable)newComputePipelineStateWithFunction:(id<MTLFunction> _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
- (id<MTLComputePipelineState> _Nullable)newComputePipelineStateWithFunction:(id<MTLFunction> _Nonnull)a0 options:(MTLPipelineOption)a1 reflection:(MTLComputePipelineReflection * _Nullable * _Nullable)a2 error:(NSError * _Nullable * _Nullable)a3;
- (id<MTLComputePipelineState> _Nullable)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor * _Nonnull)a0 options:(MTLPipelineOption)a1 reflection:(MTLComputePipelineReflection * _Nullable * _Nullable)a2 error:(NSError * _Nullable * _Nullable)a3;
- (id<MTLFence> _Nullable)newFence;
- (BOOL)supportsFamily:(MTLGPUFamily)a0;
- (BOOL)supportsTextureSampleCount:(NSUInteger)a0;
- (NSUInteger)maxThreadgroupMemoryLength;
- (NSUInteger)maxArgumentBufferSamplerCount;
- (BOOL)areProgrammableSamplePositionsSupported;
- (BOOL)supportsRasterizationRateMapWithLayerCount:(NSUInteger)a0;
- (id<MTLEvent> _Nullable)newEvent;
- (id<MTLSharedEvent> _Nullable)newSharedEvent;
- (uint64_t)peerGroupID;
- (uint32_t)peerIndex;
- (uint32_t)peerCount;
- (NSUInteger)sparseTileSizeInBytes;
- (NSUInteger)maxBufferLength;
- (NSArray<id<MTLCounterSet>> * _Nullable)counterSets;
- (id<MTLCounterSampleBuffer> _Nullable)newCounterSampleBufferWithDescriptor:(MTLCounterSampleBufferDescriptor * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
- (void)sampleTimestamps:(uint64_t * _Nonnull)a0 gpuTimestamp:(uint64_t * _Nonnull)a1;
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)a0;
- (BOOL)supportsVertexAmplificationCount:(NSUInteger)a0;
- (BOOL)supportsDynamicLibraries;
- (BOOL)supportsRenderDynamicLibraries;
- (id<MTLBinaryArchive> _Nullable)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1;
- (BOOL)supportsRaytracing;
- (MTLSizeAndAlign)heapAccelerationStructureSizeAndAlignWithSize:(NSUInteger)a0;
- (BOOL)supportsFunctionPointers;
- (BOOL)supportsFunctionPointersFromRender;
- (BOOL)supportsRaytracingFromRender;
- (BOOL)supportsPrimitiveMotionBlur;
- (BOOL)shouldMaximizeConcurrentCompilation;
- (void)setShouldMaximizeConcurrentCompilation:(BOOL)a0;
- (NSUInteger)maximumConcurrentCompilationTaskCount;
- (id<MTLResidencySet> _Nullable)newResidencySetWithDescriptor:(MTLResidencySetDescriptor * _Nonnull)a0 error:(NSError * _Nullable * _Nullable)a1 API_AVAILABLE(macos(15.0));
- (uint64_t)queryTimestampFrequency;
@end
@protocol MTLEvent <NSObject>
- (id<MTLDevice> _Nullable)device;
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
@end
@protocol MTLFence <NSObject>
- (id<MTLDevice> _Nonnull)device;
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
@end
@protocol MTLFunction <NSObject>
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (id<MTLDevice> _Nonnull)device;
- (NSInteger)patchControlPointCount;
- (NSString * _Nonnull)name;
@end
@interface MTLFunctionConstantValues : NSObject <NSCopying>
- (void)setConstantValue:(const void * _Nonnull)a0 type:(MTLDataType)a1 atIndex:(NSUInteger)a2;
- (void)setConstantValues:(const void * _Nonnull)a0 type:(MTLDataType)a1 withRange:(NSRange)a2;
- (void)setConstantValue:(const void * _Nonnull)a0 type:(MTLDataType)a1 withName:(NSString * _Nonnull)a2;
- (void)reset;
@end
@protocol MTLHeap <MTLAllocation>
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (id<MTLDevice> _Nonnull)device;
- (MTLStorageMode)storageMode;
- (MTLCPUCacheMode)cpuCacheMode;
- (MTLHazardTrackingMode)hazardTrackingMode;
- (MTLResourceOptions)resourceOptions;
- (NSUInteger)size;
- (NSUInteger)usedSize;
- (NSUInteger)currentAllocatedSize;
- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)a0;
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)a0 options:(MTLResourceOptions)a1;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)a0;
- (MTLHeapType)type;
- (id<MTLBuffer> _Nullable)newBufferWithLength:(NSUInteger)a0 options:(MTLResourceOptions)a1 offset:(NSUInteger)a2;
@end
@interface MTLHeapDescriptor : NSObject <NSCopying>
- (NSUInteger)size;
- (void)setSize:(NSUInteger)a0;
- (MTLStorageMode)storageMode;
- (void)setStorageMode:(MTLStorageMode)a0;
- (MTLCPUCacheMode)cpuCacheMode;
- (void)setCpuCacheMode:(MTLCPUCacheMode)a0;
- (MTLHazardTrackingMode)hazardTrackingMode;
- (void)setHazardTrackingMode:(MTLHazardTrackingMode)a0;
- (MTLResourceOptions)resourceOptions;
- (void)setResourceOptions:(MTLResourceOptions)a0;
- (MTLHeapType)type;
- (void)setType:(MTLHeapType)a0;
@end
@protocol MTLLibrary <NSObject>
- (NSString * _Nullable)label;
- (void)setLabel:(NSString * _Nullable)a0;
- (id<MTLDevice> _Nonnull)device;
- (id<MTLFunction> _Nullable)newFunctionWithName:(NSString * _Nonnull)a0;
- (id<MTLFunction> _Nullable)newFunctionWithName:(NSString * _Nonnull)a0 constantValues:(MTLFunctionConstantValues * _Nonnull)a1 error:(NSError * _Nullable * _Nullable)a2;
- (NSArray<NSString *> * _Nonnull)functionNames;
- (NSString * _Nullable)installName;
@end
API_AVAILABLE(macos(15.0))
@protocol MTLResidencySet <NSObject>
- (id<MTLDevice> _Nonnull)device API_AVAILABLE(macos(15.0));
- (NSString * _Nullable)label API_AVAILABLE(macos(15.0));
- (uint64_t)allocatedSize API_AVAILABLE(macos(15.0));
- (void)requestResidency API_AVAILABLE(macos(15.0));
- (void)endResidency API_AVAILABLE(macos(15.0));
- (void)addAllocation:(id<MTLAllocation> _Nonnull)a0 API_AVAILABLE(macos(15.0));
- (void)removeAllocation:(id<MTLAllocation> _Nonnull)a0 API_AVAILABLE(macos(15.0));
- (void)removeAllAllocations API_AVAILABLE(macos(15.0));
- (BOOL)containsAllocation:(id<MTLAllocation> _Nonnull)a0 API_AVAILABLE(macos(15.0));
- (NSArray<id<MTLAllocation>> * _Nonnull)allAllocations API_AVAILABLE(macos(15.0));
- (NSUInteger)allocationCount API_AVAILABLE(macos(15.0));
- (void)commit API_AVAILABLE(macos(15.0));
@end
API_AVAILABLE(macos(15.0))
@interface MTLResidencySetDescriptor : NSObject <NSCopying>
- (NSString * _Nullable)label API_AVAILABLE(macos(15.0));
- (void)setLabel:(NSString * _Nullable)a0 API_AVAILABLE(macos(15.0));
- (NSUInteger)initialCapacity API_AVAILABLE(macos(15.0));
- (void)setInitialCapacity:(NSUInteger)a0 API_AVAILABLE(macos(15.0));
@end
@protocol MTLSharedEvent <MTLEvent>
- (BOOL)waitUntilSignaledValue:(uint64_t)a0 timeoutMS:(uint64_t)a1;
- (uint64_t)signaledValue;
- (void)setSignaledValue:(uint64_t)a0;
@end
#include "../epilogue/Metal.h"
