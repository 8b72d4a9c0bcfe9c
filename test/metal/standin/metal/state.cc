#include "metal/state.h"

namespace standin {

void misuse(const std::string& what) { throw Misuse("[metal misuse] " + what); }

State& state() {
  static auto* all = new State;  // outlives every static: command buffers may end during exit
  return *all;
}

}  // namespace standin
