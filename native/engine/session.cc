// The timeline itself: passes, snapshots, going back. Generating is in generate.cc, looking inside in inspect.cc.
#include "engine/session.h"

#include <algorithm>
#include <stdexcept>

#include "engine/error.h"

namespace longhand {

namespace {

// Snapshots of one session may take this much; of each kind at least two are kept, older ones go first.
constexpr uint64_t snapshot_budget = 512'000'000;
constexpr uint64_t most_asked = 64;
constexpr uint64_t most_by_itself = 8;
// Copying the states before a pass pays for itself when losing the pass would cost more than a few tokens.
constexpr size_t checkpoint_from = 8;

int64_t choose_context(const Model& model, int64_t wanted) {
  if (wanted < 0)
    throw std::invalid_argument("[session] contextLength is " + std::to_string(wanted) + ", allowed are 1 and more");
  return wanted == 0 ? model.facts().context : wanted;
}

}  // namespace

Session::Session(std::shared_ptr<Model> model, SessionOptions options)
    : model_(std::move(model)),
      context_(choose_context(*model_, options.context)),
      memory_(model_->backend(), model_->facts().layers, options.cache, context_) {
  if (model_->family().encoder()) throw std::invalid_argument("[session] an encoder has no sessions: use embed");
  model_->relief().add(this);
}
Session::~Session() { model_->relief().remove(this); }

std::vector<int32_t> Session::tokens() const {
  const std::lock_guard lock(published_);
  return tokens_;
}

std::vector<int64_t> Session::snapshots() const {
  const std::lock_guard lock(published_);
  std::vector<int64_t> out;
  if (!memory_.has_states()) {
    for (int64_t length = 0; length <= held(); ++length) out.push_back(length);
    return out;
  }
  out.push_back(0);
  for (const KeptSnapshot& kept : kept_) out.push_back(kept.state.length);
  out.push_back(held());
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// ---- passes -------------------------------------------------------------------------------------------------------

Tensor Session::advance(std::span<const int32_t> tokens, int64_t total, Scored rows, const PassOptions& options) {
  const int64_t before = held();
  const int64_t after = before + static_cast<int64_t>(tokens.size());
  memory_.reserve(std::max(after, total));  // of a prompt all at once
  if (memory_.has_states() && tokens.size() >= checkpoint_from && nearest_snapshot(before) < 0)
    memory_.save(checkpoint_, before);
  Backend& backend = model_->backend();
  Tensor out{};
  try {
    backend.begin(options);
    out = forward(*model_, memory_, before, tokens, total, rows);
    backend.finish();
  } catch (...) {
    recover(before);
    throw;
  }
  checkpoint_.length = -1;
  passes_.push_back({after, total, options.path});
  const std::lock_guard lock(published_);
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  return out;
}

void Session::recover(int64_t length) {
  const int64_t kept = nearest_snapshot(length);
  const int64_t kept_length = kept < 0 ? 0 : kept_[static_cast<size_t>(kept)].state.length;
  if (!memory_.has_states()) {
    memory_.cut(length);
  } else if (!checkpoint_.states.empty() && checkpoint_.length == length) {
    memory_.restore(checkpoint_);
  } else if (kept_length > 0) {
    memory_.restore(kept_[static_cast<size_t>(kept)].state);
    cut_to(kept_length);
  } else {
    memory_.clear();
    cut_to(0);
  }
}

// ---- snapshots ----------------------------------------------------------------------------------------------------

int64_t Session::nearest_snapshot(int64_t length) const {
  int64_t best = -1;
  for (size_t i = 0; i < kept_.size(); ++i) {
    const int64_t here = kept_[i].state.length;
    if (here <= length && (best < 0 || here > kept_[static_cast<size_t>(best)].state.length))
      best = static_cast<int64_t>(i);
  }
  return best;
}

void Session::keep(Kept why) {
  if (!memory_.has_states() || held() == 0) return;
  const int64_t nearest = nearest_snapshot(held());
  if (nearest >= 0 && kept_[static_cast<size_t>(nearest)].state.length == held()) {
    if (why == Kept::asked) kept_[static_cast<size_t>(nearest)].why = why;
    return;
  }
  const uint64_t affordable = std::max<uint64_t>(snapshot_budget / 3 / memory_.snapshot_bytes(), 2);
  const uint64_t most = std::min(why == Kept::asked ? most_asked : most_by_itself, affordable);
  KeptSnapshot fresh{{}, why};
  const auto same_kind = [&](const KeptSnapshot& kept) { return kept.why == why; };
  if (static_cast<uint64_t>(std::ranges::count_if(kept_, same_kind)) >= most) {
    const auto oldest = std::ranges::find_if(kept_, same_kind);
    fresh.state.states = std::move(oldest->state.states);
    const std::lock_guard lock(published_);
    kept_.erase(oldest);
  }
  memory_.save(fresh.state, held());
  const std::lock_guard lock(published_);
  kept_.push_back(std::move(fresh));
}

// A warning costs snapshots that are far from the end; when it is serious, going back means reading everything again.
void Session::relieve(bool critical) {
  if (checkpoint_.length < 0) checkpoint_.states.clear();
  if (!slots_open_) memory_.drop_spare();
  const int64_t last = nearest_snapshot(held());
  const int64_t length = last < 0 ? 0 : kept_[static_cast<size_t>(last)].state.length;
  const std::lock_guard lock(published_);
  std::erase_if(kept_, [&](const KeptSnapshot& kept) { return critical || kept.state.length != length; });
}

int64_t Session::snapshot() {
  keep(Kept::asked);
  return held();
}

// Forgets what was recorded beyond `length`; the memory itself has been restored by the caller.
void Session::cut_to(int64_t length) {
  const std::lock_guard lock(published_);
  tokens_.resize(static_cast<size_t>(length));
  std::erase_if(kept_, [&](const KeptSnapshot& kept) { return kept.state.length > length; });
  const auto last = std::ranges::find_if(passes_, [&](const PassRecord& pass) { return pass.end >= length; });
  if (last == passes_.end()) return;
  last->end = length;
  passes_.erase(length == 0 ? passes_.begin() : last + 1, passes_.end());
}

void Session::reset() {
  memory_.clear();
  cut_to(0);
}

void Session::start_over(std::span<const int32_t> tokens) {
  model_->check_tokens(tokens);
  if (tokens.empty()) throw std::invalid_argument("[session] there are no tokens, allowed are 1 and more");
  if (static_cast<int64_t>(tokens.size()) > context_) {
    throw ContextError("[session] the prompt has " + std::to_string(tokens.size()) + " tokens, the context holds " +
                       std::to_string(context_));
  }
  reset();
}

int64_t Session::rewind(int64_t length) {
  if (length < 0 || length > held()) {
    throw std::invalid_argument("[session] rewind to " + std::to_string(length) + ", allowed are 0 to " +
                                std::to_string(held()));
  }
  if (length == held()) return 0;
  if (!memory_.has_states()) {
    memory_.cut(length);
    cut_to(length);
    return 0;
  }
  const std::vector<int32_t> again(tokens_.begin(), tokens_.begin() + static_cast<ptrdiff_t>(length));
  const std::vector<PassRecord> passes = passes_;
  recover(length);
  const int64_t from = held();
  replay(again, passes);
  return length - from;
}

// Reads tokens again in the passes they were first read in (the last one possibly cut short), so that every number
// comes out as it was.
void Session::replay(const std::vector<int32_t>& tokens, const std::vector<PassRecord>& passes) {
  const int64_t length = static_cast<int64_t>(tokens.size());
  for (const PassRecord& pass : passes) {
    if (pass.end <= held()) continue;
    if (held() == length) return;
    const int64_t end = std::min(pass.end, length);
    const std::span<const int32_t> part =
        std::span(tokens).subspan(static_cast<size_t>(held()), static_cast<size_t>(end - held()));
    advance(part, pass.total, Scored::none, {.path = pass.path});
  }
}

}  // namespace longhand
