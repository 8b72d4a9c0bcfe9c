// Answers that one model writes at the same time: when one of them takes its step, all that can take it with it do, in
// one pass over the weights. Each has then done its step of this round, and does nothing when its own turn comes. A
// prompt that is read meanwhile is read in short parts, so that none of them stands still for long.
#pragma once

#include <vector>

#include "engine/decode/generation.h"

namespace longhand {

// On the worker of the model. The generations outlive their membership.
class DecodeBatch {
 public:
  // As Generation::step. Whoever writes is a member until it leaves.
  bool step(Generation& generation);
  void leave(const Generation& generation);

 private:
  struct Member {
    Generation* generation;
    bool ahead = false;  // its step of this round is done
    std::exception_ptr failure = nullptr;
  };
  bool read(Generation& generation);
  Member& join(Generation& generation);
  void write(Member& first);

  std::vector<Member> members_;
  double seconds_a_token_ = 0;  // of the last part that was read beside writers; 0: none was
};

}  // namespace longhand
