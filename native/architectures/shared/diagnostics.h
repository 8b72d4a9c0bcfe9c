// Collects everything that is wrong with a checkpoint, so that a user sees all of it at once instead of the first
// error.
#pragma once

#include <string>
#include <vector>

namespace longhand {

struct Diagnostics {
  std::vector<std::string> list;     // why the checkpoint cannot run
  std::vector<std::string> notices;  // parts of it that are not used

  void add(std::string problem) { list.push_back(std::move(problem)); }
  void notice(std::string text) { notices.push_back(std::move(text)); }
  bool none() const { return list.empty(); }
};

}  // namespace longhand
