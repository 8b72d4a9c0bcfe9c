// GPU captures: the document is a list of the kernels dispatched between start and stop.
#include <fstream>

#include "metal/classes.h"

using standin::misuse;
using standin::state;

@implementation MTLCaptureDescriptor
@end

@implementation MTLCaptureManager {
  std::string path;
  std::map<std::string, uint64_t> before;
}
+ (MTLCaptureManager*)sharedCaptureManager {
  static MTLCaptureManager* shared = [MTLCaptureManager new];
  return shared;
}
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError**)error {
  if (!path.empty()) misuse("a capture is running");
  if (!descriptor.captureObject) misuse("a capture needs an object");
  path = descriptor.outputURL.path.UTF8String;
  if (!std::ofstream(path)) {
    path.clear();
    if (error) *error = standin_error(@"MTLCaptureError", 2, "the document cannot be written");
    return NO;
  }
  std::lock_guard guard(state().lock);
  before = state().counters.kernels;
  return YES;
}
- (void)stopCapture {
  if (path.empty()) misuse("no capture is running");
  std::lock_guard guard(state().lock);
  std::ofstream file(path);
  for (const auto& [name, count] : state().counters.kernels)
    if (const uint64_t run = count - before[name]) file << name << " " << run << "\n";
  path.clear();
}
@end
