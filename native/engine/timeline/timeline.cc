#include "engine/timeline/timeline.h"

#include <algorithm>
#include <stdexcept>

#include "engine/error.h"
#include "formats/error.h"

namespace longhand {

namespace {

// The states are copied before a pass of at least this many tokens; for fewer it would cost more than reading them
// again.
constexpr size_t checkpoint_from = 8;

int64_t choose_context(const Model& model, int64_t wanted) {
  if (wanted < 0)
    throw std::invalid_argument("[session] contextLength is " + std::to_string(wanted) + ", expected at least 1");
  return wanted == 0 ? model.facts().context : wanted;
}

}  // namespace

Timeline::Timeline(std::shared_ptr<Model> model, CacheType cache, int64_t context)
    : model_(std::move(model)),
      context_(choose_context(*model_, context)),
      memory_(model_->backend(), model_->facts().layers, cache, context_),
      snapshots_(memory_) {
  if (model_->architecture().encoder()) throw std::invalid_argument("[session] an encoder has no sessions: use embed");
  model_->memory_pressure().add(this);
}
Timeline::~Timeline() { model_->memory_pressure().remove(this); }

std::vector<int32_t> Timeline::tokens() const {
  const std::lock_guard lock(lock_);
  std::vector<int32_t> out = tokens_;
  if (const Vision* vision = model_->architecture().vision()) std::ranges::replace_if(out, is_picture, vision->token);
  return out;
}

std::vector<int64_t> Timeline::return_lengths() const {
  std::vector<int64_t> out = snapshots_.lengths();
  const auto end = static_cast<int64_t>(tokens().size());
  if (memory_.has_states()) out.insert(out.end(), {0, end});
  else
    for (int64_t length = 0; length <= end; ++length) out.push_back(length);
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// ---- reading ------------------------------------------------------------------------------------------------------

void Timeline::check_prompt(std::span<const int32_t> tokens) const {
  model_->check_tokens(tokens);
  if (tokens.empty()) throw std::invalid_argument("[session] there are no tokens, expected at least 1");
  if (static_cast<int64_t>(tokens.size()) <= context_) return;
  throw ContextError("[session] the prompt has " + std::to_string(tokens.size()) + " tokens, the context holds " +
                     std::to_string(context_));
}

// The length up to which tokens were read by the passes that a prompt of `total` tokens on `path` would use. A prompt
// that reaches the sparse regime is sparse for every query (arXiv 2509.24663), so tokens read in the other regime count
// only as far as both agree.
int64_t Timeline::alike(int64_t total, Path path) const {
  const auto& rule = model_->facts().sparse;
  int64_t reached = 0;
  for (const PassRecord& pass : passes_) {
    if (pass.path != path) return reached;
    const bool same_regime = !rule || (pass.total >= rule->dense_below) == (total >= rule->dense_below);
    if (!same_regime && pass.end > rule->coverage) return std::max(reached, rule->coverage);
    reached = pass.end;
  }
  return reached;
}

TrieKey Timeline::key_of(int64_t total, Path path) const {
  const auto& rule = model_->facts().sparse;
  return {static_cast<uint8_t>(path), static_cast<uint8_t>(memory_.type()), rule && total >= rule->dense_below};
}

// The length of the prompt's prefix that the history holds, read by the same passes.
int64_t Timeline::cut_alike(std::span<const int32_t> prompt, std::span<const Boundary> ends, int64_t limit,
                            Path path) const {
  const auto total = static_cast<int64_t>(prompt.size());
  const int64_t common = std::ranges::mismatch(prompt, tokens_).in1 - prompt.begin();
  const TrieKey key = key_of(total, path);
  int64_t reached = 0;
  for (size_t i = 0; i < std::min(passes_.size(), ends.size()); ++i) {
    const PassRecord& pass = passes_[i];
    const bool same = pass.end == ends[i].end && !pass.cut && key_of(pass.total, pass.path) == key;
    if (!same || pass.end > std::min(common, limit)) break;
    reached = pass.end;
  }
  return reached;
}

// The greatest length up to `limit` that the timeline can return to by itself.
int64_t Timeline::restorable(int64_t limit) const {
  if (!memory_.has_states() || limit == length()) return limit;
  const Snapshot* snapshot = snapshots_.nearest(limit);
  return snapshot ? snapshot->length : 0;
}

// How many tokens of the answer can be continued as they were written: everything before the answer must be present.
int64_t Timeline::continued(std::span<const int32_t> prompt, Path path, int64_t continues) const {
  const auto total = static_cast<int64_t>(prompt.size());
  const int64_t common = std::ranges::mismatch(prompt, tokens_).in1 - prompt.begin();
  const int64_t limit = restorable(std::min({common, total - 1, alike(total, path)}));
  return continues > 0 && limit >= total - continues ? limit : 0;
}

Resumed Timeline::resume(std::span<const int32_t> prompt, std::span<const Boundary> ends, int64_t limit, Path path,
                         int64_t continues) {
  goes_on_ = false;
  const auto total = static_cast<int64_t>(prompt.size());
  const auto common = static_cast<int64_t>(std::ranges::mismatch(prompt, tokens_).in1 - prompt.begin());
  const Known here{common, common < total && common < length()};
  const bool same_way = !passes_.empty() && key_of(passes_.front().total, passes_.front().path) == key_of(total, path);
  const int64_t alike_known = same_way ? common : 0;
  if (const int64_t going_on = continued(prompt, path, continues)) {
    if (going_on < length()) restore(going_on);
    return {going_on, here, Reread::nothing, false};
  }
  const int64_t held = cut_alike(prompt, ends, limit, path), own = restorable(held);
  PromptCache& cache = model_->prompt_cache();
  CachedPrefix prefix;
  if (cache.on()) prefix = cache.find(key_of(total, path), prompt, ends, limit, held, own, memory_);
  const Known known = prefix.known.tokens > common ? prefix.known : here;
  int64_t length = own;
  if (prefix.length > own) {
    try {
      adopt(prefix, held, prompt, ends, path);
      length = prefix.length;
    } catch (const OutOfMemory&) {  // the prompt does not fit either way, which reading it reports
    }
  }
  if (length == 0) clear();
  else if (length < this->length()) restore(length);

  return {length, known, why_again(ends, limit, known, prefix, {length, held, alike_known})};
}

// Why known tokens beyond `length` are read again.
Reread Timeline::why_again(std::span<const Boundary> ends, int64_t limit, const Known& known,
                           const CachedPrefix& prefix, const Reused& reused) const {
  const int64_t wanted = std::min(known.tokens, limit);
  if (wanted <= 0) return Reread::cold;
  if (wanted <= reused.length) return Reread::nothing;
  const auto next = std::ranges::find_if(ends, [&](const Boundary& each) { return each.end > reused.length; });
  if (next == ends.end() || next->end > wanted) return Reread::boundary;
  if (prefix.evicted) return Reread::evicted;
  const int64_t in_cache = prefix.other_path ? 0 : prefix.known.tokens;
  if (next->end > std::max(in_cache, reused.alike)) return Reread::path;
  if (next->end <= in_cache) return Reread::boundary;  // only some boundaries keep states
  return next->end <= reused.held ? Reread::evicted : Reread::unread;
}

// Copies a prefix from the prompt cache; the timeline already holds the first `held` tokens.
void Timeline::adopt(const CachedPrefix& prefix, int64_t held, std::span<const int32_t> prompt,
                     std::span<const Boundary> ends, Path path) {
  const auto total = static_cast<int64_t>(prompt.size());
  memory_.reserve(total);
  try {
    model_->prompt_cache().restore(prefix, held, memory_);
  } catch (...) {
    clear();
    throw;
  }
  snapshots_.forget_after(std::min(held, prefix.length));
  passes_.clear();
  for (const Boundary& boundary : ends) {
    if (boundary.end <= prefix.length) passes_.push_back({boundary.end, total, path});
  }
  const std::lock_guard lock(lock_);
  tokens_.assign(prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(prefix.length));
}

bool Timeline::cache_prefix(std::span<const int32_t> prompt, std::span<const Boundary> ends, Path path, double seconds,
                            bool branches, const std::string& owner) {
  const auto total = static_cast<int64_t>(prompt.size());
  return model_->prompt_cache().insert(key_of(total, path), history(), ends, memory_, seconds, branches, owner);
}

// Copies the current states, to return to if the next pass fails. Returns null if a snapshot has the same states, or if
// memory is short, which makes a failed pass more expensive.
const Snapshot* Timeline::checkpoint(int64_t length) {
  const Snapshot* snapshot = snapshots_.nearest(length);
  if (snapshot && snapshot->length == length) return nullptr;
  try {
    memory_.save(checkpoint_, length);
    return &checkpoint_;
  } catch (const OutOfMemory&) {
    checkpoint_ = {};
    return nullptr;
  }
}

Tensor Timeline::read(std::span<const int32_t> tokens, int64_t total, Scored rows, PassOptions options, int64_t left) {
  const int64_t before = length();
  const int64_t start = !goes_on_ ? before : passes_.size() > 1 ? passes_[passes_.size() - 2].end : 0;
  options.whole = before + static_cast<int64_t>(tokens.size()) + left - start;
  options.left = left;
  memory_.reserve(
      std::max(before + static_cast<int64_t>(tokens.size()), total));  // reserves for the whole prompt at once
  const bool worth_it = memory_.has_states() && before > 0 && tokens.size() >= checkpoint_from;
  const Snapshot* saved = worth_it ? checkpoint(before) : nullptr;
  Backend& backend = model_->backend();
  Tensor out{};
  try {
    if (is_picture(tokens.front())) pictures_.see(*model_, before, options);
    backend.begin(options);
    out = forward(*model_, memory_, pictures_, before, tokens, total, rows);
    backend.finish();
  } catch (...) {
    backend.discard();
    restore(before, saved);
    throw;
  }
  append(tokens, total, options.path);
  goes_on_ = left > 0;
  return out;
}

Tensor Timeline::read_together(std::span<Timeline* const> timelines, std::span<const int32_t> tokens, Path path) {
  std::vector<NextToken> next;
  for (size_t i = 0; i < timelines.size(); ++i) {
    Timeline& timeline = *timelines[i];
    timeline.memory_.reserve(timeline.length() + 1);
    next.push_back({&timeline.memory_, &timeline.pictures_, timeline.length(), tokens[i]});
  }
  Model& model = timelines.front()->model();
  Backend& backend = model.backend();
  Tensor out{};
  try {
    backend.begin({.path = path, .separate = true});
    out = forward(model, next);
    backend.finish();
  } catch (...) {
    backend.discard();
    for (Timeline* timeline : timelines) timeline->restore(timeline->length());
    throw;
  }
  for (size_t i = 0; i < timelines.size(); ++i) timelines[i]->append(tokens.subspan(i, 1), next[i].held + 1, path);
  return out;
}

void Timeline::append(std::span<const int32_t> tokens, int64_t total, Path path) {
  const int64_t end = length() + static_cast<int64_t>(tokens.size());
  if (goes_on_) passes_.back().end = end;
  else passes_.push_back({end, total, path});
  goes_on_ = false;
  const std::lock_guard lock(lock_);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

// ---- going back ---------------------------------------------------------------------------------------------------

void Timeline::restore(int64_t length) { restore(length, nullptr); }

void Timeline::restore(int64_t length, const Snapshot* checkpoint) {
  const Snapshot* from = checkpoint ? checkpoint : snapshots_.nearest(length);
  if (!memory_.has_states()) {
    memory_.cut(length);
    forget_after(length);
  } else if (from) {
    memory_.restore(*from);
    forget_after(from->length);
  } else {
    clear();
  }
}

// Removes the records beyond `length`; the memory has already been truncated.
void Timeline::forget_after(int64_t length) {
  goes_on_ = false;
  {
    const std::lock_guard lock(lock_);
    tokens_.resize(static_cast<size_t>(length));
  }
  snapshots_.forget_after(length);
  pictures_.forget_after(length);
  const auto last = std::ranges::find_if(passes_, [&](const PassRecord& pass) { return pass.end >= length; });
  if (last == passes_.end()) return;
  last->cut = last->cut || last->end > length;
  last->end = length;
  passes_.erase(length == 0 ? passes_.begin() : last + 1, passes_.end());
}

void Timeline::clear() {
  memory_.clear();
  forget_after(0);
}

int64_t Timeline::rewind(int64_t length, const std::atomic<bool>* cancel) {
  if (length < 0 || length > this->length()) {
    throw std::invalid_argument("[session] rewind to " + std::to_string(length) + ", expected 0 to " +
                                std::to_string(this->length()));
  }
  if (length == this->length()) return 0;
  const std::vector<int32_t> tokens(tokens_.begin(), tokens_.begin() + static_cast<ptrdiff_t>(length));
  const std::vector<PassRecord> passes = passes_;
  Pictures pictures = pictures_;
  pictures.forget_after(length);
  restore(length);
  show(std::move(pictures));
  const int64_t from = this->length();
  replay(tokens, passes, cancel);
  return length - from;
}

// Reads tokens again with the passes that first read them (the last one possibly cut short), so that all results are
// the same as before.
void Timeline::replay(std::span<const int32_t> tokens, std::span<const PassRecord> passes,
                      const std::atomic<bool>* cancel) {
  for (const PassRecord& pass : passes) {
    const int64_t end = std::min(pass.end, static_cast<int64_t>(tokens.size()));
    if (end <= length()) continue;
    const auto part = tokens.subspan(static_cast<size_t>(length()), static_cast<size_t>(end - length()));
    read(part, pass.total, Scored::none, {.path = pass.path, .cancel = cancel});
  }
}

void Timeline::release_memory(bool critical) {
  checkpoint_ = {};
  memory_.release_spare_slots();
  snapshots_.release_memory(length(), critical);
}

}  // namespace longhand
