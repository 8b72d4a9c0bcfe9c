// Metal source text -> a loaded shared object whose kernels the executor can run. Two passes of clang over the same
// text: a strict one (syntax only, address spaces enforced) and the one that makes code. Results are cached on disk.
#pragma once

#include <map>
#include <string>

#include "executor/abi.h"

namespace standin {

struct Library {
  const mtl_library_desc* description = nullptr;
  std::string error;  // what the compiler would have said; empty when the library is usable
};
struct CompileOptions {
  std::map<std::string, std::string> macros;
  bool check = false;  // with access hooks
  int language = 310;  // __METAL_VERSION__
};
struct Listing {
  std::string text, error;
};
// The text's kernels as LLVM's instructions, for these values of the function constants (0 where none is given).
Listing list(const std::string& source, const CompileOptions& options, const std::map<int, uint32_t>& constants);

Library compile(const std::string& source, const CompileOptions& options);

// How many libraries this process compiled (not found in the cache).
int compiled_count();

}  // namespace standin
