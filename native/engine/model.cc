#include "engine/model.h"

#include <cmath>
#include <stdexcept>

#include "engine/available_memory.h"
#include "formats/error.h"

namespace longhand {

namespace {

std::string megabytes(uint64_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000) + " MB"; }

// Before anything is allocated: the kernel would otherwise end the process in the middle of the load.
void check_room(const Description& verdict) {
  const uint64_t available = available_memory();
  if (verdict.weight_bytes <= available) return;
  throw OutOfMemory("[memory] the weights take " + megabytes(verdict.weight_bytes) + ", " + megabytes(available) +
                    " are free");
}

void verify_finite(const Checkpoint& checkpoint, const LoadProgress& progress) {
  for (const WeightView& tensor : checkpoint.tensors()) {
    if (progress.cancel && progress.cancel->load()) throw Cancelled{};
    if (tensor.shape.empty() || tensor.elements() == 0) continue;
    const int64_t columns = tensor.shape.back();
    const int64_t rows = tensor.elements() / columns;
    std::vector<float> row(static_cast<size_t>(columns));
    for (int64_t i = 0; i < rows; ++i) {
      dequantise_rows(tensor, i, 1, row.data());
      for (const float value : row) {
        if (!std::isfinite(value)) {
          throw FormatError("[weights] tensor \"" + tensor.name + "\" holds a value that is not finite in row " +
                            std::to_string(i) + ", allowed are finite numbers");
        }
      }
    }
    checkpoint.release(tensor);
  }
}

}  // namespace

Model::Model(LoadRequest request, std::shared_ptr<Worker> worker)
    : path_(std::move(request.path)), worker_(std::move(worker)), backend_(std::move(request.backend)) {
  const std::shared_ptr<const Checkpoint> checkpoint = open_checkpoint(path_);
  check_room(describe(checkpoint));
  if (request.verify) verify_finite(*checkpoint, request.progress);
  loaded_ = load_family(checkpoint, *backend_, std::move(request.progress));
}

void Model::check_tokens(std::span<const int32_t> tokens) const {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < facts().vocabulary) continue;
    throw std::invalid_argument("[session] token " + std::to_string(i) + " is " + std::to_string(tokens[i]) +
                                ", allowed are 0 to " + std::to_string(facts().vocabulary - 1));
  }
}

}  // namespace longhand
