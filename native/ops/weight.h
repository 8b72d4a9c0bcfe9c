// Weights: how a file stores them (WeightView, made by native/formats) and what a back end makes of them (Weight).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace longhand {

// Element types and block layouts as they stand in files. Sizes and bit layouts: native/formats/blocks.h.
enum class DType : uint8_t {
  f32,
  f16,
  bf16,
  f8_e4m3,
  f8_e5m2,  // safetensors FP8 releases, with a scale tensor
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f64,
  boolean,  // may appear in a file; never as a matrix
  affine,   // MLX integers: WeightView::affine tells bits, group, scales, biases
  mxfp4,
  mxfp8,
  nvfp4,  // MLX float modes: codes in `data`, scales in `affine.scales`
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,  // GGUF 32-element blocks
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,  // GGUF 256-element super-blocks
  iq4_nl,
  iq4_xs,
  gguf_mxfp4,  // GGUF table formats
};
const char* name_of(DType type);

// Group-wise scales beside the codes (MLX). `scales`/`biases` are [out, in / group], in `scale_type` (f32, f16, bf16;
// u8 for E8M0 and E4M3 scales).
struct GroupScales {
  int bits = 0;
  int group = 0;
  DType scale_type = DType::f32;
  const std::byte* scales = nullptr;
  const std::byte* biases = nullptr;
  float global_scale = 1.0f;
};

// One tensor inside a mapped file: borrowed memory, valid while its reader lives. Shape is row-major, outermost first
// (GGUF's reversed order is undone by the reader). `data_bytes` has been checked against the file and the shape.
// A quantised MLX matrix has the shape of the matrix it stands for, not of its packed words.
struct WeightView {
  std::string name;
  DType type = DType::f32;
  std::vector<int64_t> shape;
  const std::byte* data = nullptr;
  size_t data_bytes = 0;
  GroupScales affine{};
  std::span<const std::byte> mapping{};  // the whole mapped file `data` and the scales lie in; empty: memory of its own
  int file = 0;  // index into the reader's list of mapped files (for "use in place" and for releasing pages)

  int64_t elements() const {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    return n;
  }
};

// A matrix (or a stack of matrices, or several matrices stacked by rows) prepared by a back end for its own kernels.
// y = W x, W [out, in]; a stack of experts is [experts, out, in].
class Weight {
 public:
  virtual ~Weight() = default;
  int64_t experts = 1;
  int64_t out = 0;
  int64_t in = 0;
  size_t bytes = 0;       // what one full read of it costs
  bool in_place = false;  // reads the mapped file; otherwise its pages may be released after prepare()
};
using WeightPtr = std::shared_ptr<const Weight>;

// The file of prepared weights: there is none, this load read it, it is being written, it is complete.
enum class PackedCacheStatus : uint8_t { none, read, writing, written };

}  // namespace longhand
