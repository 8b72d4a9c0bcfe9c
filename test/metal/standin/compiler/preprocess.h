// Source-to-source step on preprocessed MSL (clang -E output): finds kernels and the roles of their arguments, rewrites
// the few constructs plain clang cannot parse, and appends entry points and reflection tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace standin {

struct Argument {
  std::string name, type, role, cond;
  int index = -1;
  bool is_ptr = false, is_ref = false, is_const = false;
};
struct Kernel {
  std::string name, max_threads;
  std::vector<Argument> args;
  bool is_template = false;
};
struct Entry {
  std::string host, expr;
  const Kernel* k;
};
struct FunctionConstant {
  std::string name, type;
  int index;
};
struct Preprocessed {
  std::string text;
  std::vector<std::string> errors;
};

// `strict`: the text of the syntax-only pass, where address spaces are real.
// `constants`: the values of function constants by index, for a listing; nullptr where the host sets them later.
Preprocessed preprocess(const std::string& text, bool strict, const std::map<int, uint32_t>* constants = nullptr);

}  // namespace standin
