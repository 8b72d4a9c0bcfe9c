#include "engine/pictures.h"

#include <algorithm>
#include <stdexcept>

#include "formats/error.h"
#include "formats/hash.h"

namespace longhand {

namespace {

// The probability that different pictures have the same numbers in their first n rows is 2^(-30 n).
int32_t number_of(uint64_t hash, int64_t row) {
  const uint64_t own = xxh64(std::as_bytes(std::span(&row, 1)), hash);
  return guessed_token - 1 - static_cast<int32_t>(own & 0x3fffffff);
}

uint64_t hash_of(const Picture& picture) {
  const int64_t shape[] = {picture.grid.frames, picture.grid.rows, picture.grid.columns};
  return xxh64(std::as_bytes(std::span(picture.pixels)), xxh64(std::as_bytes(std::span(shape))));
}

void check(const Vision& vision, const Grid& grid, size_t values) {
  const std::string shape =
      std::to_string(grid.frames) + " x " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns);
  if (grid.rows % vision.merge != 0 || grid.columns % vision.merge != 0) {
    throw std::invalid_argument("[pictures] a grid is " + shape + ", expected multiples of " +
                                std::to_string(vision.merge));
  }
  if (static_cast<int64_t>(values) != grid.patches() * vision.patch_values) {
    throw std::invalid_argument("[pictures] a grid of " + shape + " has " + std::to_string(values) +
                                " values, expected " + std::to_string(grid.patches() * vision.patch_values));
  }
}

Vision& tower(const Model& model) {
  if (Vision* vision = model.architecture().vision()) return *vision;
  throw Unsupported("[pictures] this model cannot see: its files have no vision tower");
}

}  // namespace

const Pictures::Place* Pictures::at(int64_t index) const {
  for (const Place& place : places_) {
    if (index >= place.first && index < place.end()) return &place;
  }
  return nullptr;
}

std::vector<int32_t> Pictures::positions(int64_t first, int64_t count) const {
  // The difference between indices and positions, and the picture that the pass reads.
  int64_t saved = 0;
  const Place* within = nullptr;
  for (const Place& place : places_) {
    if (place.end() <= first) saved += place.count - std::max(place.rows, place.columns);
    else if (place.first <= first) within = &place;
  }
  std::vector<int32_t> out;
  if (!within) {
    for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<int32_t>(first + i - saved));
    return out;
  }
  const int64_t base = within->first - saved;
  for (int axis = 0; axis < 3; ++axis) {
    for (int64_t i = first - within->first; i < first - within->first + count; ++i) {
      const int64_t step = axis == 0 ? 0 : axis == 1 ? i / within->columns : i % within->columns;
      out.push_back(static_cast<int32_t>(base + step));
    }
  }
  return out;
}

int64_t Pictures::alike(int64_t first, int64_t count) const {
  for (const Place& place : places_) {
    for (const int64_t edge : {place.first, place.end()}) {
      if (edge > first) count = std::min(count, edge - first);
    }
  }
  return count;
}

void Pictures::cut(std::vector<Boundary>& ends) const {
  if (ends.empty()) return;
  const int64_t last = ends.back().end;
  for (const Place& place : places_) {
    for (const int64_t edge : {place.first, place.end()}) {
      const auto next = std::ranges::find_if(ends, [&](const Boundary& each) { return each.end >= edge; });
      if (edge > 0 && edge < last && next->end != edge) ends.insert(next, {edge, Boundary::Kind::chunk});
    }
  }
}

void Pictures::see(Model& model, int64_t index, const PassOptions& options) const {
  Picture& picture = *at(index)->picture;
  if (picture.rows.rows > 0) return;
  picture.rows = longhand::see(model, picture.pixels, {&picture.grid, 1}, Seen::merged, options);
  std::vector<float>().swap(picture.pixels);  // 20 MB for a photo
}

Tensor Pictures::rows(Backend& backend, int64_t first, int64_t count) const {
  const Place& place = *at(first);
  const Matrix& all = place.picture->rows;
  const Tensor x = backend.scratch(count, all.columns);
  const float* from = all.data.data() + (first - place.first) * all.columns;
  backend.write(*x.buffer, x.offset * sizeof(float), from, static_cast<size_t>(count * all.columns) * sizeof(float));
  return x;
}

void Pictures::forget_after(int64_t length) {
  std::erase_if(places_, [&](const Place& place) { return place.first >= length; });
}

Placed place(const Model& model, std::span<const int32_t> tokens, std::span<const PicturePtr> pictures) {
  Placed out{{tokens.begin(), tokens.end()}, {}};
  if (pictures.empty()) return out;
  const Vision& vision = tower(model);
  const auto total = static_cast<int64_t>(tokens.size());
  int64_t at = 0;
  for (const PicturePtr& picture : pictures) {
    check(vision, picture->grid, picture->pixels.size());
    if (picture->grid.frames != 1) throw Unsupported("[pictures] a grid has several frames: video is not supported");
    const int64_t count = vision.merged_rows(picture->grid);
    while (at < total && tokens[static_cast<size_t>(at)] != vision.token) ++at;
    int64_t found = 0;
    while (found < count && at + found < total && tokens[static_cast<size_t>(at + found)] == vision.token) ++found;
    if (found < count) {
      throw std::invalid_argument("[pictures] picture " + std::to_string(&picture - pictures.data() + 1) + " takes " +
                                  std::to_string(count) + " tokens " + std::to_string(vision.token) +
                                  " in a row, the prompt has " + std::to_string(found));
    }
    const uint64_t hash = hash_of(*picture);
    for (int64_t row = 0; row < count; ++row) out.tokens[static_cast<size_t>(at + row)] = number_of(hash, row);
    out.pictures.places_.push_back(
        {at, count, picture->grid.rows / vision.merge, picture->grid.columns / vision.merge, picture});
    at += count;
  }
  if (std::find(tokens.begin() + at, tokens.end(), vision.token) != tokens.end()) {
    throw std::invalid_argument("[pictures] the prompt has more tokens " + std::to_string(vision.token) + " than " +
                                std::to_string(pictures.size()) + " pictures take");
  }
  return out;
}

Matrix see(Model& model, std::span<const float> pixels, std::span<const Grid> grids, Seen what,
           const PassOptions& options) {
  Vision& vision = tower(model);
  size_t from = 0;
  for (const Grid& grid : grids) {
    const auto size = static_cast<size_t>(grid.patches() * vision.patch_values);
    check(vision, grid, std::min(size, pixels.size() - from));
    from += size;
  }
  if (from != pixels.size() || grids.empty()) {
    throw std::invalid_argument("[pictures] the grids take " + std::to_string(from) + " values, there are " +
                                std::to_string(pixels.size()));
  }
  Backend& backend = model.backend();
  vision.load(backend);
  backend.begin({.path = options.path, .cancel = options.cancel});
  const Tensor seen = vision.see(backend, pixels, grids, what);
  backend.finish();
  return read_back(backend, seen);
}

}  // namespace longhand
