#include "engine/generation.h"

#include <algorithm>

namespace longhand {

namespace {

constexpr int64_t generated_snapshot_every = 256;
constexpr size_t message_snapshots = 3;  // besides the end of the first message
// A decode step shorter than this ends soon enough by itself; breaking it off would cost its state.
constexpr double uninterrupted_ms = 25;

bool is_set(const std::atomic<bool>* flag) { return flag && flag->load(); }

bool contains(std::span<const int32_t> list, int32_t token) { return std::ranges::find(list, token) != list.end(); }

// Ends of messages in a prompt, behind tokens that end a turn: the first (the system prompt) and the last few.
std::vector<int64_t> ends_of_messages(std::span<const int32_t> prompt, std::span<const int32_t> stops) {
  std::vector<int64_t> ends;
  for (size_t i = 0; i + 1 < prompt.size(); ++i) {
    if (contains(stops, prompt[i])) ends.push_back(static_cast<int64_t>(i) + 1);
  }
  if (ends.size() > message_snapshots + 1) ends.erase(ends.begin() + 1, ends.end() - message_snapshots);
  ends.push_back(static_cast<int64_t>(prompt.size()) - 1);
  return ends;
}

}  // namespace

Generation::Generation(Timeline& timeline, std::span<const int32_t> prompt, GenerateOptions options)
    : timeline_(timeline),
      options_(std::move(options)),
      device_seconds_before_(timeline.model().backend().device_seconds()),
      state_(Reading{{prompt.begin(), prompt.end()}, {}}) {
  timeline_.check_prompt(prompt);
  if (timeline_.memory().has_states())
    std::get<Reading>(state_).message_ends = ends_of_messages(prompt, options_.stop_tokens);
  const auto [reused, reason] = timeline_.reusable(prompt, options_.path);
  if (reused == 0) timeline_.clear();
  else if (reused < timeline_.length()) timeline_.restore(reused);
  result_.prompt_tokens = static_cast<int64_t>(prompt.size());
  result_.cached_tokens = reused;
  result_.reuse = reason;
  if (options_.on_prefill) options_.on_prefill(reused, result_.prompt_tokens, reused);
}

double Generation::elapsed_ms() const {
  return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
}

bool Generation::step() {
  if (std::holds_alternative<Ended>(state_)) return false;
  try {
    timeline_.model().memory_pressure().respond();
    if (auto* reading = std::get_if<Reading>(&state_)) read_chunk(*reading);
    else write_token(std::get<Writing>(state_));
  } catch (const Cancelled&) {
    end(Finish::cancelled);
  }
  return !std::holds_alternative<Ended>(state_);
}

void Generation::end(Finish finish) {
  result_.finish = finish;
  if (std::holds_alternative<Reading>(state_)) result_.prefill_ms = elapsed_ms();
  const auto* writing = std::get_if<Writing>(&state_);
  if (writing && !result_.tokens.empty())
    result_.decode_ms = std::chrono::duration<double, std::milli>(Clock::now() - writing->first_token).count();
  state_ = Ended{};
  result_.device_ms = 1e3 * (timeline_.model().backend().device_seconds() - device_seconds_before_);
}

void Generation::read_chunk(Reading& reading) {
  const int64_t begin = timeline_.length(), total = result_.prompt_tokens;
  int64_t end = std::min((begin / prefill_chunk + 1) * prefill_chunk, total);
  for (const int64_t message_end : reading.message_ends) {
    if (message_end > begin) end = std::min(end, message_end);
  }
  const auto chunk = std::span(reading.prompt).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  const Tensor logits =
      timeline_.read(chunk, total, end == total ? Scored::last : Scored::none, {options_.path, options_.cancel});
  const auto message = std::ranges::find(reading.message_ends, end);
  const bool first = message == reading.message_ends.begin() && reading.message_ends.size() > 1;
  if (message != reading.message_ends.end())
    timeline_.take_snapshot(first ? SnapshotKind::system_prompt : SnapshotKind::message_end);
  if (options_.on_prefill) options_.on_prefill(end, total, result_.cached_tokens);
  if (end < total) return;
  result_.prefill_ms = elapsed_ms();
  // The last token of an answer is chosen without a pass of its own: one step in flight needs three.
  auto async = options_.max_tokens > 2 ? AsyncDecode::create(timeline_) : nullptr;
  state_ = Writing{Sampler(options_.sampling, timeline_.history()), std::move(async)};
  if (options_.max_tokens == 0) this->end(is_set(options_.cancel) ? Finish::cancelled : Finish::length);
  else choose(std::get<Writing>(state_), logits);
}

void Generation::write_token(Writing& writing) {
  const Clock::time_point start = Clock::now();
  const Tensor logits = next_scores(writing, result_.tokens.back());
  writing.step_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if ((timeline_.length() - result_.prompt_tokens) % generated_snapshot_every == 0)
    timeline_.take_snapshot(SnapshotKind::generated);
  choose(writing, logits);
}

Tensor Generation::next_scores(Writing& writing, int32_t token) {
  const int64_t after = timeline_.length() + 1;
  if (!writing.async) {
    const std::atomic<bool>* cancel = writing.step_ms > uninterrupted_ms ? options_.cancel : nullptr;
    return timeline_.read({&token, 1}, after, Scored::last, {options_.path, cancel});
  }
  // No step is in flight where the answer ends, or where a snapshot is taken of what was accepted.
  const bool more = static_cast<int64_t>(result_.tokens.size()) + 1 < options_.max_tokens &&
                    after < timeline_.context() && (after - result_.prompt_tokens) % generated_snapshot_every != 0;
  return writing.async->step(token, more, writing.sampler, options_.path);
}

void Generation::choose(Writing& writing, Tensor logits) {
  if (is_set(options_.cancel)) return end(Finish::cancelled);
  const Sampled sampled = writing.sampler.pick(timeline_.model().backend(), logits);
  const int32_t token = sampled.token.id;
  if (result_.tokens.empty()) {
    result_.first_token_ms = elapsed_ms();
    writing.first_token = Clock::now();
  }
  result_.tokens.push_back(token);
  writing.sampler.accept(token);
  if (options_.on_token) options_.on_token({sampled, elapsed_ms()});
  if (contains(options_.stop_tokens, token)) return end(Finish::stop);
  if (static_cast<int64_t>(result_.tokens.size()) == options_.max_tokens) return end(Finish::length);
  if (timeline_.length() == timeline_.context()) return end(Finish::context);
}

}  // namespace longhand
