#include "metal/pipelines.h"

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "formats/error.h"
#include "metal/kernels.h"
#include "metal/objects.h"

namespace longhand::metal {

struct Pipelines::Objects {
  std::map<std::string, id<MTLLibrary>> libraries;
  std::map<std::string, id<MTLComputePipelineState>> pipelines;
  id<MTLBinaryArchive> archive;
  std::string path;  // of the archive; empty when there is no folder to keep it in
  bool changed = false;
};

namespace {

namespace fs = std::filesystem;

bool is_bool(uint32_t index) {
  using namespace params;
  return index != kTokens && index != kGateKind && index != kActivation && index != kGroup && index != kScaleType &&
         index != kDim && index != kHeads;
}

// LONGHAND_METAL_CACHE, else the platform's folder for caches.
fs::path cache_folder() {
  if (const char* chosen = std::getenv("LONGHAND_METAL_CACHE")) return chosen;
  const char* home = std::getenv("HOME");
  if (!home || !*home) return {};
#if defined(__APPLE__)
  return fs::path(home) / "Library/Caches/Longhand";
#else
  return fs::path(home) / ".cache/longhand";
#endif
}

std::string archive_path(const std::string& identity) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return "";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return "";
  return (folder / ("pipelines-" + std::to_string(std::hash<std::string>()(identity)) + ".metalar")).string();
}

NSURL* url(const std::string& path) { return [NSURL fileURLWithPath:[NSString stringWithUTF8String:path.c_str()]]; }

// The archive of an earlier start. One that cannot be read (cut short, of another system) is replaced by an empty one.
id<MTLBinaryArchive> open_archive(id<MTLDevice> device, const std::string& path) {
  MTLBinaryArchiveDescriptor* descriptor = [MTLBinaryArchiveDescriptor new];
  if (!path.empty() && fs::exists(path)) {
    descriptor.url = url(path);
    id<MTLBinaryArchive> archive = [device newBinaryArchiveWithDescriptor:descriptor error:nil];
    if (archive) return archive;
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  descriptor.url = nil;
  return [device newBinaryArchiveWithDescriptor:descriptor error:nil];
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

std::string key_of(const Kernel& kernel, const Constants& constants) {
  std::string key = std::string(kernel.file) + "/" + kernel.name + "/" + kernel.layout;
  for (const uint32_t value : constants.values()) key += "," + std::to_string(value);
  return key;
}

}  // namespace

Pipelines::Pipelines(Device& device) : device_(device), objects_(std::make_unique<Objects>()) {
  @autoreleasepool {
    objects_->path = archive_path(device.identity());
    objects_->archive = open_archive(device.objects().device, objects_->path);
  }
}
Pipelines::~Pipelines() { save(); }

static id<MTLLibrary> compile(id<MTLDevice> device, const Kernel& kernel) {
  MTLCompileOptions* options = [MTLCompileOptions new];
  options.languageVersion = MTLLanguageVersion3_1;
  options.fastMathEnabled = NO;  // -INFINITY and NaN mean something in attention and in sampling
  if (*kernel.layout) options.preprocessorMacros = @{@"LAYOUT" : [NSString stringWithUTF8String:kernel.layout]};
  NSError* error = nil;
  id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:kernel_source(kernel.file)]
                                                options:options
                                                  error:&error];
  if (!library) throw DeviceError("[metal] " + std::string(kernel.file) + ".metal does not compile: " + text(error));
  return library;
}

void* Pipelines::get(const Kernel& kernel, const Constants& constants) {
  const std::string key = key_of(kernel, constants);
  if (const auto found = objects_->pipelines.find(key); found != objects_->pipelines.end())
    return (__bridge void*)found->second;
  @autoreleasepool {
    id<MTLDevice> device = device_.objects().device;
    id<MTLLibrary> __strong& library = objects_->libraries[std::string(kernel.file) + kernel.layout];
    if (!library) library = compile(device, kernel);
    NSError* error = nil;
    const std::string where = std::string("[metal] kernel ") + kernel.name + " of " + kernel.file + ".metal: ";
    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:kernel.name]
                                             constantValues:constant_values(constants)
                                                      error:&error];
    if (!function) throw DeviceError(where + text(error));
    MTLComputePipelineDescriptor* descriptor = [MTLComputePipelineDescriptor new];
    descriptor.label = [NSString stringWithUTF8String:kernel.name];
    descriptor.computeFunction = function;
    if (objects_->archive) descriptor.binaryArchives = @[ objects_->archive ];
    id<MTLComputePipelineState> pipeline =
        [device newComputePipelineStateWithDescriptor:descriptor
                                              options:MTLPipelineOptionFailOnBinaryArchiveMiss
                                           reflection:nil
                                                error:nil];
    if (!pipeline) {
      pipeline = [device newComputePipelineStateWithDescriptor:descriptor
                                                       options:MTLPipelineOptionNone
                                                    reflection:nil
                                                         error:&error];
      if (!pipeline) throw DeviceError(where + text(error));
      objects_->changed |= [objects_->archive addComputePipelineFunctionsWithDescriptor:descriptor error:nil] == YES;
    }
    objects_->pipelines[key] = pipeline;
    return (__bridge void*)pipeline;
  }
}

void Pipelines::save() {
  if (!objects_->changed || objects_->path.empty()) return;
  @autoreleasepool {
    // Beside, then renamed: a start that reads it meanwhile sees the old archive or the new one.
    const std::string fresh = objects_->path + ".new";
    std::error_code error;
    if ([objects_->archive serializeToURL:url(fresh) error:nil]) fs::rename(fresh, objects_->path, error);
    objects_->changed = false;
  }
}

}  // namespace longhand::metal
