#include "addon/pictures.h"

#include "addon/values/errors.h"

namespace longhand {

namespace {

// 65,536 patches of 16 x 16 pixels are the most that published preprocessors let through.
constexpr int32_t most_side = 1 << 16;
constexpr int64_t most_patches = 1 << 17;

}  // namespace

std::vector<Grid> grids_argument(Napi::Env env, std::span<const int32_t> numbers) {
  const auto fail = [&](const std::string& came) {
    throw coded_error(env, "argument",
                      "[pictures] " + came + ", expected frames, rows and columns from 1, " +
                          std::to_string(most_patches) + " patches in all");
  };
  if (numbers.empty() || numbers.size() % 3 != 0) fail("a grid has " + std::to_string(numbers.size()) + " numbers");
  std::vector<Grid> out;
  for (size_t i = 0; i < numbers.size(); i += 3) {
    for (const int32_t side : numbers.subspan(i, 3)) {
      if (side < 1 || side > most_side) fail("a grid holds " + std::to_string(side));
    }
    out.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
    if (out.back().rows * out.back().columns > most_patches / out.back().frames)
      fail("a grid has " + std::to_string(out.back().patches()) + " patches");
  }
  return out;
}

std::vector<PicturePtr> pictures_of(Napi::Env env, const Options& options) {
  if (!options.has("pictures")) return {};
  const auto wrong = [&] {
    return coded_error(env, "argument", "[pictures] expected an array of { pixels: Float32Array, grid: numbers }");
  };
  if (!options.get("pictures").IsArray()) throw wrong();
  const Napi::Array list = options.get("pictures").As<Napi::Array>();
  std::vector<PicturePtr> out;
  for (uint32_t i = 0; i < list.Length(); ++i) {
    const Options each(list.Get(i), "pictures");
    const Napi::Value pixels = each.has("pixels") ? each.get("pixels") : env.Undefined();
    if (!pixels.IsTypedArray() || pixels.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array) throw wrong();
    const auto values = pixels.As<Napi::Float32Array>();
    const std::vector<Grid> grids = grids_argument(env, each.tokens("grid"));
    if (grids.size() != 1) throw wrong();
    out.push_back(
        std::make_shared<Picture>(Picture{grids.front(), {values.Data(), values.Data() + values.ElementLength()}}));
  }
  return out;
}

}  // namespace longhand
