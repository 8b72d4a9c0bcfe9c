// Unpacked panels times many rounded tokens, of which the bytes of 32 columns stand together (PanelTile::x_blocks).
// Included by vector_panels.h.
#pragma once

#include "cpu/simd/vector_codes.h"

namespace {

using longhand::cpu::PanelTile;

// Scales, biases and signed codes of one block of P panels, in registers.
template <class V, int P, bool Half>
struct PanelBlock {
  static constexpr int runs = Half ? 2 : 1, quads = 8 / runs;
  typename V::F scale[runs][P], bias[runs][P];
  typename V::I codes[8][P];
  typename V::I start[runs][P];  // takes off what the 128 added to each input has brought: the same for all tokens
};

template <class V, int P, bool Half>
inline void load_block(const PanelTile& tile, int64_t block, PanelBlock<V, P, Half>& to) {
  using Block = PanelBlock<V, P, Half>;
  const int group_shift = __builtin_ctzll(static_cast<uint64_t>(tile.group));
  const typename V::I zero = V::set_bytes(tile.zero), inputs = V::set_bytes(128);
  for_quads<0, 8>([&]<int Q>() {
    for (int p = 0; p < P; ++p) {
      const uint8_t* codes = tile.codes + block * 8 * quad + p * tile.code_stride + Q * quad;
      to.codes[Q][p] = V::held(V::minus_bytes(V::load_quad(codes), zero));
    }
  });
  for_quads<0, Block::runs>([&]<int Run>() {
    const int64_t group = (block * columns + Run * 16) >> group_shift;
    for (int p = 0; p < P; ++p) {
      const int64_t from = p * tile.scale_stride + group * panel_lanes;
      to.scale[Run][p] = V::load(tile.scales + from);
      to.bias[Run][p] = tile.biases ? V::load(tile.biases + from) : V::zero();
      typename V::I sum = V::set_int(0);
      for_quads<Run * Block::quads, (Run + 1) * Block::quads>(
          [&]<int Q>() { sum = V::dot4_signed(sum, inputs, to.codes[Q][p]); });
      to.start[Run][p] = V::held(V::minus(V::set_int(0), sum));
    }
  });
}

// The bits of fast_tokens. Codes are the signed side of a product and activations, raised by 128, the unsigned one, so
// that a token costs little but its products. Two tokens whose low bytes are zero go through a block together. Sums
// stay in memory.
template <class V, int P, bool Half>
inline void fast_token_blocks(const PanelTile& tile) {
  using F = typename V::F;
  using I = typename V::I;
  using Block = PanelBlock<V, P, Half>;
  // As values: a vector that is stored may overlap `tile`, which would be read again for every token.
  const int64_t x_stride = tile.x_stride, scale_step = tile.scale_step, sum_step = tile.sum_step, tokens = tile.tokens;
  const bool biased = tile.biases != nullptr;
  const I flip = V::set_bytes(128);
  for (int64_t block = 0; block < tile.blocks; ++block) {
    Block panels;
    load_block(tile, block, panels);
    const auto add = [&]<int M, bool Both>(int64_t token) {
      const uint8_t* x = tile.x_blocks + block * tile.block_stride + token * columns;
      const float* x_scales = tile.x_scales + token * scale_step + block;
      float* to = tile.sums + token * P * panel_lanes;
      F sum[M][P];
      for (int m = 0; m < M; ++m)
        for (int p = 0; p < P; ++p) sum[m][p] = V::load(to + (m * P + p) * panel_lanes);
      for_quads<0, Block::runs>([&]<int Run>() {
        I high[M][P], low[P];
        for (int p = 0; p < P; ++p) {
          for (int m = 0; m < M; ++m) high[m][p] = panels.start[Run][p];
          low[p] = panels.start[Run][p];
        }
        for_quads<Run * Block::quads, (Run + 1) * Block::quads>([&]<int Q>() {
          for (int m = 0; m < M; ++m) {
            const I input = V::four(reinterpret_cast<const int8_t*>(x) + m * columns + 4 * Q);
            for (int p = 0; p < P; ++p) high[m][p] = V::dot4_signed(high[m][p], input, panels.codes[Q][p]);
          }
          if constexpr (Both) {
            const int8_t* rest = tile.x_codes + (2 * token + 1) * x_stride + block * columns;
            const I input = V::minus_bytes(V::four(rest + 4 * Q), flip);
            for (int p = 0; p < P; ++p) low[p] = V::dot4_signed(low[p], input, panels.codes[Q][p]);
          }
        });
        for (int m = 0; m < M; ++m) {
          const float x_scale = x_scales[m * scale_step];
          const F step = V::set(Both ? x_scale : 128.0f * x_scale);
          for (int p = 0; p < P; ++p) {
            const F product = V::to_float(Both ? V::joined(high[m][p], low[p]) : high[m][p]);
            sum[m][p] = V::fused(product, V::mul(panels.scale[Run][p], step), sum[m][p]);
          }
          if (!biased) continue;
          const int32_t* sums = tile.x_code_sums + (token + m) * sum_step + 2 * block;
          const F whole = V::set(x_scale * static_cast<float>(Half ? sums[Run] : sums[0] + sums[1]));
          for (int p = 0; p < P; ++p) sum[m][p] = V::fused(panels.bias[Run][p], whole, sum[m][p]);
        }
      });
      for (int m = 0; m < M; ++m)
        for (int p = 0; p < P; ++p) V::store(to + (m * P + p) * panel_lanes, sum[m][p]);
    };
    const uint8_t* low = tile.x_low + block;
    for (int64_t token = 0; token < tokens; low += scale_step) {
      if (!Half && token + 1 < tokens && (low[0] | low[scale_step]) == 0) {
        add.template operator()<2, false>(token);
        token += 2;
        low += scale_step;
      } else {
        if (*low == 0) add.template operator()<1, false>(token);
        else add.template operator()<1, true>(token);
        ++token;
      }
    }
  }
}

}  // namespace
