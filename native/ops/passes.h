// A pass brackets ops: its beginning, end and memory, and passes that are submitted before the previous one is done.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "ops/operands.h"

namespace longhand {

struct PassOptions {
  Path path = Path::exact;
  const std::atomic<bool>* cancel = nullptr;  // checked between ops; a cancelled pass throws Cancelled
  bool async = false;                         // begins behind passes that are still running; ends with submit()
  bool separate = false;                      // every row is of another timeline and comes out as it would alone
  int64_t whole = 0;    // of a part of a prompt's pass (Passes::grain): tokens of the whole pass; 0: this is all of it
  int64_t left = 0;     // and how many of them come after this part
  bool warmup = false;  // computes nothing, see compile_pending()
};
struct Cancelled {};

class Passes {
 public:
  virtual ~Passes() = default;

  // begin() recycles the arena of activations; finish() returns when every result can be read.
  virtual void begin(const PassOptions& options) = 0;
  virtual void finish() = 0;
  virtual Tensor scratch(int64_t rows, int64_t cols) = 0;  // uninitialised, in the arena
  virtual void read(float* to, const Tensor& from) = 0;    // after finish(); [rows, cols] packed
  // Call between layers: of all tensors of the running pass only x is still needed. Returns x, possibly moved.
  virtual Tensor recycle_except(Tensor x) { return x; }

  // Asynchronous decode: a separate device receives the next decode step before the previous one is done, so that it
  // never waits for the CPU. The pass chooses its own token (`guess`), which the next pass reads. `sample` decides: a
  // step that was fed a different token is taken back, which costs only time. At most two passes are in flight; both
  // keep their results until the third begins.
  virtual bool decodes_async() const { return false; }
  // Passes of other timelines may run between two passes of one: nothing outlives a pass but its timeline's memory, and
  // the scores, which are used at once (a step sent ahead is taken back first). So a prompt may be read in parts: parts
  // that end at multiples of this many tokens, and are no shorter, give bit for bit the results of one whole pass:
  // kernels are chosen by its size, not the part's.
  virtual int64_t grain() const { return 16; }
  // Encodes the choice of a token. With `after_guess` the token guessed by the previous pass counts too, which the
  // caller does not know yet.
  virtual void guess(Tensor /*logits_row*/, const Sampling& /*options*/, std::span<const TokenCount> /*counts*/,
                     std::span<const TokenBias> /*biases*/, bool /*after_guess*/) {}
  // Ends a pass that began `async` without waiting for it.
  virtual void submit() {}
  // Waits for the oldest submitted pass, whose results can then be read. Returns its guess.
  virtual int32_t await_guess() { return 0; }
  // Waits for every submitted pass and drops it, errors included, and what has been encoded of a pass that failed.
  // Memory may be changed afterwards.
  virtual void discard() {}
};

}  // namespace longhand
