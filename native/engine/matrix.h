// Values copied from the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/backend.h"

namespace longhand {

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<float> data;  // row-major
};
struct NamedMatrix {
  std::string name;
  Matrix matrix;
};

// Call after finish() of the pass that computed it.
inline Matrix read_back(Backend& backend, const Tensor& tensor) {
  Matrix out{tensor.rows, tensor.cols, std::vector<float>(static_cast<size_t>(tensor.rows * tensor.cols))};
  backend.read(out.data.data(), tensor);
  return out;
}

// Copies it into the arena of the running pass.
inline Tensor upload(Backend& backend, const Matrix& values) {
  const Tensor x = backend.scratch(values.rows, values.columns);
  backend.write(*x.buffer, x.offset * sizeof(float), values.data.data(), values.data.size() * sizeof(float));
  return x;
}

}  // namespace longhand
