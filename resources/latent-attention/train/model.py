"""A Llama model with latent attention (MHA2MLA, arXiv 2502.14837), as `longhand convert --mla` writes it, in PyTorch.

Everything but attention is that of transformers, and every parameter has the name that it has in the file, in both layouts.
"""
import json
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

VERSIONS = {0: "full-rope", 1: "high", 2: "uniform", 3: "high+low", 4: "2-norm", 5: "low"}


def kept_pairs(config, layers, kv_heads, half):
    """The rotary pairs that each head kept, ascending: [layers][key-value heads][pairs]"""
    rope = config["RoPE"]
    if "kept_pairs" in rope:
        return rope["kept_pairs"]
    count, last, start, step = (rope[key] for key in ("top_k_rope_dim", "last_k_rope_dim", "uniform_start_point", "uniform_step"))
    ranges = {
        "full-rope": [range(half)],
        "high": [range(count)],
        "low": [range(half - count, half)],
        "high+low": [range(count), range(half - last, half)],
        "uniform": [range(start, half, step)],
    }
    version = rope["partial_rope_version"]
    name = VERSIONS.get(version, version)
    if name not in ranges:
        raise SystemExit(f'config.json: the pairs of the selection "{name}" have to stand in "RoPE.kept_pairs", as `longhand convert` writes them')
    return [[[pair for some in ranges[name] for pair in some]] * kv_heads] * layers


class Factors(nn.Module):
    """The new layout keeps the factors in a module of their own."""

    def __init__(self, sizes):
        super().__init__()
        for name, (rows, columns) in sizes.items():
            setattr(self, name, nn.Linear(columns, rows, bias=False))


class LatentAttention(nn.Module):
    def __init__(self, config, pairs, rank, split, new):
        """`pairs`: [key-value heads][pairs], `rank`: of a key-value head, `new`: the layout."""
        super().__init__()
        self.heads, self.kv_heads, self.dim, self.new = config.num_attention_heads, config.num_key_value_heads, config.head_dim, new
        hidden, half, latent = config.hidden_size, self.dim // 2, rank * self.kv_heads
        self.kept = 2 * len(pairs[0])
        dims = [[*own, *(pair + half for pair in own)] for own in pairs]
        order = torch.tensor([own + [dim for dim in range(self.dim) if dim not in own] for own in dims])
        # Where each dim of a head stands after "the kept ones, then the others".
        self.register_buffer("place", order.argsort(-1), persistent=False)
        turns = torch.zeros(self.kv_heads, self.dim, dtype=torch.bool)
        for head, own in enumerate(dims):
            turns[head, own] = True
        self.register_buffer("turns", turns, persistent=False)
        linear = lambda rows, columns: nn.Linear(columns, rows, bias=False)
        self.q_proj, self.o_proj = linear(self.heads * self.dim, hidden), linear(hidden, self.heads * self.dim)
        up_k, up_v = (self.kv_heads * (self.dim - self.kept), latent), (self.kv_heads * self.dim, latent)
        down = {"down_k": (latent, hidden), "down_v": (latent, hidden)} if split else {"down_kv": (latent, hidden)}
        if new:
            self.k_r_proj = linear(self.kv_heads * self.kept, hidden)
            self.kv_proj = Factors({**down, "up_k": up_k, "up_v": up_v})
        else:
            self.W_k_r = linear(self.kv_heads * self.kept, hidden)
            for name, size in {**down, "up_k": up_k, "up_v": up_v}.items():
                # What keys and values share has the name of the keys in this layout.
                setattr(self, "W_down_k" if name == "down_kv" else f"W_{name}", linear(*size))

    def factors(self):
        """-> down of keys, down of values, up of keys, up of values"""
        if not self.new:
            return self.W_down_k, getattr(self, "W_down_v", self.W_down_k), self.W_up_k, self.W_up_v
        own = self.kv_proj
        return getattr(own, "down_k", None) or own.down_kv, getattr(own, "down_v", None) or own.down_kv, own.up_k, own.up_v

    def in_order(self, kept, rest, place):
        """[rows, tokens, heads, kept] and [.., dim - kept] -> [rows, tokens, heads, dim]"""
        both = torch.cat((kept, rest), -1)
        return both.gather(-1, place.expand(*both.shape[:2], -1, -1))

    def turned(self, x, cos, sin, turns):
        """x: [rows, tokens, heads, dim]; cos and sin: [rows, tokens, dim]; turns: [heads, dim]"""
        cos, sin = (torch.where(turns, of[:, :, None], still) for of, still in ((cos, 1.0), (sin, 0.0)))
        half = self.dim // 2
        return x * cos.to(x.dtype) + torch.cat((-x[..., half:], x[..., :half]), -1) * sin.to(x.dtype)

    def forward(self, hidden_states, position_embeddings, **_):
        rows, tokens = hidden_states.shape[:2]
        split = lambda y, heads: y.view(rows, tokens, heads, -1)
        share = self.heads // self.kv_heads
        place, turns = self.place.repeat_interleave(share, 0), self.turns.repeat_interleave(share, 0)
        down_k, down_v, up_k, up_v = self.factors()
        q = self.q_proj(hidden_states)
        if self.new:
            cut = self.heads * self.kept
            q = self.in_order(split(q[..., :cut], self.heads), split(q[..., cut:], self.heads), place)
        latent = down_k(hidden_states)
        k_r = (self.k_r_proj if self.new else self.W_k_r)(hidden_states)
        k = self.in_order(split(k_r, self.kv_heads), split(up_k(latent), self.kv_heads), self.place)
        v = split(up_v(latent if down_v is down_k else down_v(hidden_states)), self.kv_heads)
        q, k = self.turned(split(q, self.heads), *position_embeddings, turns), self.turned(k, *position_embeddings, self.turns)
        heads_first = lambda y, count: y.transpose(1, 2).repeat_interleave(count, 1)
        seen = F.scaled_dot_product_attention(heads_first(q, 1), heads_first(k, share), heads_first(v, share), is_causal=True)
        return self.o_proj(seen.transpose(1, 2).reshape(rows, tokens, -1)), None


