#include "engine/decode_batch.h"

#include <algorithm>

namespace longhand {

bool DecodeBatch::step(Generation& generation) {
  if (generation.reads()) return generation.step();
  Member& member = join(generation);
  if (!member.ahead) write(member);
  member.ahead = false;
  if (member.failure) std::rethrow_exception(member.failure);
  return !generation.ended();
}

// Everybody who has not had a step in this round; one alone takes it as it always would.
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
