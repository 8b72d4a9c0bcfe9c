// The parts common to all decoders: sizes, the embedding at the start, the final norm and the output matrix at the end.
#pragma once

#include "architectures/architecture.h"
#include "architectures/shared/config.h"
#include "architectures/shared/weights.h"

namespace longhand {

struct DecoderShape {
  int64_t hidden = 0, layers = 0, vocabulary = 0, context = 0;
  double eps = 0;
  bool tied = false;
};
// `eps_key` differs between families ("rms_norm_eps", "norm_eps").
DecoderShape read_shape(const Config& config, const Weights& weights, const char* eps_key = "rms_norm_eps");
// num_attention_heads, num_key_value_heads, head_dim; contradictions are reported.
Heads read_heads(const Config& config, int64_t hidden);

class Decoder : public Architecture {
 public:
  Tensor embed(Pass& pass, std::span<const int32_t> tokens) const override;
  Tensor final_norm(Pass& pass, Tensor x) const override;
  Tensor logits(Pass& pass, Tensor x) const override;
  Tensor head(Pass& pass, Tensor normalised) const override;

 protected:
  // `norm_name`: what the checkpoint calls the final norm. `add_one`: see Weights::norm.
  void bind_ends(Weights& weights, const Config& config, const DecoderShape& shape, const std::string& norm_name,
                 bool add_one = false);

  float embed_scale_ = 1.0f;
  float logit_scale_ = 1.0f;

 private:
  WeightPtr embedding_, head_;
  Norm final_norm_;
};

}  // namespace longhand
