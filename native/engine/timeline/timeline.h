// Tokens in order, the passes that read them, and the resulting memory. Continues, goes back and reads again. Calls run
// on the model's worker unless marked otherwise.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/forward.h"
#include "engine/prompt_cache/prompt_cache.h"
#include "engine/timeline/snapshots.h"

namespace longhand {

// Why tokens that have been read before are read again.
enum class Reread : uint8_t {
  nothing,   // none are
  cold,      // none had been read
  boundary,  // reading starts at boundaries, and the next one is beyond the known tokens
  evicted,   // their memory was needed for something else, or they were never cached
  unread,    // written as an answer that has not been read back yet
  path,      // read on the other path or in the other attention regime
};

// How many tokens of a prompt need not be read, and why not more.
struct Resumed {
  int64_t length = 0;
  Known known;
  Reread reason = Reread::cold;
  bool at_boundary = true;  // false: after an answer, at any position
};

class Timeline {
 public:
  // `context`: the most tokens it can hold; 0: as many as the model was trained for. Throws std::invalid_argument.
  Timeline(std::shared_ptr<Model> model, CacheType cache, int64_t context);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Any thread.
  Model& model() const { return *model_; }
  int64_t context() const { return context_; }
  uint64_t memory_bytes() const { return memory_.bytes(context_); }
  std::vector<int32_t> tokens() const;
  // Lengths the timeline can return to without reading tokens again, ascending.
  std::vector<int64_t> return_lengths() const;

  // Sets where the pictures are in the prompt that is read next, whose beginning the timeline holds. Call on the
  // worker.
  void show(Pictures pictures) { pictures_ = std::move(pictures); }
  const Pictures& pictures() const { return pictures_; }
  int64_t length() const { return static_cast<int64_t>(tokens_.size()); }
  std::span<const int32_t> history() const { return tokens_; }
  TimelineMemory& memory() { return memory_; }

  // Throws std::invalid_argument or ContextError if an empty timeline could not read the tokens.
  void check_prompt(std::span<const int32_t> tokens) const;
  // Moves to the longest prefix of the prompt, of at most `limit` tokens, that was read on `path` and cut at the same
  // boundaries (`ends`), and whose state exists here or in the model's prompt cache. `continues`: how many tokens at
  // the end are the beginning of the answer; those the timeline holds are continued as they were written, whatever
  // their cuts.
  Resumed resume(std::span<const int32_t> prompt, std::span<const Boundary> ends, int64_t limit, Path path,
                 int64_t continues);
  // One pass over tokens that follow the history, text or a picture (Pictures::alike). `total`: the length of the
  // prompt they are part of. Returns logits (or an empty tensor) readable until the next pass. If it throws, the
  // timeline is unchanged, or truncated to where it could be restored. `left`: how many more tokens of the same pass
  // the next calls read, in parts as Passes::grain() allows.
  Tensor read(std::span<const int32_t> tokens, int64_t total, Scored rows, PassOptions options, int64_t left = 0);
  // Reads one token into each of several timelines of one model in one pass. Returns a row of logits for each. If it
  // throws, each is unchanged, or truncated to where it could be restored.
  static Tensor read_together(std::span<Timeline* const> timelines, std::span<const int32_t> tokens, Path path);
  // Records tokens that a pass outside `read` has read into the memory.
  void append(std::span<const int32_t> tokens, int64_t total, Path path);
  // Adds `prompt` up to the last of `ends`, which is the timeline's length, to the prompt cache. Returns false if the
  // cache has no room. `owner`: see PromptCache::insert.
  bool cache_prefix(std::span<const int32_t> prompt, std::span<const Boundary> ends, Path path, double seconds,
                    bool branches, const std::string& owner);

  // Goes back to `length`, or to the nearest snapshot before it.
  void restore(int64_t length);
  // Goes back to exactly `length`. Returns how many tokens were read again. Throws Cancelled, leaving the timeline
  // shorter.
  int64_t rewind(int64_t length, const std::atomic<bool>* cancel);
  void clear();
  void take_snapshot(SnapshotKind kind) { snapshots_.take(length(), kind); }
  // Frees memory; lost tokens are read again when they are needed.
  void release_memory(bool critical);

 private:
  // How a stretch was read, so that reading it again gives the same bits.
  struct PassRecord {
    int64_t end;
    int64_t total;
    Path path;
    bool cut = false;  // the pass was once longer
  };

  TrieKey key_of(int64_t total, Path path) const;
  int64_t alike(int64_t total, Path path) const;
  int64_t cut_alike(std::span<const int32_t> prompt, std::span<const Boundary> ends, int64_t limit, Path path) const;
  int64_t restorable(int64_t limit) const;
  // Prefix lengths of a prompt: reused; read here by the same passes; read here at all on its path.
  struct Reused {
    int64_t length, held, alike;
  };
  Reread why_again(std::span<const Boundary> ends, int64_t limit, const Known& known, const CachedPrefix& prefix,
                   const Reused& reused) const;
  int64_t continued(std::span<const int32_t> prompt, Path path, int64_t continues) const;
  void adopt(const CachedPrefix& prefix, int64_t held, std::span<const int32_t> prompt, std::span<const Boundary> ends,
             Path path);
  const Snapshot* checkpoint(int64_t length);
  void restore(int64_t length, const Snapshot* checkpoint);
  void forget_after(int64_t length);
  void replay(std::span<const int32_t> tokens, std::span<const PassRecord> passes, const std::atomic<bool>* cancel);

  std::shared_ptr<Model> model_;
  int64_t context_;
  TimelineMemory memory_;
  mutable std::mutex lock_;      // guards tokens_ against readers on other threads; only the worker changes them
  std::vector<int32_t> tokens_;  // tokens in the memory; pictures are represented as in engine/pictures.h
  Pictures pictures_;
  std::vector<PassRecord> passes_;
  bool goes_on_ = false;  // whether the last pass continues
  Snapshots snapshots_;
  Snapshot checkpoint_;  // buffers for the states before a pass
};

}  // namespace longhand
