#include "engine/decode/decode_batch.h"

#include <algorithm>
#include <chrono>

namespace longhand {

namespace {

// The longest pause of an answer while part of another answer's prompt is read, and the size of that part before the
// speed is known.
constexpr double longest_stall = 0.08;
constexpr int64_t first_part = 64;

}  // namespace

bool DecodeBatch::step(Generation& generation) {
  if (generation.reads()) return read(generation);
  Member& member = join(generation);
  if (!member.ahead) write(member);
  member.ahead = false;
  if (member.failure) std::rethrow_exception(member.failure);
  return !generation.ended();
}

bool DecodeBatch::read(Generation& generation) {
  if (members_.empty()) return generation.step();
  using Clock = std::chrono::steady_clock;
  const double fits = seconds_a_token_ > 0 ? longest_stall / seconds_a_token_ : first_part;
  const int64_t grain = generation.grain(), most = std::max(static_cast<int64_t>(fits) / grain * grain, grain);
  const int64_t before = generation.length();
  const Clock::time_point start = Clock::now();
  const bool more = generation.step(most);
  const int64_t count = generation.length() - before;
  if (count >= grain)
    seconds_a_token_ = std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(count);
  return more;
}

// All members that have not taken a step in this round; a single one takes it as it would without a batch.
void DecodeBatch::write(Member& first) {
  std::vector<Member*> together;
  for (Member& each : members_) {
    if (!each.ahead && !each.failure && each.generation->writes_alike(*first.generation)) together.push_back(&each);
  }
  if (together.size() < 2) {
    first.generation->step();
    return;
  }
  std::vector<Generation*> generations;
  for (const Member* each : together) generations.push_back(each->generation);
  std::exception_ptr failure;
  try {
    Generation::write_together(generations);
  } catch (...) {
    failure = std::current_exception();
  }
  for (Member* each : together) {
    each->ahead = true;
    each->failure = failure;
  }
}

DecodeBatch::Member& DecodeBatch::join(Generation& generation) {
  const auto known = std::ranges::find(members_, &generation, &Member::generation);
  return known != members_.end() ? *known : members_.emplace_back(Member{&generation});
}

void DecodeBatch::leave(const Generation& generation) {
  std::erase_if(members_, [&](const Member& each) { return each.generation == &generation; });
}

}  // namespace longhand
