// AMX: products of many tokens in tile registers, of numbers rounded to bf16. Only these loops; the rest of the set is
// that of kernels_avx512.cc.
#if defined(__x86_64__)

#include "cpu/simd/decode_bf16.h"
#include "cpu/simd/tiles/tile_products.h"
#include "cpu/simd/tiles/vector_amx.h"

namespace longhand::cpu {

extern const Kernels avx512_kernels;

void amx_rows(const RoundedRowTile& tile) { row_tiles<Amx>(tile); }
void amx_decode(const DecodeTile& tile) { decode_panel(tile, avx512_kernels.unpack); }
void amx_pair_columns(const uint16_t* rows, int64_t width, uint32_t* to) { pair_columns(rows, width, to); }
void amx_turn_values(const uint16_t* rows, int64_t width, uint16_t* to) { turn_values(rows, width, to); }
void amx_attend_causal(const RoundedCausalTile& tile) { attend_causal<TileProducts<Amx>>(tile); }
void amx_multiply(const DecodedTile& tile) { ::multiply_decoded<Amx>(tile); }

}  // namespace longhand::cpu

#endif
