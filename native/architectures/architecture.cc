#include "architectures/architecture.h"

namespace longhand {

const char* name_of(LayerKind kind) {
  switch (kind) {
    case LayerKind::attention: return "attention";
    case LayerKind::gated_delta: return "gated-delta";
    case LayerKind::lightning: return "lightning";
    case LayerKind::sparse: return "sparse";
    case LayerKind::short_conv: return "short-conv";
    case LayerKind::latent: return "latent";
    case LayerKind::encoder: return "encoder";
  }
  return "attention";
}

}  // namespace longhand
