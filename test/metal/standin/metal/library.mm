// Libraries, functions with their constants, pipelines, and the binary archive that remembers pipelines on disk.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "metal/classes.h"

using standin::misuse;
using standin::state;

NSString* const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";
NSString* const MTLBinaryArchiveDomain = @"MTLBinaryArchiveDomain";

NSError* standin_error(NSString* domain, NSInteger code, const std::string& text) {
  return [NSError errorWithDomain:domain
                             code:code
                         userInfo:@{NSLocalizedDescriptionKey : [NSString stringWithUTF8String:text.c_str()]}];
}

static size_t size_of(MTLDataType type) {
  switch (type) {
    case MTLDataTypeBool: return 1;
    case MTLDataTypeHalf:
    case MTLDataTypeShort:
    case MTLDataTypeUShort: return 2;
    case MTLDataTypeFloat:
    case MTLDataTypeInt:
    case MTLDataTypeUInt: return 4;
    default: misuse("function constant of an unsupported type");
  }
}

@implementation MTLCompileOptions
@end
@implementation MTLComputePipelineDescriptor
@end
@implementation MTLBinaryArchiveDescriptor
@end

@implementation MTLFunctionConstantValues
- (void)setConstantValue:(const void*)value type:(MTLDataType)type atIndex:(NSUInteger)index {
  const char* bytes = static_cast<const char*>(value);
  byIndex[static_cast<unsigned>(index)].assign(bytes, bytes + size_of(type));
}
- (void)reset {
  byIndex.clear();
}
@end

@implementation StandinFunction
- (std::string)identity {
  std::string text = _name.UTF8String;
  for (const auto& [index, value] : constants) {
    text += " " + std::to_string(index) + "=";
    for (const char c : value) text += std::to_string(static_cast<unsigned char>(c)) + ".";
  }
  return text;
}
@end

@implementation StandinPipeline
- (NSUInteger)maxTotalThreadsPerThreadgroup {
  const unsigned injected = state().faults.pipeline_threads;
  return injected ? injected : [self limit];
}
- (NSUInteger)limit {
  const unsigned own = function->kernel->max_threads;
  // An M1's: the compiler may have spent registers that more threads would have needed.
  if (!own && !madeFor) return standin::kSafeThreads;
  return own && madeFor ? std::min<NSUInteger>(own, madeFor) : std::max<NSUInteger>(own, madeFor);
}
- (NSUInteger)threadExecutionWidth {
  return 32;
}
- (NSUInteger)staticThreadgroupMemoryLength {
  return 0;
}
@end

