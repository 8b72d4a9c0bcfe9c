// The scalar inner loops: the specification of those of other instruction sets. Each stands in the file of its op
// family.
#pragma once

#include "cpu/kernels/kernels.h"

namespace longhand::cpu::scalar {

// norm.cc
float dot(const float* a, const float* b, int64_t n);
void add_scaled(float* y, float a, const float* x, int64_t n);
void rms_norm(const float* x, const float* weight, float eps, int64_t n, float* y);
// activation.cc
void silu(float* x, int64_t n);
void multiply_silu(float* x, const float* z, int64_t n);
void multiply_sigmoid(float* x, const float* z, int64_t n);
void gelu_erf(float* x, int64_t n);
void gelu_tanh(float* x, int64_t n);
// attention/attention.cc
float largest(const float* x, int64_t n);
double sum_exp(const float* x, float peak, int64_t n);
void softmax(float* x, int64_t n);
void attend(const AttentionTile& tile);
// attention/encoder.cc
void attend_whole(const WholeAttentionTile& tile);
// attention/rounded.cc
void attend_whole_rounded(const RoundedAttentionTile& tile);
void attend_causal_pairs(const RoundedCausalTile& tile);
void attend_causal_tiles(const RoundedCausalTile& tile);  // what AMX makes of the same
void pair_columns(const uint16_t* rows, int64_t width, uint32_t* to);
void turn_values(const uint16_t* rows, int64_t width, uint16_t* to);
// attention/cache.cc
void from_f16(const std::byte* from, int64_t n, float* to);
void to_f16(const float* from, int64_t n, std::byte* to);
// quantised.cc
void from_bf16(const std::byte* from, int64_t n, float* to);
void two_level(const TwoLevelTile& tile);
void unpack(const UnpackTile& tile);
void quantise(const float* x, int64_t n, int8_t* high, int8_t* low, float* scales, int32_t* sums);
void panel_fast(const PanelTile& tile);
void panel_exact(const PanelTile& tile);
// matmul.cc
void rows_f32(const RowTile& tile);
void rows_f16(const RowTile& tile);
void rows_bf16(const RowTile& tile);
// matmul_bf16.cc
void round_bf16(const float* x, int64_t n, uint16_t* to);
void rows_bf16_rounded(const RoundedRowTile& tile);
void rows_bf16_tiles(const RoundedRowTile& tile);  // what AMX makes of the same
void decode_bf16(const DecodeTile& tile);
void multiply_decoded(const DecodedTile& tile);
// short_conv.cc, gated_delta.cc, gla.cc
void convolve(const ConvTile& tile);
void delta(const DeltaTile& tile);
void gla(const GlaTile& tile);

}  // namespace longhand::cpu::scalar
