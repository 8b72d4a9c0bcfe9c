// Pictures as arguments: pixels cut into patches, and their grids.
#pragma once

#include "addon/values/options.h"
#include "engine/pictures.h"

namespace longhand {

// `pictures` of a call: [{ pixels: Float32Array, grid: [frames, rows, columns] }], empty when absent.
std::vector<PicturePtr> pictures_of(Napi::Env env, const Options& options);
// [frames, rows, columns] of pictures one after the other.
std::vector<Grid> grids_argument(Napi::Env env, std::span<const int32_t> numbers);

}  // namespace longhand
