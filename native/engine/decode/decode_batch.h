// Answers that one model writes at the same time. When one takes a step, all that can join take theirs in the same pass
// over the weights, and then skip their own turn in this round. A prompt that is read meanwhile is read in short parts,
// so that no answer pauses for long.
#pragma once

#include <vector>

#include "engine/decode/generation.h"

namespace longhand {

// Runs on the model's worker. Generations must outlive their membership.
class DecodeBatch {
 public:
  // Like Generation::step. A generation that writes is a member until it leaves.
  bool step(Generation& generation);
  void leave(const Generation& generation);

 private:
  struct Member {
    Generation* generation;
    bool ahead = false;  // has already taken this round's step
    std::exception_ptr failure = nullptr;
  };
  bool read(Generation& generation);
  Member& join(Generation& generation);
  void write(Member& first);

  std::vector<Member> members_;
  double seconds_a_token_ = 0;  // for the last part of a prompt read during a batch; 0: none yet
};

}  // namespace longhand
