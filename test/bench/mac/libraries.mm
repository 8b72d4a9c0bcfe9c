// libraries FILE LAYOUT [FILE LAYOUT ...]: compiles each text with newLibraryWithSource, as native/metal/pipelines/pipelines.mm
// does ("-": no layout). Prints one line of JSON for each: {name, ok, milliseconds, message}.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else if (static_cast<unsigned char>(c) >= 32) out += c;
  }
  return out + "\"";
}

void compile(id<MTLDevice> device, const std::string& path, const std::string& layout) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  MTLCompileOptions* options = [MTLCompileOptions new];
  const bool tensors = text.find("#include <metal_tensor>") != std::string::npos;
  options.languageVersion = tensors ? static_cast<MTLLanguageVersion>(4 << 16) : MTLLanguageVersion3_1;
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  options.fastMathEnabled = NO;
#pragma clang diagnostic pop
  if (layout != "-") options.preprocessorMacros = @{@"LAYOUT" : [NSString stringWithUTF8String:layout.c_str()]};
  NSError* error = nil;
  const auto began = std::chrono::steady_clock::now();
  id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:text.c_str()]
                                                options:options
                                                  error:&error];
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  const std::string message = error ? error.localizedDescription.UTF8String : "";
  const std::string name = path.substr(path.rfind('/') + 1) + (layout == "-" ? "" : " " + layout);
  std::printf("{\"name\":%s,\"ok\":%s,\"milliseconds\":%.1f,\"message\":%s}\n", quoted(name).c_str(),
              library ? "true" : "false", took.count(), quoted(message).c_str());
}

}  // namespace

int main(int count, char** words) {
  @autoreleasepool {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    if (!device) {
      std::fputs("no Metal device\n", stderr);
      return 1;
    }
    for (int i = 1; i + 1 < count; i += 2) compile(device, words[i], words[i + 1]);
  }
  return 0;
}
