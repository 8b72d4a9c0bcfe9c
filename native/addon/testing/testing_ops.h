// Single ops for the tests (test/ops): every back end, the same inputs, the same checks. Nothing else uses this.
#pragma once

#include <napi.h>

#include <map>
#include <string>
#include <vector>

#include "ops/backend.h"

namespace longhand::testing {

// The arguments of one op and the passes it runs in. Inputs are Float32Arrays; `chunks` splits the rows into passes.
class Bench {
 public:
  Bench(Backend& on, Path path, Napi::Object given) : backend(on), args(given), path_(path) {}

  Backend& backend;
  Napi::Object args;

  bool has(const char* name) const { return args.Has(name) && !args.Get(name).IsUndefined(); }
  int64_t integer(const char* name) const { return args.Get(name).ToNumber().Int64Value(); }
  int64_t integer(const char* name, int64_t otherwise) const { return has(name) ? integer(name) : otherwise; }
  float number(const char* name, float otherwise) const {
    return has(name) ? args.Get(name).ToNumber().FloatValue() : otherwise;
  }
  std::string text(const char* name, const char* otherwise) const {
    return has(name) ? args.Get(name).ToString().Utf8Value() : otherwise;
  }
  std::vector<float> floats(const char* name) const;
  std::vector<int32_t> ints(const char* name) const;
  // On the device; null, or refused, when the argument is not there.
  BufferPtr buffer(const char* name) const;
  BufferPtr required(const char* name) const;
  Norm norm(const char* name) const;  // weight `name`, eps `eps`
  const Norm* optional_norm(const char* name);
  WeightPtr weight(const char* name, int64_t experts = 1);
  Heads heads() const { return {integer("heads"), integer("kvHeads"), integer("dim")}; }

  // Rows [first, first + count) of argument `name`, in the arena of the running pass.
  Tensor input(const char* name, int64_t first, int64_t count) const;
  // Runs `op(first, count)` once a chunk, each in its own pass whose arena was NaN before; gathers the results' rows.
  template <class Op>
  Napi::Value in_chunks(const char* rows_of, const Op& op) {
    std::vector<float> result;
    int64_t first = 0;
    for (const int64_t count : chunks(rows_of)) {
      begin();
      append(result, op(first, count));
      first += count;
    }
    return array(result);
  }
  Napi::Value array(const std::vector<float>& values) const;
  Napi::Value array(const std::vector<int32_t>& values) const;
  Napi::Value contents(Buffer& buffer) const;

  void begin();
  void append(std::vector<float>& to, const Tensor& from);

 private:
  std::vector<int64_t> chunks(const char* rows_of) const;

  Path path_;
  std::map<std::string, Norm> norms_;
};

using Op = Napi::Value (*)(Bench& bench);
const std::map<std::string, Op>& row_ops();    // testing_rows.cc: embed, norms, linear, moe, sample
const std::map<std::string, Op>& state_ops();  // testing_states.cc: attention, linear attention, sparse

}  // namespace longhand::testing
