"""qwen2: Llama with biases on q, k and v. Reference: the float64 NumPy forward (ref_np.py), in one go and token by token."""
import os

import numpy as np

from common import init_weights, maxdiff, rng_for, save_json, save_tensors, versions
import ref_np


def shapes(cfg):
    H, I, V = cfg["hidden_size"], cfg["intermediate_size"], cfg["vocab_size"]
    kv = cfg["num_key_value_heads"] * (H // cfg["num_attention_heads"])
    out = {"model.embed_tokens.weight": (V, H), "model.norm.weight": (H,)}
    for i in range(cfg["num_hidden_layers"]):
        p = f"model.layers.{i}."
        for n, rows in (("q", H), ("k", kv), ("v", kv)):
            out[p + f"self_attn.{n}_proj.weight"] = (rows, H)
            out[p + f"self_attn.{n}_proj.bias"] = (rows,)
        out[p + "self_attn.o_proj.weight"] = (H, H)
        out[p + "mlp.gate_proj.weight"] = out[p + "mlp.up_proj.weight"] = (I, H)
        out[p + "mlp.down_proj.weight"] = (H, I)
        out[p + "input_layernorm.weight"] = out[p + "post_attention_layernorm.weight"] = (H,)
    return out


def greedy(model, ids, count):
    logits, _, _, state = model.forward(ids)
    tokens, margin = [], np.inf
    for _ in range(count):
        best = np.sort(logits[-1])
        margin = min(margin, best[-1] - best[-2])
        tokens.append(int(np.argmax(logits[-1])))
        logits, _, _, state = model.forward([tokens[-1]], state)
    return tokens, float(margin)


def prompt(model, cfg, seed, name, length):
    """The first random prompt whose greedy continuation has no near-tie."""
    for salt in range(64):
        ids = [int(x) for x in rng_for(seed, name, "prompt", length, salt).integers(3, cfg["vocab_size"] - 8, length)]
        tokens, margin = greedy(model, ids, 12)
        if margin >= 0.03:
            return ids, tokens, margin
    raise SystemExit(f"no prompt of length {length} without a near-tie")


def generate(params, seed, out):
    for case in params:
        cfg, name = case["config"], case["case"]
        w = init_weights(shapes(cfg), seed, name, cfg)
        model = ref_np.Model(cfg, w)
        tensors, prompts, stepwise = {}, {}, 0.0
        for length in case["prompt_lengths"]:
            ids, tokens, margin = prompt(model, cfg, seed, name, length)
            logits, hidden, final, _ = model.forward(ids)
            state = model.state()
            steps = np.concatenate([model.forward([t], state)[0] for t in ids])
            stepwise = max(stepwise, maxdiff(logits, steps))
            tensors[f"logits.len{length}"] = logits
            if length == case["hidden_prompt"]:
                for i, h in enumerate(hidden):
                    tensors[f"hidden.len{length}.{i}"] = h
                tensors[f"hidden.len{length}.final_norm"] = final
            prompts[f"len{length}"] = {"ids": ids, "greedy": tokens, "greedy_min_margin": margin}
        folder = os.path.join(out, "qwen2", name)
        save_json(os.path.join(folder, "config.json"), cfg)
        save_tensors(os.path.join(folder, "model.safetensors"), w)
        save_tensors(os.path.join(folder, "expected.safetensors"), {k: np.asarray(v, np.float32) for k, v in tensors.items()})
        save_json(os.path.join(folder, "expected.json"), {
            "family": "qwen2", "case": name, "about": case["about"], "prompts": prompts,
            "reference": "float64 NumPy (ref_np.py), one prefill from an empty state",
            "tolerance": {"logits_max_abs_fp32": 2e-4, "reason": "the least any case allows; fp32 against fp64 stays below a tenth"},
            "agreement_max_abs": {"prefill_vs_one_by_one": stepwise}, "versions": versions("numpy", "safetensors")})
