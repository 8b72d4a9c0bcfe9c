// Reading arguments: every wrong one becomes an Error with code `argument` that names it.
#pragma once

#include <napi.h>

#include <string>
#include <vector>

#include "engine/worker.h"
#include "ops/operands.h"
#include "ops/tensor.h"

namespace longhand {

class Options {
 public:
  // Undefined is an empty set of options.
  Options(Napi::Value value, const char* where);

  bool has(const char* key) const;
  Napi::Value get(const char* key) const;
  double number(const char* key, double fallback, double least, double most) const;
  int64_t integer(const char* key, int64_t fallback, int64_t least, int64_t most) const;
  bool flag(const char* key, bool fallback) const;
  std::string text(const char* key, const std::string& fallback) const;
  std::vector<int32_t> tokens(const char* key) const;    // an array of token ids, empty when absent
  std::vector<TokenBias> biases(const char* key) const;  // { tokens, values }, empty when absent
  Path path(const char* key, Path fallback) const;
  CancelFlag cancel(const char* key) const;  // an AbortFlag's, or a fresh one
  Options inner(const char* key) const;
  std::vector<Options> list(const char* key) const;  // of an array of objects, empty when absent

 private:
  [[noreturn]] void fail(const char* key, const std::string& allowed) const;

  Napi::Env env_;
  Napi::Object object_;  // empty when there are no options
  std::string where_;
};

std::vector<int32_t> token_array(const Napi::Value& value, const char* where);

}  // namespace longhand
