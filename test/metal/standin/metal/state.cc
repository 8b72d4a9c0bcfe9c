#include "metal/state.h"

#include <algorithm>
#include <chrono>

namespace standin {

void misuse(const std::string& what) { throw Misuse("[metal misuse] " + what); }

State& state() {
  static auto* all = new State;  // outlives every static: command buffers may end during exit
  return *all;
}

uint64_t gpu_nanoseconds() {
  const std::lock_guard guard(state().lock);
  if (!state().clock.costs.empty()) return state().clock.worked;
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::steady_clock;
  return static_cast<uint64_t>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

void gpu_worked(const std::string& description) {
  const std::lock_guard guard(state().lock);
  const auto fits = [&](const auto& rule) {
    return std::ranges::all_of(rule.first,
                               [&](const std::string& word) { return description.find(word) != std::string::npos; });
  };
  const auto& costs = state().clock.costs;
  const auto rule = std::ranges::find_if(costs, fits);
  state().clock.worked += rule == costs.end() ? 1000 : rule->second;
}

}  // namespace standin
