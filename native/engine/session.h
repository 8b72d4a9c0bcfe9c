// One mutable timeline of tokens on a model. Everything but the marked calls runs on the model's worker.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/forward.h"
#include "engine/sampler.h"

namespace longhand {

struct SessionOptions {
  int64_t context = 0;  // 0: what the model was made for
  CacheType cache = CacheType::f16;
};

struct TokenEvent {
  Sampled sampled;
  double at_ms = 0;
};

struct GenerateOptions {
  SamplingOptions sampling;
  int64_t max_tokens = 0;
  std::vector<int32_t> stop_tokens;
  Path path = Path::fast;
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(int64_t done, int64_t total, int64_t cached)> on_prefill;
  std::function<void(const TokenEvent&)> on_token;
};

enum class Finish : uint8_t { stop, length, cancelled, context };
enum class Reuse : uint8_t { whole, diverged, no_snapshot, cold };

struct GenerateResult {
  std::vector<int32_t> tokens;
  Finish finish = Finish::length;
  int64_t prompt_tokens = 0, cached_tokens = 0;
  double prefill_ms = 0, decode_ms = 0, first_token_ms = 0;
  double device_ms = 0;  // time the GPU worked; 0 where the CPU computes
  Reuse reuse = Reuse::cold;
};

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<float> data;
};
struct NamedMatrix {
  std::string name;
  Matrix matrix;
};
struct NamedState {
  int64_t layer = 0;
  bool recurrent = false;
  std::vector<int64_t> shape;
  std::vector<float> data;
};

struct LogitsOptions {
  bool all = false;
  int64_t chunk = 0;  // 0: as generate
  Path path = Path::exact;
  const std::atomic<bool>* cancel = nullptr;
  int64_t generated = 0;  // so many of the last tokens are read one by one, as if they had been generated
};

class Session {
 public:
  Session(std::shared_ptr<Model> model, SessionOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Any thread.
  Model& model() { return *model_; }
  int64_t context() const { return context_; }
  uint64_t memory_bytes() const { return memory_.bytes(context_); }
  std::vector<int32_t> tokens() const;
  std::vector<int64_t> snapshots() const;

  // The worker.
  GenerateResult generate(std::span<const int32_t> prompt, const GenerateOptions& options);
  Matrix logits(std::span<const int32_t> tokens, const LogitsOptions& options);
  std::vector<NamedMatrix> trace(std::span<const int32_t> tokens, Path path);
  std::vector<NamedState> states();
  int64_t snapshot();
  int64_t rewind(int64_t length);  // returns how many tokens were read again
  void reset();
  // Gives back memory: what is lost is read again when it is wanted.
  void relieve(bool critical);

 private:
  enum class Kept : uint8_t { asked, prompt, generated };
  struct KeptSnapshot {
    Snapshot state;
    Kept why;
  };
  // How a stretch of the timeline was read, so that it can be read again in the same way, bit for bit.
  struct PassRecord {
    int64_t end;
    int64_t total;
    Path path;
  };
  struct Timing;

  int64_t held() const { return static_cast<int64_t>(tokens_.size()); }
  // One pass over tokens that follow what is held. Returns logits (or an empty tensor) readable until the next pass.
  // When it throws, the timeline is as before, or cut to where it could be restored.
  Tensor advance(std::span<const int32_t> tokens, int64_t total, Scored rows, const PassOptions& options);
  void recover(int64_t length);

  void start_over(std::span<const int32_t> tokens);
  int64_t read_alike(int64_t length) const;
  int64_t reusable(std::span<const int32_t> prompt, Reuse& reason) const;
  Tensor prefill(std::span<const int32_t> prompt, const GenerateOptions& options, int64_t cached);
  void decode(Tensor logits, const GenerateOptions& options, GenerateResult& result, const Timing& timing);
  // Scores after `token`, which follows what is held (run_ahead.cc). With `more`, the step after it is under way
  // already when this returns; `stop_running_ahead` takes that one back.
  Tensor step_ahead(int32_t token, bool more, const Sampler& sampler, Path path);
  bool can_run_ahead();
  void stop_running_ahead();
  std::vector<int64_t> message_ends(std::span<const int32_t> prompt, std::span<const int32_t> stops) const;

  void keep(Kept why);
  void cut_to(int64_t length);
  int64_t nearest_snapshot(int64_t length) const;  // index, -1 for none
  void replay(const std::vector<int32_t>& tokens, const std::vector<PassRecord>& passes);

  std::shared_ptr<Model> model_;
  int64_t context_;
  SessionMemory memory_;
  mutable std::mutex published_;  // guards tokens_ and kept_ against readers on other threads
  std::vector<int32_t> tokens_;   // what the memory holds
  std::vector<PassRecord> passes_;
  std::vector<KeptSnapshot> kept_;
  Snapshot checkpoint_{.length = -1};  // the state before the running pass

  // A decode step that the device works on.
  struct Step {
    Tensor logits;
    SessionMemory::Slots before;
  };
  Step hand_over(int32_t token, bool after_guess, const Sampler& sampler, Path path);
  void take_back();
  std::optional<Step> ahead_;  // the one behind the last accepted token: it was fed `guess_`
  int32_t guess_ = 0;
  int64_t guesses_ = 0, wrong_guesses_ = 0;  // of this generation
  bool slots_open_ = false;
};

}  // namespace longhand
