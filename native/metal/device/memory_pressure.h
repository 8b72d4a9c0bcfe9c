// The system's word that memory is short.
#pragma once

#include <functional>
#include <memory>

namespace longhand::metal {

class Pressure {
 public:
  // `told` is called from a thread of the system's until this object ends.
  explicit Pressure(std::function<void(bool critical)> told);
  ~Pressure();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace longhand::metal
