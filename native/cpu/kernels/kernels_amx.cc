// AMX: products of many tokens in tile registers. Only these loops; the rest of the set is that of kernels_avx512.cc.
#if defined(__x86_64__)

#include "cpu/simd/vector_amx.h"
#include "cpu/simd/vector_avx512.h"

namespace longhand::cpu {

extern const Kernels avx512_kernels;

void amx_panel(const PanelTile& tile) { panel_tiles<Amx, Avx512>(tile, avx512_kernels.panel_fast); }
void amx_rows(const RoundedRowTile& tile) { row_tiles<Amx>(tile); }

}  // namespace longhand::cpu

#endif
