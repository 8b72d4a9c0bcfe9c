// Statistics of the inputs of a model's matrices while it reads a text: quantisers and converters weigh by them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ops/backend.h"

namespace longhand {

struct Observed {
  std::vector<std::string> names;  // the tensors of the matrix, stacked by rows
  int64_t tokens = 0;
  std::vector<double> squares;     // [in]: sums over tokens of x^2
  std::vector<double> covariance;  // [in, in]: sums of x x^T, of which only j >= i are kept
  std::vector<double> pairs;       // [out / 2]: sums of the lengths of (y_i, y_i+dim/2), head by head
};

struct Observations {
  std::vector<std::string> covariance_of;  // of matrices that have a tensor whose name ends so
  int64_t pair_dim = 0;                    // of a head; 0: no pairs
  std::map<const Weight*, Observed> found;
};

// The CPU back end, which also records into `seen`. One pass at a time, as usual.
Creation create_observing_cpu(int threads, std::shared_ptr<Observations> seen);

}  // namespace longhand
