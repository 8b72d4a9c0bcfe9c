// Pictures among the tokens of a timeline. The history represents each row of a picture by a negative number derived
// from the picture's content, so prefixes, the prompt cache and its files tell pictures apart as they do texts.
//
// After a picture the position of a token differs from its index: a picture takes as many positions as its longer side
// has rows (M-RoPE, modeling_qwen3_5.py).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/matrix.h"
#include "engine/model.h"
#include "engine/prompt_cache/boundaries.h"

namespace longhand {

// -1 is `guessed_token`.
inline bool is_picture(int32_t token) { return token < guessed_token; }

struct Picture {
  Grid grid;
  std::vector<float> pixels;  // [patches, patch_values]
  Matrix rows{};              // the tower's output; empty until it is first needed
};
using PicturePtr = std::shared_ptr<Picture>;

class Pictures {
 public:
  // Positions of tokens [first, first + count): one per token if the three axes agree, else [3, count].
  std::vector<int32_t> positions(int64_t first, int64_t count) const;
  // How many of the `count` tokens from `first` on are all text, or all of one picture.
  int64_t alike(int64_t first, int64_t count) const;
  // Passes end where pictures begin and end.
  void cut(std::vector<Boundary>& ends) const;
  // Runs the tower on the picture that token `index` is part of, unless that has been done. Call between passes.
  void see(Model& model, int64_t index, const PassOptions& options) const;
  // Rows of the residual stream, in the running pass, of a picture that has been encoded.
  Tensor rows(Backend& backend, int64_t first, int64_t count) const;
  void forget_after(int64_t length);

 private:
  friend struct Placed place(const Model& model, std::span<const int32_t> tokens, std::span<const PicturePtr> pictures);
  struct Place {
    int64_t first, count;
    int64_t rows, columns;  // merged
    PicturePtr picture;
    int64_t end() const { return first + count; }
  };
  const Place* at(int64_t index) const;  // null: text

  std::vector<Place> places_;
};

// A prompt in the form the timeline stores.
struct Placed {
  std::vector<int32_t> tokens;
  Pictures pictures;
};

// Each picture replaces as many placeholder tokens as it has rows, in order. May be called on any thread. Throws
// Unsupported, std::invalid_argument.
Placed place(const Model& model, std::span<const int32_t> tokens, std::span<const PicturePtr> pictures);

// The tower's own output for concatenated pictures, for tests and inspection. Call on the worker.
Matrix see(Model& model, std::span<const float> pixels, std::span<const Grid> grids, Seen what,
           const PassOptions& options);

}  // namespace longhand
