#include "metal/pipelines/pipelines.h"

#include <chrono>
#include <string_view>

#include "formats/error.h"
#include "metal/device/objects.h"
#include "metal/pipelines/embedded_metallib.h"
#include "metal/pipelines/kernels.h"
#include "metal/pipelines/lazy_cache.h"
#include "metal/pipelines/pipeline_log.h"

namespace longhand::metal {

std::string key_of(const PipelineSpec& spec) {
  const Kernel& kernel = spec.kernel;
  std::string key = std::string(kernel.file) + "/" + kernel.name + "/" + kernel.layout + "/";
  key += std::to_string(spec.threads);
  for (const uint32_t value : spec.constants.values()) key += "," + std::to_string(value);
  return key;
}

struct Pipelines::Objects {
  EmbeddedMetallib packaged;
  LazyCache<id<MTLLibrary>> libraries;
  LazyCache<id<MTLComputePipelineState>> pipelines;
};

namespace {

bool is_bool(uint32_t index) {
  using namespace params;
  return index != kTokens && index != kGateKind && index != kActivation && index != kGroup && index != kScaleType &&
         index != kDim && index != kHeads && index != kMatvecRows && index != kDeltaSlices;
}

MTLFunctionConstantValues* constant_values(const Constants& constants) {
  MTLFunctionConstantValues* values = [MTLFunctionConstantValues new];
  for (uint32_t i = 0; i < constants.values().size(); i++) {
    const uint32_t number = constants.values()[i];
    const bool truth = number != 0;
    if (is_bool(i)) [values setConstantValue:&truth type:MTLDataTypeBool atIndex:i];
    else [values setConstantValue:&number type:MTLDataTypeUInt atIndex:i];
  }
  return values;
}

// What came with the app, where the device takes it.
id<MTLLibrary> embedded_library(id<MTLDevice> device, const EmbeddedMetallib& packaged, const Kernel& kernel) {
  const std::string path = packaged.find(kernel.file, kernel.layout);
  if (path.empty()) return nil;
  return [device newLibraryWithURL:[NSURL fileURLWithPath:[NSString stringWithUTF8String:path.c_str()]] error:nil];
}

id<MTLLibrary> compile(id<MTLDevice> device, const Kernel& kernel) {
  const char* source = kernel_source(kernel.file);
  MTLCompileOptions* options = [MTLCompileOptions new];
  options.languageVersion = MTLLanguageVersion3_1;
  // By number: SDKs before macOS 26 do not have the name MTLLanguageVersion4_0.
  if (std::string_view(source).find("#include <metal_tensor>") != std::string_view::npos)
    options.languageVersion = static_cast<MTLLanguageVersion>(4 << 16);
  options.fastMathEnabled = NO;  // -INFINITY and NaN mean something in attention and in sampling
  if (*kernel.layout) options.preprocessorMacros = @{@"LAYOUT" : [NSString stringWithUTF8String:kernel.layout]};
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:source]
                                                options:options
                                                  error:&error];
  if (!library) throw DeviceError("[metal] " + std::string(kernel.file) + ".metal does not compile: " + text(error));
  return library;
}

double ms_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

id<MTLComputePipelineState> build(id<MTLDevice> device, id<MTLLibrary> library, Archive& archive,
                                  const PipelineSpec& spec) {
  const Kernel& kernel = spec.kernel;
  NSError* error = nil;
  const std::string where = std::string("[metal] kernel ") + kernel.name + " of " + kernel.file + ".metal: ";
  id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:kernel.name]
                                           constantValues:constant_values(spec.constants)
                                                    error:&error];
  if (!function) throw DeviceError(where + text(error));
  MTLComputePipelineDescriptor* descriptor = [MTLComputePipelineDescriptor new];
  descriptor.label = [NSString stringWithUTF8String:kernel.name];
  descriptor.computeFunction = function;
  descriptor.maxTotalThreadsPerThreadgroup = spec.threads;
  auto began = std::chrono::steady_clock::now();
  if (archive.found()) {
    descriptor.binaryArchives = @[ (__bridge id<MTLBinaryArchive>)archive.found() ];
    id<MTLComputePipelineState> cached =
        [device newComputePipelineStateWithDescriptor:descriptor
                                              options:MTLPipelineOptionFailOnBinaryArchiveMiss
                                           reflection:nil
                                                error:nil];
    if (cached) {
      log_pipeline(spec, (__bridge void*)cached, {.make_ms = ms_since(began), .archive_ms = 0, .found = true});
      return cached;
    }
  }
  began = std::chrono::steady_clock::now();
  id<MTLComputePipelineState> fresh = [device newComputePipelineStateWithDescriptor:descriptor
                                                                            options:MTLPipelineOptionNone
                                                                         reflection:nil
                                                                              error:&error];
  if (!fresh) throw DeviceError(where + text(error));
  const double made = ms_since(began);
  archive.add((__bridge void*)descriptor);
  log_pipeline(spec, (__bridge void*)fresh, {.make_ms = made, .archive_ms = ms_since(began) - made, .found = false});
  return fresh;
}

}  // namespace

Pipelines::Pipelines(Device& device, bool persistent)
    : device_(device), persistent_(persistent), archive_(device), objects_(std::make_unique<Objects>()) {}
Pipelines::~Pipelines() { save(); }
void Pipelines::forget_libraries() { objects_->libraries.clear(); }

void* Pipelines::get(const PipelineSpec& spec) {
  @autoreleasepool {
    const Kernel& kernel = spec.kernel;
    id<MTLDevice> device = device_.objects().device;
    return (__bridge void*)objects_->pipelines.get(key_of(spec), [&] {
      id<MTLLibrary> library = objects_->libraries.get(std::string(kernel.file) + kernel.layout, [&] {
        id<MTLLibrary> ready = embedded_library(device, objects_->packaged, kernel);
        return ready ? ready : compile(device, kernel);
      });
      return build(device, library, archive_, spec);
    });
  }
}

}  // namespace longhand::metal
