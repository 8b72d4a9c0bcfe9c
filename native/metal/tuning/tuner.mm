#include "metal/tuning/tuner.h"

#import <Foundation/Foundation.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>

#include "metal/tuning/tensor_check.h"
#include "metal/tuning/workloads.h"

namespace longhand::metal {

namespace {

constexpr int runs = 5;             // of which the quickest counts; one more before them compiles and warms up
constexpr double most_seconds = 2;  // of the GPU, for everything
constexpr double worth_changing = 0.97;
constexpr int disturbances = 100;  // of one timing, before this start gives up

struct Meter {
  const Timed& timed;
  double spent = 0;
  bool failed = false;  // nothing more can be timed, or the clock stands still

  bool left() const { return !failed && spent < most_seconds; }
  double quickest(const Tuning& tuning, size_t question) {
    double best = std::numeric_limits<double>::infinity();
    for (int run = 0; run <= runs && left(); ++run) {
      const std::optional<double> took = timed(tuning, question);
      failed = !took || !(*took > 0);
      if (failed) break;
      spent += *took;
      if (run > 0) best = std::min(best, *took);
    }
    return best;
  }
};

// Of each value that is tried.
std::vector<double> costs(Meter& meter, Tuning tuning, size_t question) {
  const Choice& choice = choices()[question];
  std::vector<double> all;
  for (const int64_t value : choice.tried) {
    tuning.*choice.value = value;
    all.push_back(meter.quickest(tuning, question));
  }
  return all;
}

void choose(const Choice& choice, const std::vector<double>& took, Tuning& tuning) {
  const auto best = std::ranges::min_element(took);
  const auto now = std::ranges::find(choice.tried, tuning.*choice.value) - choice.tried.begin();
  if (*best < worth_changing * took[static_cast<size_t>(now)]) tuning.*choice.value = choice.tried[best - took.begin()];
}

std::string figures(const Choice& choice, const std::vector<double>& took) {
  std::string text;
  for (size_t i = 0; i < took.size(); ++i) {
    char figure[64];
    std::snprintf(figure, sizeof figure, "%lld: %.3f us", static_cast<long long>(choice.tried[i]), 1e6 * took[i]);
    text += (text.empty() ? " (" : ", ") + std::string(figure);
  }
  return text + ")";
}

// Times an action while the back end is idle.
class Clock {
 public:
  explicit Clock(Activity& activity) : activity_(activity) {}

  template <class Work>
  std::optional<double> time(const Work& work) {
    for (int i = 0; i < disturbances; ++i) {
      const std::optional<uint64_t> begun = activity_.quiet();
      if (!begun) return {};
      const double took = work();
      if (activity_.still(*begun)) return took;
    }
    return {};
  }

 private:
  Activity& activity_;
};

// Only one tuner per process: two would disturb each other's timings.
class Turn {
 public:
  Turn() : mine_(!taken().exchange(true)) {}
  ~Turn() {
    if (mine_) taken() = false;
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  static std::atomic<bool>& taken() {
    static std::atomic<bool> flag{false};
    return flag;
  }
  bool mine_;
};

void tune_here(Activity& activity) {
  std::string reason;
  const std::unique_ptr<Device> device = Device::open(reason);
  if (!device || read_tuning(*device)) return;
  const Tuning chip = tuning_of_chip(device->info().name);
  Workloads work(chip);
  Clock clock(activity);
  const auto timed = [&](const Tuning& tuning, size_t question) {
    return clock.time([&] { return work.run(tuning, question); });
  };
  const bool tensors = tensor_refusal(*device).empty();
  const auto possible = [&](const Choice& choice) { return tensors || choice.value != &Tuning::matmul_tensor; };
  if (const std::optional<Measured> found = measure(chip, timed, possible)) write_tuning(*device, *found);
}

}  // namespace

// Question by question, each with the answers to those before it. What the chip's table says stays where nothing is
// clearly faster, and where the GPU's time is used up.
std::optional<Measured> measure(const Tuning& chip, const Timed& timed,
                                const std::function<bool(const Choice& choice)>& possible) {
  Measured found{.tuning = chip, .reasons = {}};
  Meter meter{timed};
  for (size_t question = 0; question < choices().size(); ++question) {
    if (!possible(choices()[question])) {
      found.reasons.push_back(" (not here)");
      continue;
    }
    const std::vector<double> took = costs(meter, found.tuning, question);
    if (meter.failed) return {};
    if (meter.left()) choose(choices()[question], took, found.tuning);
    found.reasons.push_back(meter.left() ? figures(choices()[question], took) : " (not measured)");
  }
  return found;
}

bool measures() {
  const auto is_set = [](const char* name) {
    const char* words = std::getenv(name);
    return words && *words;
  };
  return tuner_wanted() && !is_set("LONGHAND_METAL_TUNING") && !is_set("LONGHAND_METAL_CAPTURE");
}

void tune(Activity& activity) {
  const Turn turn;
  if (!turn) return;
  @autoreleasepool {
    try {
      tune_here(activity);
    } catch (const std::exception&) {
      return;  // no room, or the GPU failed: the table of the chip stays, and the next start tries again
    }
  }
}

}  // namespace longhand::metal
