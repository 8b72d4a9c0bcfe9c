// Pictures among the tokens of a timeline. In its history each row of a picture is a number below every token, made
// from what the picture shows: prefixes, the prompt cache and its files tell pictures apart as they tell texts apart.
//
// Behind a picture the position of a token is not its index: a picture takes as many positions as its longer side has
// rows (M-RoPE, model-specs 8.5).
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
  Matrix rows{};              // what the tower made of them; empty until something wants it
};
using PicturePtr = std::shared_ptr<Picture>;

class Pictures {
 public:
  // Those of tokens [first, first + count): one a token where the three axes agree, else [3, count].
  std::vector<int32_t> positions(int64_t first, int64_t count) const;
  // So many of the `count` tokens from `first` on are all text, or all of one picture.
  int64_t alike(int64_t first, int64_t count) const;
  // Passes end where pictures begin and end.
  void cut(std::vector<Boundary>& ends) const;
  // Has the tower look at the picture of which token `index` is a part, unless it did. Between passes.
  void see(Model& model, int64_t index, const PassOptions& options) const;
  // Rows of the residual stream in the running pass, of a picture that was seen.
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

// A prompt as the timeline holds it.
struct Placed {
  std::vector<int32_t> tokens;
  Pictures pictures;
};

// Each picture takes the place of as many of the tower's tokens as it has rows, in order. Any thread. Throws
// Unsupported, std::invalid_argument.
Placed place(const Model& model, std::span<const int32_t> tokens, std::span<const PicturePtr> pictures);

// Rows of the tower itself, of pictures one after the other: for tests and for looking. The worker.
Matrix see(Model& model, std::span<const float> pixels, std::span<const Grid> grids, Seen what,
           const PassOptions& options);

}  // namespace longhand
