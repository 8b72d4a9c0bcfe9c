// A pass brackets ops: where it begins and ends, its memory, and passes that are handed over before the last one is
// done.
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
  bool warmup = false;                        // computes nothing, see compile_pending()
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
  // Between layers: of all tensors of the running pass only x is still needed. Returns it, perhaps at another place.
  virtual Tensor recycle_except(Tensor x) { return x; }

  // Asynchronous decode: a device of its own is given the next decode step before the last one is done, so that it
  // never waits for the CPU. The pass chooses its token itself, as part of its work (`guess`), and the next pass reads
  // it from there. `sample` stays the judge: a step that was fed another token than it chose is taken back, which costs
  // time and nothing else. At most two passes are under way; both keep their results until the third begins.
  virtual bool decodes_async() const { return false; }
  // Between two passes of one timeline others may run: nothing of a pass is kept for the next but in its memory and the
  // scores, which are used at once. Elsewhere an answer is read and written to its end before the next begins.
  virtual bool takes_turns() const { return false; }
  // Encodes the choice. With `after_guess` the token guessed by the pass before is counted too: the caller knows it
  // later.
  virtual void guess(Tensor /*logits_row*/, const Sampling& /*options*/, std::span<const TokenCount> /*counts*/,
                     std::span<const TokenBias> /*biases*/, bool /*after_guess*/) {}
  // Ends a pass that began `async` without waiting for it.
  virtual void submit() {}
  // Waits for the oldest pass handed over; its results can be read. Returns its guess.
  virtual int32_t await_guess() { return 0; }
  // Waits for every pass handed over and forgets it, errors included.
  virtual void discard() {}
};

}  // namespace longhand
