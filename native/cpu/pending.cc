#include <stdexcept>

#include "cpu/backend.h"

namespace longhand::cpu {
namespace {
[[noreturn]] void missing(const char* op) { throw std::logic_error(std::string("[cpu] no ") + op + " yet"); }
}  // namespace

Tensor CpuBackend::attention_bidirectional(Tensor, const Attention&) { missing("attention_bidirectional"); }
Tensor CpuBackend::latent_attention(Tensor, const LatentAttention&, std::span<const int32_t>, LatentCache&) {
  missing("latent_attention");
}
Tensor CpuBackend::gla_intra_chunk(Tensor, Tensor, Tensor, const Gla&, const RecurrentState&) { missing("gla"); }
void CpuBackend::gla_state_update(Tensor, Tensor, const Gla&, RecurrentState&) { missing("gla"); }
Tensor CpuBackend::gla_decode(Tensor, Tensor, Tensor, const Gla&, RecurrentState&) { missing("gla"); }
Tensor CpuBackend::gla(Tensor, Tensor, Tensor, const Gla&, RecurrentState&) { missing("gla"); }
void CpuBackend::block_compress(const KvCache&, const BlockSparse&, CompressedKeys&) { missing("block_compress"); }
BlockList CpuBackend::block_select(Tensor, const CompressedKeys&, const BlockSparse&, int64_t, int64_t) {
  missing("block_select");
}
Tensor CpuBackend::block_attention(Tensor, const KvCache&, const BlockSparse&, BlockList) {
  missing("block_attention");
}
Routes CpuBackend::route(Tensor, const Norm*, const Router&) { missing("route"); }
Tensor CpuBackend::expert_gate_up(Tensor, const Weight&, const Norm*, const Routes&) { missing("expert_gate_up"); }
void CpuBackend::expert_down(Tensor, const Weight&, const Routes&, Tensor) { missing("expert_down"); }
void CpuBackend::add_gated(Tensor, const Norm*, const Weight&, Tensor, Tensor) { missing("add_gated"); }

}  // namespace longhand::cpu
