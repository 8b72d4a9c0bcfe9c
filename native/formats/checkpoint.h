// One opened model file or folder: its tensors by name, its configuration, its tokenizer metadata. The three containers
// (safetensors with config.json, MLX, GGUF) look the same from here on; what differs in meaning (permuted rows, shifted
// norms, names) is told by `container` and read by the families.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "ops/weight.h"

namespace longhand {

enum class Container : uint8_t { safetensors, mlx, gguf };

// A mapped file. A device may wrap the whole of it as one buffer: the base is page-aligned, and every tensor's `data`
// (and MLX scales and biases, which may stand in another file than the codes) points into one of the mappings or, when
// it was converted at open, into memory the checkpoint owns (`file` is -1 then). Addresses inside are NOT aligned to
// the element.
struct Mapping {
  std::string path;
  std::span<const std::byte> bytes;
};

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  virtual Container container() const = 0;
  // config.json as it is; for GGUF an object of all metadata keys (arrays of strings over 1024 entries only through
  // `metadata_strings`).
  virtual const Json& config() const = 0;
  virtual std::span<const WeightView> tensors() const = 0;                            // in file order
  virtual const WeightView* find(std::string_view name) const = 0;                    // null when absent
  virtual std::vector<std::string> metadata_strings(std::string_view key) const = 0;  // GGUF tokenizer lists
  virtual std::vector<std::string> files() const = 0;
  virtual std::span<const Mapping> mappings() const = 0;     // WeightView::file counts these
  virtual std::span<const std::string> notices() const = 0;  // one sentence for each conversion or omission
  // Tells the OS that the pages of a tensor are no longer needed (after packing).
  virtual void release(const WeightView& view) const = 0;
};

// `path`: a folder with config.json and safetensors (single or sharded by model.safetensors.index.json), a .gguf file
// (the first of a split set finds the others), or a .safetensors file beside its config.json.
// Throws FormatError("[safetensors] ...", "[mlx] ...", "[gguf] ...", "[config] ..."), OutOfMemory.
//
// `headers`: for inspection only; tensors that would have to be converted (FP8) keep null data.
// `adapter`: the folder of an adapter to apply (formats/adapter.h); empty: none. `tower`: the vision tower file of a
// GGUF model; empty: the one beside it, if there is one.
enum class Read : uint8_t { all, headers };
std::shared_ptr<const Checkpoint> open_checkpoint(const std::string& path, Read what = Read::all,
                                                  const std::string& adapter = {}, const std::string& tower = {});

// The same from headers alone (remote inspection): tensors as they stand in the file, with null data and any
// data_bytes.
std::shared_ptr<const Checkpoint> checkpoint_from_headers(Container container, Json config,
                                                          std::vector<WeightView> tensors);

// Why the quantisation named in config.json is not supported (GPTQ, AWQ, ...); none if it is. The tensors of such a
// release open as they are; the verdict (describe) is the place to refuse it.
std::optional<std::string> unsupported_quantisation(const Json& config);

// An element type by its name in a file: "BF16" (safetensors, MLX), "Q4_K" (GGUF); none when the engine cannot use it.
std::optional<DType> type_named(Container container, std::string_view name);

// Rows [first, first + count) of the matrix view [.., in], its scales included, without moving data: [count, in].
WeightView rows_of(const WeightView& view, int64_t first, int64_t count);

// Decodes any layout to fp32, in row-major order of `shape`: the specification every kernel is compared with.
// Rows [first, first + count) of the matrix view [.., in]; to holds count * in floats.
void dequantise_rows(const WeightView& view, int64_t first, int64_t count, float* to);
// A whole (small) tensor: norms, biases, convolution taps.
std::vector<float> to_floats(const WeightView& view);

}  // namespace longhand
