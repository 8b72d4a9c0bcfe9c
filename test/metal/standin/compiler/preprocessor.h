// What the steps of the preprocessor share.
#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "compiler/preprocess.h"
#include "compiler/tokens.h"

namespace standin {

// The roles of arguments that the hardware fills in, with their types in the entry points.
extern const std::map<std::string, std::string> builtin_args;

struct Preprocessor : Tokens {
  bool strict;
  const std::map<int, uint32_t>* constants;
  Preprocessed out;
  std::list<Kernel> kernels;
  std::vector<Entry> entries;
  std::vector<FunctionConstant> fcs;
  int tgid = 0;
  Preprocessor(const std::string& text, bool strict_pass, const std::map<int, uint32_t>* known)
      : Tokens(text), strict(strict_pass), constants(known) {}
  void err(const Token& k, const std::string& m) {
    out.errors.push_back(k.file + ":" + std::to_string(k.line) + ": error: " + m);
  }

  // float4(…) and vec<T,4>(…) are conversions plain clang lacks; double literals and keywords.
  void expressions();
  // threadgroup T a[N], b;  ->  auto &a = *(threadgroup T(*)[N])mtl_tg_alloc(id, …); …
  void body(size_t a, size_t b, bool kernel);
  std::vector<Argument> params(size_t o);  // t[o] is '('
  // Metal wants an address space on every pointer and reference parameter.
  void helper_params(size_t o);
  void decls(size_t i, size_t end, const std::string& ns);
  // Every kernel as a function of its host name, for a listing: nothing calls it.
  void emit_listed();
  void emit();
};

}  // namespace standin