def weight_files(folder):
    """The names of the files that hold the weights of a folder."""
    index = pathlib.Path(folder) / "model.safetensors.index.json"
    return sorted(set(json.loads(index.read_text())["weight_map"].values())) if index.exists() else ["model.safetensors"]


def load(folder, files=None, pairs=None):
    """-> a LlamaForCausalLM with weights in fp32, and with latent attention if its config.json says so.

    `files`: which hold the weights, if not the usual ones; `pairs`: kept ones of a measured selection, if config.json does not list them.
    """
    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text())
    if config.get("model_type") != "llama":
        raise SystemExit(f'{folder / "config.json"}: got model_type "{config.get("model_type")}", expected "llama"')
    found = {}
    for name in files or weight_files(folder):
        found.update(load_file(folder / name))
    llama = LlamaConfig(**{key: value for key, value in config.items() if key not in ("RoPE", "SVD", "mla")})
    model = LlamaForCausalLM(llama)
    if "SVD" in config:
        convert(model, config, found, pairs)
    missing, unexpected = model.load_state_dict(found, strict=False)
    missing = [name for name in missing if not (name == "lm_head.weight" and llama.tie_word_embeddings)]
    if missing or unexpected:
        raise SystemExit(f"{folder}: expected {missing[:3]} and did not find them; found {unexpected[:3]}, which this model does not have")
    return model.float()


def convert(model, config, names, pairs):
    """Gives each layer the latent attention whose tensors have these names."""
    layers, llama = model.model.layers, model.config
    ends = lambda *ending: any(name.endswith(ending) for name in names)
    pairs = pairs or kept_pairs(config, len(layers), llama.num_key_value_heads, llama.head_dim // 2)
    ranks = config.get("mla", {}).get("layer_low_ranks") or [config["SVD"]["low_rank"]] * len(layers)
    for layer, own, rank in zip(layers, pairs, ranks, strict=True):
        layer.self_attn = LatentAttention(llama, own, rank, ends("W_down_v.weight", "down_v.weight"), ends("kv_proj.up_k.weight"))
