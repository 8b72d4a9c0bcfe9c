#include "compiler/compile.h"

#include <dlfcn.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "compiler/preprocess.h"

extern char** environ;

namespace standin {
namespace {

using Words = std::vector<std::string>;
std::atomic<int> compiled{0};

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Runs a command; its output goes to files. Returns its status, 127 when it could not start.
int run_command(Words words, const std::string& out, const std::string& err) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), 0x241, 0644);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), 0x241, 0644);
  pid_t child;
  int status = 127 << 8;
  if (posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0) waitpid(child, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

std::string clang() {
  const char* chosen = getenv("LONGHAND_CLANG");
  return chosen ? chosen : STANDIN_CLANG;
}
std::string headers() { return STANDIN_SOURCE "/msl"; }

std::string cache_folder() {
  const char* chosen = getenv("LONGHAND_STANDIN_CACHE");
  const std::string folder = chosen ? chosen : STANDIN_CACHE;
  mkdir(folder.c_str(), 0755);
  return folder;
}

Words preprocessor_command(const CompileOptions& options, const std::string& file, bool strict) {
  Words words = {clang(), "-E", "-x", "c++", "-std=c++14", "-nostdinc++", "-isystem", headers(), "-D__METAL__=1"};
  words.push_back("-D__METAL_VERSION__=" + std::to_string(options.language));
  if (strict) words.push_back("-D__OPENCL_CPP_VERSION__=202100");
  else if (options.check) words.push_back("-D__SANITIZE_MTL__=1");
  for (const auto& [name, value] : options.macros) words.push_back("-D" + name + "=" + value);
  words.push_back(file);
  return words;
}

// C++ for OpenCL knows device, constant, threadgroup and thread as real address spaces, and forbids what Metal forbids:
// wrong pointer mixes, writes to constant, function pointers, virtual.
Words strict_command(const std::string& file) {
  return {clang(), "-x", "clcpp", "-cl-std=clc++2021", "-cl-no-stdinc", "-target", "x86_64-linux-gnu", "-Xclang",
          "-cl-ext=+cl_khr_fp16,-cl_khr_fp64,-__opencl_c_fp64", "-fsyntax-only", "-Werror=unknown-attributes",
          "-Wno-unused-value", "-Wno-duplicate-decl-specifier", "-Xclang", "-cl-single-precision-constant",
          "-Ddevice=__attribute__((opencl_global_device))", "-Dconstant=const __attribute__((opencl_global_host))",
          "-Dthreadgroup=__local", "-Dthread=__private", "-Dthread_method=__private",
          // names C++ for OpenCL reserves or predeclares and Metal does not
          "-Datomic_int=mtl_atomic_int", "-Datomic_uint=mtl_atomic_uint", "-Datomic_float=mtl_atomic_float",
          "-Dlocal=mtl_id_local", "-Dglobal=mtl_id_global", "-Dgeneric=mtl_id_generic", file};
}

// C++14 as Metal has it: no contraction, single-precision constants, half rounded after every operation.
Words code_command(const std::string& file, const std::string& to, bool check) {
  Words words = {clang(),
                 "-x",
                 "c++",
                 "-std=c++14",
                 "-O2",
                 "-g1",
                 "-fPIC",
                 "-shared",
                 "-nostdinc++",
                 "-fno-exceptions",
                 "-fno-rtti",
                 "-fvisibility=hidden",
                 "-ffp-contract=off",
                 "-Xclang",
                 "-cl-single-precision-constant",
                 "-Xclang",
                 "-ffloat16-excess-precision=none",
                 "-Werror=unknown-attributes",
                 "-Werror=c++17-extensions",
                 "-Wno-c++17-attribute-extensions",
                 "-Wno-user-defined-literals",
                 "-Wno-duplicate-decl-specifier",
                 "-Ddevice=",
                 "-Dconstant=const",
                 "-Dthreadgroup=",
                 "-Dthread=",
                 "-Dthread_method="};
#if defined(__x86_64__)
  words.push_back("-march=x86-64-v3");
#endif
  if (check) {
    // What lanes do together is told by how often each has passed a place: a loop stays one place.
    words.push_back("-fno-unroll-loops");
    words.push_back("-fsanitize=thread");
    words.push_back("-fsanitize=alignment,bounds,shift,integer-divide-by-zero,unreachable,return");
  }
  for (const std::string& word : {file, std::string("-o"), to, std::string("-lm")}) words.push_back(word);
  return words;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\1';
  return text;
}

// FNV-1a in two lanes: everything the result depends on, the compiler's flags and the headers included.
std::string key_of(const std::string& source, const CompileOptions& options) {
  std::string all =
      source + joined(preprocessor_command(options, "", false)) + joined(strict_command("")) +
      joined(code_command("", "", options.check)) + read_file(headers() + "/metal_stdlib") +
      read_file(headers() + "/metal_tensor") +
      read_file(headers() + "/MetalPerformancePrimitives/MetalPerformancePrimitives.h") +
      read_file(STANDIN_SOURCE "/executor/abi.h") + read_file(STANDIN_SOURCE "/compiler/preprocess.cc") +
      read_file(STANDIN_SOURCE "/compiler/preprocessor.h") + read_file(STANDIN_SOURCE "/compiler/parameters.cc") +
      read_file(STANDIN_SOURCE "/compiler/rewrites.cc") + read_file(STANDIN_SOURCE "/compiler/tokens.h") + __VERSION__;
  uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const char c : all) {
    a = (a ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    b = (b + static_cast<uint8_t>(c)) * 0x9E3779B97F4A7C15u;
  }
  char text[40];
  snprintf(text, sizeof text, "%016lx%016lx", static_cast<unsigned long>(a), static_cast<unsigned long>(b));
  return text;
}

std::string lines(const std::vector<std::string>& errors) {
  std::string text;
  for (const std::string& error : errors) text += error + "\n";
  return text;
}

// Files of one compilation; removed when it ends, so that only shared objects stay in the cache.
struct WorkFiles {
  std::string base;
  std::string path(const char* extension) const { return base + extension; }
  ~WorkFiles() {
    for (const char* extension : {".metal", ".ii", ".cl", ".cpp", ".log", ".ll"}) unlink(path(extension).c_str());
  }
};

// One pass: preprocess, rewrite, write the text the compiler will read. Returns the errors.
std::string rewrite(const WorkFiles& files, const CompileOptions& options, bool strict,
                    const std::map<int, uint32_t>* constants = nullptr) {
  if (run_command(preprocessor_command(options, files.path(".metal"), strict), files.path(".ii"), files.path(".log")))
    return read_file(files.path(".log")) + (read_file(files.path(".log")).empty() ? clang() + " could not be run" : "");
  const Preprocessed result = preprocess(read_file(files.path(".ii")), strict, constants);
  std::ofstream(files.path(strict ? ".cl" : ".cpp")) << result.text;
  return lines(result.errors);
}

std::string build(const std::string& source, const CompileOptions& options, const std::string& object) {
  static std::atomic<int> builds{0};
  const WorkFiles files{object + "." + std::to_string(getpid()) + "." + std::to_string(builds++)};
  std::ofstream(files.path(".metal")) << source;
  std::string error = rewrite(files, options, true);
  if (run_command(strict_command(files.path(".cl")), "/dev/null", files.path(".log")))
    error += read_file(files.path(".log"));
  if (!error.empty()) return error;
  error = rewrite(files, options, false);
  if (!error.empty()) return error;
  const std::string fresh = files.base + ".so";
  if (run_command(code_command(files.path(".cpp"), fresh, options.check), "/dev/null", files.path(".log")))
    return read_file(files.path(".log"));
  rename(fresh.c_str(), object.c_str());
  return "";
}

// Scalar instructions, as a GPU's lane has them, with multiplications fused into additions.
Words listing_command(const std::string& file, const std::string& to) {
  Words words = code_command(file, to, false);
  std::erase_if(words, [](const std::string& word) {
    return word == "-shared" || word == "-lm" || word == "-g1" || word == "-march=x86-64-v3" ||
           word == "-ffp-contract=off";
  });
  for (const char* word : {"-S", "-emit-llvm", "-fno-vectorize", "-fno-slp-vectorize", "-ffp-contract=fast", "-mllvm",
                           "-inline-threshold=100000"})
    words.push_back(word);
  return words;
}

// Kernels call back into this image, which a Node addon's loader keeps to itself: make its symbols visible to them.
void show_own_symbols() {
  static const bool done = [] {
    Dl_info self;
    if (dladdr(reinterpret_cast<void*>(&compiled_count), &self))
      dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

int compiled_count() { return compiled; }

Listing list(const std::string& source, const CompileOptions& options, const std::map<int, uint32_t>& constants) {
  static std::atomic<int> lists{0};
  const WorkFiles files{cache_folder() + "/list." + std::to_string(getpid()) + "." + std::to_string(lists++)};
  std::ofstream(files.path(".metal")) << source;
  const std::string error = rewrite(files, options, false, &constants);
  if (!error.empty()) return {"", error};
  const std::string to = files.path(".ll");
  if (run_command(listing_command(files.path(".cpp"), to), "/dev/null", files.path(".log")))
    return {"", read_file(files.path(".log"))};
  return {read_file(to), ""};
}

Library compile(const std::string& source, const CompileOptions& options) {
  show_own_symbols();
  Library library;
  const std::string object = cache_folder() + "/" + key_of(source, options) + ".so";
  if (access(object.c_str(), R_OK)) {
    compiled++;
    library.error = build(source, options, object);
    if (!library.error.empty()) return library;
  }
  void* handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    library.error = dlerror();
    return library;
  }
  library.description = static_cast<const mtl_library_desc*>(dlsym(handle, "mtl_library"));
  return library;
}

}  // namespace standin
