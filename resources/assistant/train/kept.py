"""SmolLM2's own answers to the requests of data/keep.py, before it is changed.

    python kept.py MODEL.gguf kept.jsonl
"""
import json
import random
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from data.keep import prompts
from data.mix import ORIGINAL
from data.prompt import asked, opening
from model import Weights
from tokens import tokenizer

LONGEST, AT_ONCE = 256, 768
NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}


def original(path, device):
    w = Weights(path)
    shape = w["blk.0.ffn_up.weight"].shape[0]
    config = LlamaConfig(hidden_size=w.width, intermediate_size=shape, num_hidden_layers=w.layers, num_attention_heads=w.heads, num_key_value_heads=w.kv_heads,
                         vocab_size=w["token_embd.weight"].shape[0], rms_norm_eps=w.eps, tie_word_embeddings=True, max_position_embeddings=8192,
                         rope_parameters={"rope_type": "default", "rope_theta": w.theta}, bos_token_id=1, eos_token_id=2, pad_token_id=2)
    model = LlamaForCausalLM(config)
    state = {"model.embed_tokens.weight": w["token_embd.weight"], "lm_head.weight": w["token_embd.weight"], "model.norm.weight": w["output_norm.weight"]}
    for layer in range(w.layers):
        state |= {f"model.layers.{layer}.{name}.weight": w[f"blk.{layer}.{of}.weight"] for name, of in NAMES.items()}
    model.load_state_dict(state)
    return model.to(device, torch.bfloat16 if device == "cuda" else torch.float32).eval()


def main():
    path, out = sys.argv[1:3]
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 10**6
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    tok, model, texts = tokenizer(path), original(path, device), prompts()
    random.Random(1).shuffle(texts)
    texts, kept = texts[:most], 0
    with open(out, "w", encoding="utf-8") as f:
        for start in range(0, len(texts), AT_ONCE):
            some = texts[start:start + AT_ONCE]
            ids = [tok.encode(opening(ORIGINAL) + asked(text), add_special_tokens=False).ids for text in some]
            longest = max(map(len, ids))
            padded = torch.tensor([[2] * (longest - len(one)) + one for one in ids], device=device)
            mask = torch.tensor([[0] * (longest - len(one)) + [1] * len(one) for one in ids], device=device)
            with torch.no_grad():
                made = model.generate(padded, attention_mask=mask, max_new_tokens=LONGEST, do_sample=True, temperature=0.6, top_p=0.95)
            for text, reply in zip(some, made[:, longest:].tolist()):
                # One that did not end, or speaks of itself, is no example.
                if 2 not in reply:
                    continue
                answer = tok.decode(reply[:reply.index(2)]).strip()
                if len(answer) > 20 and not any(name in answer for name in ("SmolLM", "Hugging Face", "language model", "AI assistant")):
                    f.write(json.dumps([text, answer], ensure_ascii=False) + "\n")
                    kept += 1
    print(f"kept {kept} of {len(texts)} answers", flush=True)


if __name__ == "__main__":
    main()
