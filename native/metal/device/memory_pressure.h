// Notifications of the system that memory is short.
#pragma once

#include <functional>
#include <memory>

namespace longhand::metal {

class Pressure {
 public:
  // `told` is called on a system thread until this object is destroyed.
  explicit Pressure(std::function<void(bool critical)> told);
  ~Pressure();

 private:
  struct Objects;
  std::unique_ptr<Objects> objects_;
};

}  // namespace longhand::metal
