// Tokens in order, the passes that read them and the memory those left: what going on, going back and reading again
// rest on. Everything but the marked calls runs on the model's worker.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/forward.h"
#include "engine/snapshots.h"

namespace longhand {

// Prompts are read in passes that end at multiples of this.
inline constexpr int64_t prefill_chunk = 512;

// Why not everything of a prompt was reused.
enum class Reuse : uint8_t { whole, diverged, no_snapshot, cold };

// How much of a prompt need not be read.
struct ReusablePrefix {
  int64_t length = 0;
  Reuse reason = Reuse::cold;
};

class Timeline {
 public:
  // `context`: the most tokens it holds; 0: what the model was made for. Throws std::invalid_argument.
  Timeline(std::shared_ptr<Model> model, CacheType cache, int64_t context);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Any thread.
  Model& model() const { return *model_; }
  int64_t context() const { return context_; }
  uint64_t memory_bytes() const { return memory_.bytes(context_); }
  std::vector<int32_t> tokens() const;
  // Lengths that can be returned to without reading tokens again, ascending.
  std::vector<int64_t> return_lengths() const;

  // The worker.
  int64_t length() const { return static_cast<int64_t>(tokens_.size()); }
  std::span<const int32_t> history() const { return tokens_; }
  TimelineMemory& memory() { return memory_; }

  // Throws std::invalid_argument or ContextError when the tokens cannot be read from an empty timeline.
  void check_prompt(std::span<const int32_t> tokens) const;
  // The longest prefix that was read as `path` reads it and whose state exists. At least the last token is left to be
  // read: its logits are wanted.
  ReusablePrefix reusable(std::span<const int32_t> prompt, Path path) const;
  // One pass over tokens that follow the history. `total`: the length of the prompt they are part of. Returns logits
  // (or an empty tensor) readable until the next pass. When it throws, the timeline is as before, or cut to where it
  // could be restored.
  Tensor read(std::span<const int32_t> tokens, int64_t total, Scored rows, const PassOptions& options);
  // What a pass outside of `read` has read into the memory.
  void append(std::span<const int32_t> tokens, int64_t total, Path path);

  // Back to `length`, or to the nearest snapshot before it.
  void restore(int64_t length);
  // Back to `length` exactly: what was after never happened. Returns how many tokens were read again. Throws Cancelled,
  // then it is shorter.
  int64_t rewind(int64_t length, const std::atomic<bool>* cancel);
  void clear();
  void take_snapshot(SnapshotKind kind) { snapshots_.take(length(), kind); }
  // Gives back memory: what is lost is read again when it is wanted.
  void release_memory(bool critical);

 private:
  // How a stretch was read, so that it can be read again in the same way, bit for bit.
  struct PassRecord {
    int64_t end;
    int64_t total;
    Path path;
  };

  int64_t alike(int64_t total, Path path) const;
  const Snapshot* checkpoint(int64_t length);
  void restore(int64_t length, const Snapshot* checkpoint);
  void forget_after(int64_t length);
  void replay(std::span<const int32_t> tokens, std::span<const PassRecord> passes, const std::atomic<bool>* cancel);

  std::shared_ptr<Model> model_;
  int64_t context_;
  TimelineMemory memory_;
  mutable std::mutex lock_;      // guards tokens_ against readers on other threads; only the worker changes them
  std::vector<int32_t> tokens_;  // what the memory holds
  std::vector<PassRecord> passes_;
  Snapshots snapshots_;
  Snapshot checkpoint_;  // buffers for the state before a pass
};

}  // namespace longhand
