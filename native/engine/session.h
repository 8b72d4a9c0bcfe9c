// One conversation with a model: a timeline, generation on it, and inspection. Calls run on the model's worker unless
// marked otherwise.
#pragma once

#include "engine/decode/decode_batch.h"
#include "engine/matrix.h"
#include "engine/score.h"

namespace longhand {

struct SessionOptions {
  int64_t context = 0;  // tokens; 0: as many as the model was trained for
  CacheType cache = CacheType::f16;
};

struct LogitsOptions {
  bool all = false;
  int64_t chunk = 0;  // 0: as in generation
  Path path = Path::exact;
  const std::atomic<bool>* cancel = nullptr;
  int64_t generated = 0;  // how many of the last tokens are read one by one, as if they had been generated
  std::vector<PicturePtr> pictures{};
};

struct NamedState {
  int64_t layer = 0;
  bool recurrent = false;
  std::vector<int64_t> shape;
  std::vector<float> data;
};

class Session {
 public:
  Session(std::shared_ptr<Model> model, SessionOptions options)
      : timeline_(std::move(model), options.cache, options.context) {}

  // Any thread.
  int64_t context() const { return timeline_.context(); }
  uint64_t memory_bytes() const { return timeline_.memory_bytes(); }
  std::vector<int32_t> tokens() const { return timeline_.tokens(); }
  std::vector<int64_t> snapshots() const { return timeline_.return_lengths(); }

  // The worker.
  std::unique_ptr<Generation> begin(std::span<const int32_t> prompt, GenerateOptions options) {
    return std::make_unique<Generation>(timeline_, prompt, std::move(options));
  }
  // Takes the step together with the model's other sessions that are writing.
  DecodeBatch& decode_batch() const { return timeline_.model().decode_batch(); }
  int64_t snapshot();
  // Returns how many tokens were read again.
  int64_t rewind(int64_t length, const std::atomic<bool>* cancel = nullptr);
  void reset() { timeline_.clear(); }

  // inspect.cc. These start from an empty timeline and leave it holding `tokens`.
  Matrix logits(std::span<const int32_t> tokens, const LogitsOptions& options);
  std::vector<NamedMatrix> trace(std::span<const int32_t> tokens, Path path, const std::atomic<bool>* cancel = nullptr);
  std::vector<NamedState> states();
  // score.cc. As above.
  Scores score(std::span<const int32_t> tokens, const ScoreOptions& options) {
    return longhand::score(timeline_, tokens, options);
  }

 private:
  Timeline timeline_;
};

}  // namespace longhand
