// Generating: what of the prompt is there already, reading the rest, then token by token.
#include <algorithm>

#include "engine/error.h"
#include "engine/session.h"

namespace longhand {

using Clock = std::chrono::steady_clock;

namespace {

constexpr int64_t chunk_tokens = 512;  // chunks end at multiples of this, and where messages end
constexpr int64_t generated_snapshot_every = 256;
constexpr size_t message_snapshots = 3;  // besides the first, which ends the system prompt
// A decode step shorter than this ends soon enough by itself; breaking it off would cost its state.
constexpr double uninterrupted_ms = 25;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

bool set(const std::atomic<bool>* flag) { return flag && flag->load(); }

}  // namespace

struct Session::Timing {
  Clock::time_point start = Clock::now();
};

// A prompt that reaches the sparse regime is sparse for every query (model-specs 11.6). What was read in the other
// regime counts only as far as both agree.
int64_t Session::read_alike(int64_t length) const {
  const auto& rule = model_->facts().sparse;
  int64_t alike = 0;
  for (const PassRecord& pass : passes_) {
    const bool same = !rule || (pass.total >= rule->dense_below) == (length >= rule->dense_below);
    if (!same && pass.end > rule->coverage) return std::max(alike, rule->coverage);
    alike = pass.end;
  }
  return alike;
}

// The longest prefix whose state exists. At least the last token is read again: its logits are wanted.
int64_t Session::reusable(std::span<const int32_t> prompt, Reuse& reason) const {
  const auto differ = std::ranges::mismatch(prompt, tokens_);
  const int64_t common = differ.in1 - prompt.begin();
  int64_t limit = std::min(common, static_cast<int64_t>(prompt.size()) - 1);
  limit = std::min(limit, read_alike(static_cast<int64_t>(prompt.size())));
  if (limit == 0) {
    reason = Reuse::cold;
    return 0;
  }
  reason = common == held() ? Reuse::whole : Reuse::diverged;
  if (held() <= limit || !memory_.has_states()) return std::min(held(), limit);
  const int64_t kept = nearest_snapshot(limit);
  const int64_t reused = kept < 0 ? 0 : kept_[static_cast<size_t>(kept)].state.length;
  if (reused < limit) reason = Reuse::no_snapshot;
  return reused;
}

// Ends of messages in the prompt: behind tokens that end a turn. The first (the system prompt) and the last few.
std::vector<int64_t> Session::message_ends(std::span<const int32_t> prompt, std::span<const int32_t> stops) const {
  std::vector<int64_t> ends;
  if (!memory_.has_states()) return ends;
  for (size_t i = 0; i + 1 < prompt.size(); ++i) {
    if (std::ranges::find(stops, prompt[i]) != stops.end()) ends.push_back(static_cast<int64_t>(i) + 1);
  }
  if (ends.size() > message_snapshots + 1) ends.erase(ends.begin() + 1, ends.end() - message_snapshots);
  ends.push_back(static_cast<int64_t>(prompt.size()) - 1);
  return ends;
}

Tensor Session::prefill(std::span<const int32_t> prompt, const GenerateOptions& options, int64_t cached) {
  const int64_t total = static_cast<int64_t>(prompt.size());
  const std::vector<int64_t> ends = message_ends(prompt, options.stop_tokens);
  if (options.on_prefill) options.on_prefill(cached, total, cached);
  Tensor logits{};
  while (held() < total) {
    model_->relief().follow();
    int64_t end = std::min((held() / chunk_tokens + 1) * chunk_tokens, total);
    for (const int64_t message : ends) {
      if (message > held()) end = std::min(end, message);
    }
    const auto part = prompt.subspan(static_cast<size_t>(held()), static_cast<size_t>(end - held()));
    logits = advance(part, total, end == total ? Scored::last : Scored::none, {options.path, options.cancel});
    if (std::ranges::find(ends, end) != ends.end()) keep(Kept::prompt);
    if (options.on_prefill) options.on_prefill(end, total, cached);
  }
  return logits;
}

void Session::decode(Tensor logits, const GenerateOptions& options, GenerateResult& result, const Timing& timing) {
  Sampler sampler(options.sampling, tokens_);
  struct RunAhead {
    Session& session;
    ~RunAhead() { session.stop_running_ahead(); }  // however generation ends
  } const guard{*this};
  const bool run_ahead = options.max_tokens > 2 && can_run_ahead();
  const int64_t prompt = held();
  const auto next = [&](int32_t token, const std::atomic<bool>* cancel) {
    if (!run_ahead) return advance({&token, 1}, held() + 1, Scored::last, {options.path, cancel});
    const int64_t after = held() + 1;  // a snapshot is taken of what was accepted: nothing runs ahead of it
    const bool more = static_cast<int64_t>(result.tokens.size()) + 1 < options.max_tokens && after < context_ &&
                      (after - prompt) % generated_snapshot_every != 0;
    return step_ahead(token, more, sampler, options.path);
  };
  double step_ms = 0;
  Clock::time_point first{};
  while (static_cast<int64_t>(result.tokens.size()) < options.max_tokens) {
    if (set(options.cancel)) {
      result.finish = Finish::cancelled;
      break;
    }
    const Sampled sampled = sampler.pick(model_->backend(), logits);
    const int32_t token = sampled.token.id;
    if (result.tokens.empty()) {
      result.first_token_ms = ms_since(timing.start);
      first = Clock::now();
    }
    result.tokens.push_back(token);
    sampler.accept(token);
    if (options.on_token) options.on_token({sampled, ms_since(timing.start)});
    if (std::ranges::find(options.stop_tokens, token) != options.stop_tokens.end()) {
      result.finish = Finish::stop;
      break;
    }
    if (static_cast<int64_t>(result.tokens.size()) == options.max_tokens) break;
    if (held() == context_) {
      result.finish = Finish::context;
      break;
    }
    model_->relief().follow();
    const Clock::time_point step = Clock::now();
    try {
      logits = next(token, step_ms > uninterrupted_ms ? options.cancel : nullptr);
    } catch (const Cancelled&) {
      result.finish = Finish::cancelled;
      break;
    }
    step_ms = ms_since(step);
    if ((held() - prompt) % generated_snapshot_every == 0) keep(Kept::generated);
  }
  if (!result.tokens.empty()) result.decode_ms = ms_since(first);
}

GenerateResult Session::generate(std::span<const int32_t> prompt, const GenerateOptions& options) {
  model_->check_tokens(prompt);
  if (prompt.empty()) throw std::invalid_argument("[session] the prompt is empty, allowed are 1 token and more");
  if (static_cast<int64_t>(prompt.size()) > context_) {
    throw ContextError("[session] the prompt has " + std::to_string(prompt.size()) + " tokens, the context holds " +
                       std::to_string(context_));
  }
  const Timing timing;
  const double device_before = model_->backend().device_seconds();
  GenerateResult result;
  result.prompt_tokens = static_cast<int64_t>(prompt.size());
  result.cached_tokens = reusable(prompt, result.reuse);
  if (result.cached_tokens == 0) {
    reset();
  } else if (result.cached_tokens < held()) {
    recover(result.cached_tokens);
    cut_to(result.cached_tokens);
  }
  try {
    const Tensor logits = prefill(prompt, options, result.cached_tokens);
    result.prefill_ms = ms_since(timing.start);
    decode(logits, options, result, timing);
  } catch (const Cancelled&) {
    result.prefill_ms = ms_since(timing.start);
    result.finish = Finish::cancelled;
  }
  result.device_ms = 1e3 * (model_->backend().device_seconds() - device_before);
  return result;
}

}  // namespace longhand
