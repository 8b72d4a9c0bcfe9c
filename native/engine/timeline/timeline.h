// Tokens in order, the passes that read them and the memory those left: what going on, going back and reading again
// rest on. Everything but the marked calls runs on the model's worker.
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

// Why tokens are read again that have been read before.
enum class Reread : uint8_t {
  nothing,   // none are
  cold,      // none were known
  boundary,  // reading begins at boundaries, and the next is beyond what is known
  evicted,   // their memory was needed for something else, or they were never kept
  unread,    // written as an answer, which was not read back yet
  path,      // read on the other path, or in the other regime of attention
};

// How much of a prompt need not be read, and why not more.
struct Resumed {
  int64_t length = 0;
  Known known;
  Reread reason = Reread::cold;
  bool at_boundary = true;  // false: behind an answer, wherever that stood
};

inline constexpr int64_t pass_grain = 16;

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
  // Where pictures stand in the prompt that is read next, whose front the timeline holds.
  void show(Pictures pictures) { pictures_ = std::move(pictures); }
  const Pictures& pictures() const { return pictures_; }
  int64_t length() const { return static_cast<int64_t>(tokens_.size()); }
  std::span<const int32_t> history() const { return tokens_; }
  TimelineMemory& memory() { return memory_; }

  // Throws std::invalid_argument or ContextError when the tokens cannot be read from an empty timeline.
  void check_prompt(std::span<const int32_t> tokens) const;
  // Goes back, or on, to the longest prefix of the prompt that was read as `path` reads it, cut at the same boundaries
  // (`ends`), and whose state exists here or in the model's prompt cache; at most `limit` tokens. `continues`: so many
  // tokens at the end are the answer so far, and what of them the timeline holds goes on as it was written, wherever it
  // was cut.
  Resumed resume(std::span<const int32_t> prompt, std::span<const Boundary> ends, int64_t limit, Path path,
                 int64_t continues);
  // One pass over tokens that follow the history, text or a picture (Pictures::alike). `total`: the length of the
  // prompt they are part of. Returns logits (or an empty tensor) readable until the next pass. When it throws, the
  // timeline is as before, or cut to where it could be restored. With `goes_on` the next tokens belong to the same
  // pass: where a pass is cut at multiples of `pass_grain`, and no part is shorter, its numbers are those of the
  // whole, bit for bit (back ends that take turns).
  Tensor read(std::span<const int32_t> tokens, int64_t total, Scored rows, const PassOptions& options,
              bool goes_on = false);
  // One pass that reads a token into each of several timelines of one model. Returns a row of logits for each. When it
  // throws, each is as before, or cut to where it could be restored.
  static Tensor read_together(std::span<Timeline* const> timelines, std::span<const int32_t> tokens, Path path);
  // What a pass outside of `read` has read into the memory.
  void append(std::span<const int32_t> tokens, int64_t total, Path path);
  // Gives the prompt cache what was read of `prompt` up to the last of `ends`, where the timeline stands. False where
  // it has no room for it. `owner`: see PromptCache::insert.
  bool cache_prefix(std::span<const int32_t> prompt, std::span<const Boundary> ends, Path path, double seconds,
                    bool branches, const std::string& owner);

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
    bool cut = false;  // it went on beyond its end once
  };

  TrieKey key_of(int64_t total, Path path) const;
  int64_t alike(int64_t total, Path path) const;
  int64_t cut_alike(std::span<const int32_t> prompt, std::span<const Boundary> ends, int64_t limit, Path path) const;
  int64_t restorable(int64_t limit) const;
  // Of a prompt: what was reused; what was read here in the passes it would be read in; what was read here at all on
  // its path.
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
  std::vector<int32_t> tokens_;  // what the memory holds; of pictures as in engine/pictures.h
  Pictures pictures_;
  std::vector<PassRecord> passes_;
  bool goes_on_ = false;  // the last of them
  Snapshots snapshots_;
  Snapshot checkpoint_;  // buffers for the state before a pass
};

}  // namespace longhand
