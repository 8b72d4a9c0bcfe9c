// Everything that is wrong with a checkpoint, gathered instead of thrown, so that a user sees all of it at once.
#pragma once

#include <string>
#include <vector>

namespace longhand {

struct Diagnostics {
  std::vector<std::string> list;     // reasons why it cannot run
  std::vector<std::string> notices;  // things left out on purpose

  void add(std::string problem) { list.push_back(std::move(problem)); }
  void notice(std::string text) { notices.push_back(std::move(text)); }
  bool none() const { return list.empty(); }
};

}  // namespace longhand
