#include "engine/decode/generation.h"

#include <algorithm>

namespace longhand {

namespace {

constexpr int64_t generated_snapshot_every = 256;
constexpr size_t message_snapshots = 4;  // if the prompt cache has no room, besides that of the first message
// A decode step shorter than this is not cancelled: it ends soon enough, and cancelling it would lose its state.
constexpr double uninterrupted_ms = 25;

bool is_set(const std::atomic<bool>* flag) { return flag && flag->load(); }

bool contains(std::span<const int32_t> list, int32_t token) { return std::ranges::find(list, token) != list.end(); }

}  // namespace

Generation::Generation(Timeline& timeline, std::span<const int32_t> prompt_tokens, GenerateOptions options)
    : timeline_(timeline),
      options_(std::move(options)),
      device_seconds_before_(timeline.model().backend().device_seconds()),
      state_(Reading{{}, {}, 0}) {
  timeline_.check_prompt(prompt_tokens);
  Placed placed = place(timeline_.model(), prompt_tokens, options_.pictures);
  Reading& reading = std::get<Reading>(state_);
  std::vector<int32_t>& prompt = reading.prompt;
  std::vector<Boundary>& ends = reading.ends;
  prompt = std::move(placed.tokens);
  ends = options_.read_only ? boundaries_within(prompt, options_.stop_tokens)
                            : boundaries_of(prompt, options_.stop_tokens, timeline_.memory().has_states());
  placed.pictures.cut(ends);
  // The last token is always read, because its logits are needed.
  const int64_t limit = static_cast<int64_t>(prompt.size()) - (options_.read_only ? 0 : 1);
  const Resumed resumed = timeline_.resume(prompt, ends, limit, options_.path, options_.continues);
  timeline_.show(std::move(placed.pictures));
  result_.prompt_tokens = static_cast<int64_t>(prompt.size());
  result_.cached_tokens = resumed.length;
  result_.known = resumed.known;
  result_.reread = resumed.reason;
  begin_guide(prompt_tokens);
  options_.cache_prompt =
      options_.cache_prompt && resumed.at_boundary;  // otherwise it is cut differently from any other prompt
  if (options_.on_prefill) options_.on_prefill(resumed.length, result_.prompt_tokens, resumed.length);
}

// The beginning of the answer that already exists is passed through the grammar first.
void Generation::begin_guide(std::span<const int32_t> prompt) {
  if (!options_.guide.grammar) return;
  const size_t rows = options_.guide.grammar->vocabulary().size();
  if (static_cast<int64_t>(rows) != timeline_.model().facts().vocabulary)
    throw std::invalid_argument("[generate] the grammar is for " + std::to_string(rows) + " tokens, the model has " +
                                std::to_string(timeline_.model().facts().vocabulary));
  guide_ = std::make_unique<Guide>(options_.guide, options_.stop_tokens);
  const auto written = static_cast<size_t>(std::min<int64_t>(options_.continues, static_cast<int64_t>(prompt.size())));
  for (const int32_t token : prompt.last(written))
    if (!guide_->accept(token)) throw std::invalid_argument("[generate] the answer so far does not fit the grammar");
}

double Generation::elapsed_ms() const {
  return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
}

bool Generation::step(int64_t most) {
  if (std::holds_alternative<Ended>(state_)) return false;
  try {
    timeline_.model().memory_pressure().respond();
    if (auto* reading = std::get_if<Reading>(&state_)) read_chunk(*reading, most);
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

// How many of the `left` tokens of a pass to read at once. The remainder is never shorter than `grain`: back ends use
// other loops for fewer tokens (native/cpu/simd, least_tokens), which would give other results than one whole pass.
static int64_t part_of(int64_t left, int64_t most, int64_t grain) {
  if (left <= most || left - most >= grain) return std::min(left, most);
  return most > grain ? most - grain : left;
}

void Generation::read_chunk(Reading& reading, int64_t most) {
  const int64_t begin = timeline_.length(), total = result_.prompt_tokens;
  const auto next = std::ranges::find_if(reading.ends, [&](const Boundary& each) { return each.end > begin; });
  if (next == reading.ends.end()) return end(Finish::length);  // the whole prompt has been read
  const Clock::time_point start = Clock::now();
  const int64_t count = part_of(next->end - begin, most, grain());
  const bool whole = count == next->end - begin, last = whole && next->kind == Boundary::Kind::end;
  const auto chunk = std::span(reading.prompt).subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
  const Tensor logits = timeline_.read(chunk, total, last ? Scored::last : Scored::none,
                                       {options_.path, options_.cancel}, next->end - begin - count);
  reading.seconds += std::chrono::duration<double>(Clock::now() - start).count();
  if (whole && !last) remember(reading, static_cast<size_t>(next - reading.ends.begin()), reading.seconds);
  if (whole) reading.seconds = 0;
  if (options_.on_prefill) options_.on_prefill(timeline_.length(), total, result_.cached_tokens);
  if (!last) return;
  result_.prefill_ms = elapsed_ms();
  // The last token of an answer needs no pass of its own, so running ahead needs at least three tokens. The device
  // knows no grammar.
  auto async = options_.max_tokens > 2 && !guide_ ? AsyncDecode::create(timeline_) : nullptr;
  state_ = Writing{Sampler(options_.sampling, timeline_.tokens(), static_cast<size_t>(options_.continues)),
                   std::move(async)};
  if (options_.max_tokens == 0) this->end(is_set(options_.cancel) ? Finish::cancelled : Finish::length);
  else choose(std::get<Writing>(state_), logits);
}

// Keeps the state in the prompt cache, or, if that has no room, as a snapshot of the timeline: of the first message and
// the last few.
void Generation::remember(const Reading& reading, size_t boundary, double seconds) {
  const std::span<const Boundary> ends(reading.ends);
  const Boundary::Kind kind = ends[boundary].kind;
  const auto later = std::ranges::count_if(ends.subspan(boundary + 1), [](const Boundary& each) {
    return each.kind == Boundary::Kind::message || each.kind == Boundary::Kind::last;
  });
  const bool first = kind == Boundary::Kind::first_message;
  const bool among_last = kind != Boundary::Kind::chunk && later < static_cast<ptrdiff_t>(message_snapshots);
  // Chats continue after the last message; a regenerated answer starts from the last token.
  const bool branches = first || (kind != Boundary::Kind::chunk && later <= 1);
  if (options_.cache_prompt && timeline_.cache_prefix(reading.prompt, ends.first(boundary + 1), options_.path, seconds,
                                                      branches, options_.owner))
    return;
  if (first) timeline_.take_snapshot(SnapshotKind::system_prompt);
  else if (among_last) timeline_.take_snapshot(SnapshotKind::message_end);
}

void Generation::write_token(Writing& writing) {
  const Clock::time_point start = Clock::now();
  const Tensor logits = next_scores(writing, std::span(result_.tokens).last(static_cast<size_t>(writing.unread)));
  written(writing, logits, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
}

void Generation::pause() {
  const auto* writing = std::get_if<Writing>(&state_);
  if (writing && writing->async) writing->async->take_back();
}

bool Generation::writes_alike(const Generation& other) const {
  const auto plain = [](const Generation& one) {
    const auto* writing = std::get_if<Writing>(&one.state_);
    return writing && writing->unread == 1;
  };
  return plain(*this) && plain(other) && options_.path == other.options_.path;
}

void Generation::write_together(std::span<Generation* const> generations) {
  const Clock::time_point start = Clock::now();
  std::vector<Timeline*> timelines;
  std::vector<int32_t> tokens;
  for (Generation* each : generations) {
    each->pause();
    timelines.push_back(&each->timeline_);
    tokens.push_back(each->result_.tokens.back());
  }
  timelines.front()->model().memory_pressure().respond();
  const Tensor logits = Timeline::read_together(timelines, tokens, generations.front()->options_.path);
  const double step_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  for (size_t i = 0; i < generations.size(); ++i) {
    Generation& one = *generations[i];
    one.written(std::get<Writing>(one.state_), logits.row_range(static_cast<int64_t>(i), 1), step_ms);
  }
}

// Called after a token has been read.
void Generation::written(Writing& writing, Tensor logits, double step_ms) {
  writing.step_ms = step_ms;
  const int64_t after = timeline_.length() - result_.prompt_tokens;
  if (after / generated_snapshot_every != (after - writing.unread) / generated_snapshot_every)
    timeline_.take_snapshot(SnapshotKind::generated);
  choose(writing, logits);
}

Tensor Generation::next_scores(Writing& writing, std::span<const int32_t> tokens) {
  const int64_t after = timeline_.length() + static_cast<int64_t>(tokens.size());
  if (!writing.async) {
    const std::atomic<bool>* cancel = writing.step_ms > uninterrupted_ms ? options_.cancel : nullptr;
    return timeline_.read(tokens, after, Scored::last, {options_.path, cancel});
  }
  // No step is sent ahead when the answer ends or a snapshot of the accepted tokens is taken next, when the context is
  // full, or when somebody else computes next.
  const bool more = !timeline_.model().worker().others_wait() &&
                    static_cast<int64_t>(result_.tokens.size()) + 1 < options_.max_tokens &&
                    (after - result_.prompt_tokens) % generated_snapshot_every != 0;
  return writing.async->step(tokens.back(), more, writing.sampler, options_.path);
}

void Generation::choose(Writing& writing, Tensor logits) {
  if (is_set(options_.cancel)) return end(Finish::cancelled);
  const Sampled sampled = pick(writing, logits);
  if (result_.tokens.empty()) {
    result_.first_token_ms = elapsed_ms();
    writing.first_token = Clock::now();
  }
  writing.unread = 0;
  if (!add(writing, sampled) || !guide_) return;
  for (const int32_t token : guide_->forced())
    if (!add(writing, {{token, 0}, {}})) return;
}

Sampled Generation::pick(Writing& writing, Tensor logits) {
  Backend& backend = timeline_.model().backend();
  if (!guide_) return writing.sampler.pick(backend, logits);
  grammar::Mask& mask = guide_->mask();
  for (;;) {
    const Sampled sampled = writing.sampler.pick(backend, logits, mask);
    const int32_t token = sampled.token.id;
    if (contains(options_.stop_tokens, token) || guide_->admits(token)) return sampled;
    mask[static_cast<size_t>(token) / 32] &= ~(1u << (token % 32));
  }
}

// Returns false if this token ends the answer.
bool Generation::add(Writing& writing, const Sampled& sampled) {
  const int32_t token = sampled.token.id;
  result_.tokens.push_back(token);
  ++writing.unread;
  writing.sampler.accept(token);
  if (options_.on_token) options_.on_token({sampled, elapsed_ms()});
  const bool stops = contains(options_.stop_tokens, token);
  if (guide_ && !stops) guide_->accept(token);
  if (stops || (guide_ && guide_->complete())) end(Finish::stop);
  else if (static_cast<int64_t>(result_.tokens.size()) == options_.max_tokens) end(Finish::length);
  else if (timeline_.length() + writing.unread > timeline_.context()) end(Finish::context);
  return !ended();
}

}  // namespace longhand