@implementation StandinLibrary
- (NSArray<NSString*>*)functionNames {
  NSMutableArray* names = [NSMutableArray new];
  for (unsigned i = 0; i < library.description->nkernels; i++)
    [names addObject:[NSString stringWithUTF8String:library.description->kernels[i].name]];
  return names;
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name {
  return [self newFunctionWithName:name constantValues:nil error:nil];
}
- (id<MTLFunction>)newFunctionWithName:(NSString*)name
                        constantValues:(MTLFunctionConstantValues*)values
                                 error:(NSError**)error {
  const mtl_library_desc& all = *library.description;
  for (unsigned i = 0; i < all.nkernels; i++) {
    if (strcmp(all.kernels[i].name, name.UTF8String)) continue;
    StandinFunction* function = [StandinFunction new];
    function->library = library;
    function->text = text;
    function->options = options;
    function->kernel = &all.kernels[i];
    function.name = name;
    for (unsigned c = 0; values && c < all.nfcs; c++) {
      const auto given = values->byIndex.find(all.fcs[c].index);
      if (given == values->byIndex.end()) continue;
      if (given->second.size() != all.fcs[c].size) {
        if (error)
          *error = standin_error(MTLLibraryErrorDomain, 3,
                                 std::string("function constant '") + all.fcs[c].name + "' has type " +
                                     all.fcs[c].type + ", a value of another size was given");
        return nil;
      }
      function->constants[all.fcs[c].index] = given->second;
    }
    return function;
  }
  if (error) *error = standin_error(MTLLibraryErrorDomain, 5, std::string("no function '") + name.UTF8String + "'");
  return nil;
}
@end

// A compiled library's file (test/metal/apple/metallib.test.ts writes it): a first line that names the format, a line
// NAME=VALUE for each macro, an empty line, the text. A real one holds code; here that lies in the compiler's cache.
static const char* const kLibraryHeader = "stand-in metallib 1";

id<MTLLibrary> standin_library(const char* path, NSError** error) {
  std::ifstream file(path, std::ios::binary);
  standin::CompileOptions options;
  options.check = standin::options().check;
  std::string line;
  bool good = std::getline(file, line) && line == kLibraryHeader;
  while (good && std::getline(file, line) && !line.empty())
    options.macros[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  StandinLibrary* library = [StandinLibrary new];
  library->options = options;
  library->text.assign(std::istreambuf_iterator<char>(file), {});
  if (good) library->library = standin::compile(library->text, options);
  if (!good || !library->library.error.empty()) {
    if (error) *error = standin_error(MTLLibraryErrorDomain, 1, "not a library of this GPU");
    return nil;
  }
  std::lock_guard guard(state().lock);
  state().counters.libraries_read++;
  return library;
}

// The archive's file: a first line that names the format, then one line a pipeline. A real archive holds code; here the
// code lies in the compiler's cache, and only what was archived is remembered.
static const char* const kArchiveHeader = "stand-in pipeline archive 1";

// Another number of threads is other code.
static std::string entry_of(MTLComputePipelineDescriptor* descriptor) {
  return [(StandinFunction*)descriptor.computeFunction identity] + " for " +
         std::to_string(descriptor.maxTotalThreadsPerThreadgroup);
}

@implementation StandinArchive
- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor*)descriptor error:(NSError**)error {
  if (!descriptor.computeFunction) misuse("archive: descriptor without a function");
  entries[entry_of(descriptor)] = true;
  return YES;
}
- (BOOL)serializeToURL:(NSURL*)url error:(NSError**)error {
  std::ofstream file(url.path.UTF8String);
  file << kArchiveHeader << "\n";
  for (const auto& entry : entries) file << entry.first << "\n";
  file.flush();
  if (file) return YES;
  if (error) *error = standin_error(MTLBinaryArchiveDomain, 1, std::string("cannot write ") + url.path.UTF8String);
  return NO;
}
- (BOOL)readFrom:(const char*)path {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line != kArchiveHeader) return NO;
  while (std::getline(file, line)) entries[line] = true;
  return YES;
}
@end

id<MTLBinaryArchive> standin_archive(MTLBinaryArchiveDescriptor* descriptor, NSError** error) {
  StandinArchive* archive = [StandinArchive new];
  if (descriptor.url && ![archive readFrom:descriptor.url.path.UTF8String]) {
    if (error) *error = standin_error(MTLBinaryArchiveDomain, 1, "not a binary archive of this device");
    return nil;
  }
  return archive;
}

id<MTLComputePipelineState> standin_pipeline(MTLComputePipelineDescriptor* descriptor, MTLPipelineOption options,
                                             NSError** error) {
  if (!descriptor.computeFunction) misuse("pipeline descriptor without a function");
  if (descriptor.maxTotalThreadsPerThreadgroup > standin::kMaxThreads)
    misuse("a pipeline for more threads than a threadgroup can have");
  StandinFunction* function = (StandinFunction*)descriptor.computeFunction;
  bool found = false;
  for (id<MTLBinaryArchive> each in descriptor.binaryArchives)
    found |= ((StandinArchive*)each)->entries.count(entry_of(descriptor)) != 0;
  if (descriptor.binaryArchives.count) {
    std::lock_guard guard(state().lock);
    found ? state().counters.archive_hits++ : state().counters.archive_misses++;
  }
  if (!found && (options & MTLPipelineOptionFailOnBinaryArchiveMiss)) {
    if (error) *error = standin_error(MTLBinaryArchiveDomain, 4, "pipeline is not in the archive");
    return nil;
  }
  {
    std::lock_guard guard(state().lock);
    state().counters.pipelines++;
  }
  StandinPipeline* pipeline = [StandinPipeline new];
  pipeline->function = function;
  pipeline->madeFor = descriptor.maxTotalThreadsPerThreadgroup;
  pipeline.label = descriptor.label;
  return pipeline;
}
