// Which quantised releases in safetensors the engine can compute with, told from config.json alone.
#include <algorithm>

#include "formats/checkpoint.h"
#include "formats/utf8.h"

namespace longhand {
namespace {

std::string text(const Json& from, const char* key) {
  const Json* value = from.find(key);
  return value != nullptr && value->string() != nullptr ? *value->string() : "";
}

bool is_one_of(const std::string& word, std::initializer_list<const char*> allowed) {
  return std::any_of(allowed.begin(), allowed.end(), [&](const char* entry) { return word == entry; });
}

}  // namespace

std::optional<std::string> unsupported_quantisation(const Json& config) {
  const Json* block = config.find("quantization_config");
  if (block == nullptr || block->find("quant_method") == nullptr) return std::nullopt;
  const std::string method = text(*block, "quant_method");
  if (is_one_of(method, {"fp8", "fbgemm_fp8", "mlx"})) return std::nullopt;
  const std::string format = method == "modelopt" ? text(*block, "quant_algo") : text(*block, "format");
  if (method == "modelopt" && format == "FP8") return std::nullopt;
  if (method == "compressed-tensors" && is_one_of(format, {"float-quantized", "naive-quantized", "dense"}))
    return std::nullopt;
  return "[config] \"quantization_config\" says that the weights are quantised by \"" + printable(method) +
         (format.empty() ? "" : "\" as \"" + printable(format)) +
         "\"; allowed: MLX (affine, mxfp4, mxfp8, nvfp4) and FP8 releases, or a GGUF file of the same model";
}

}  // namespace longhand
