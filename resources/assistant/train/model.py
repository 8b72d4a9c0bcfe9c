"""SmolLM2 (the Llama architecture) from a GGUF file, with low-rank adapters on every matrix of its layers, for training on a CPU.

A row is a prefix and branches: every branch sees the prefix and itself, and stands at the positions that follow the prefix. Six questions
about the same passages so cost the passages once, and each is exactly the conversation that the app would send.
"""
import math

import torch
import torch.nn.functional as F
from gguf import GGUFReader, dequantize
from torch import nn

MATRICES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
            "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}


def unturned(weight, heads):
    """GGUF holds the rows of q and k in pairs for rotation of neighbours; here the halves of a head turn together."""
    out, width = weight.shape
    return weight.reshape(heads, out // heads // 2, 2, width).swapaxes(1, 2).reshape(out, width)


class Weights:
    def __init__(self, path):
        reader = GGUFReader(path)
        number = lambda key: int(reader.fields[f"llama.{key}"].parts[-1][0])
        self.layers, self.width = number("block_count"), number("embedding_length")
        self.heads, self.kv_heads = number("attention.head_count"), number("attention.head_count_kv")
        self.theta = float(reader.fields["llama.rope.freq_base"].parts[-1][0])
        self.eps = float(reader.fields["llama.attention.layer_norm_rms_epsilon"].parts[-1][0])
        self.tensors = {t.name: t for t in reader.tensors}

    def __getitem__(self, name):
        t = self.tensors[name]
        weight = dequantize(t.data, t.tensor_type).reshape(tuple(reversed(t.shape.tolist())))
        if name.endswith(("attn_q.weight", "attn_k.weight")):
            weight = unturned(weight, self.heads if "attn_q" in name else self.kv_heads)
        return torch.from_numpy(weight.copy())


class Adapted(nn.Module):
    """x W' + (alpha / r) x A' B', W fixed."""

    def __init__(self, weight, rank, alpha, dtype):
        super().__init__()
        self.register_buffer("weight", weight.to(dtype), persistent=False)
        self.a = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.b = nn.Parameter(torch.zeros(weight.shape[0], rank))
        self.scale = alpha / rank

    def forward(self, x):
        low = F.linear(F.linear(x, self.a.to(x.dtype)), (self.b * self.scale).to(x.dtype))
        return F.linear(x, self.weight) + low


class Norm(nn.Module):
    def __init__(self, weight, eps):
        super().__init__()
        self.register_buffer("weight", weight, persistent=False)
        self.eps = eps

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight).to(x.dtype)


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Layer(nn.Module):
    def __init__(self, weights, number, rank, alpha, dtype):
        super().__init__()
        self.heads, self.kv_heads = weights.heads, weights.kv_heads
        block = lambda name: weights[f"blk.{number}.{name}.weight"]
        self.norm, self.mlp_norm = Norm(block("attn_norm"), weights.eps), Norm(block("ffn_norm"), weights.eps)
        self.matrices = nn.ModuleDict({name.split(".")[1]: Adapted(block(of), rank, alpha, dtype) for name, of in MATRICES.items()})

    def forward(self, x, cos, sin, mask):
        m, tokens = self.matrices, x.shape[0]
        h = self.norm(x)
        q = rotated(m["q_proj"](h).view(tokens, self.heads, -1), cos, sin)
        k = rotated(m["k_proj"](h).view(tokens, self.kv_heads, -1), cos, sin)
        v = m["v_proj"](h).view(tokens, self.kv_heads, -1)
        groups = self.heads // self.kv_heads
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        # Written out: in bfloat16 on a CPU the fused attention takes 1.7 times as long.
        scores = (q * q.shape[-1] ** -0.5).transpose(0, 1) @ k.permute(1, 2, 0) + mask
        seen = torch.softmax(scores, -1) @ v.transpose(0, 1)
        x = x + m["o_proj"](seen.transpose(0, 1).reshape(tokens, -1))
        h = self.mlp_norm(x)
        return x + m["down_proj"](F.silu(m["gate_proj"](h)) * m["up_proj"](h))


class Model(nn.Module):
    def __init__(self, path, rank=32, alpha=32, dtype=torch.bfloat16):
        super().__init__()
        weights = Weights(path)
        self.dtype = dtype
        self.register_buffer("embedding", weights["token_embd.weight"].to(dtype), persistent=False)
        self.layers = nn.ModuleList(Layer(weights, n, rank, alpha, dtype) for n in range(weights.layers))
        self.norm = Norm(weights["output_norm.weight"], weights.eps)
        width = weights.width // weights.heads
        frequency = weights.theta ** (-torch.arange(0, width, 2).float() / width)
        turn = torch.arange(8192).float()[:, None] * frequency
        self.register_buffer("cos", torch.cat((turn.cos(), turn.cos()), -1), persistent=False)
        self.register_buffer("sin", torch.cat((turn.sin(), turn.sin()), -1), persistent=False)

    def states(self, ids, positions, mask):
        cos, sin = (table[positions][:, None].to(self.dtype) for table in (self.cos, self.sin))
        x = self.embedding[ids]
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        return self.norm(x)

    def loss(self, row):
        """Sum of weighted cross-entropies over what the model has to say, and the sum of weights."""
        states = self.states(row.ids, row.positions, row.mask(self.dtype))
        at = row.weights.nonzero().squeeze(-1)
        logits = F.linear(states[row.parents[at]], self.embedding).float()
        weights = row.weights[at]
        return (F.cross_entropy(logits, row.ids[at], reduction="none") * weights).sum(), weights.sum()


class Row:
    """Tokens of a prefix and its branches. `parents` is the token before each one in its own branch."""

    def __init__(self, prefix, branches):
        """prefix [(id, weight)], branches [[(id, weight)], ..]"""
        items, positions, parents, branch = list(prefix), list(range(len(prefix))), [max(0, n - 1) for n in range(len(prefix))], [0] * len(prefix)
        for number, tokens in enumerate(branches, 1):
            start = len(items)
            items += tokens
            positions += range(len(prefix), len(prefix) + len(tokens))
            parents += [len(prefix) - 1 if n == 0 else start + n - 1 for n in range(len(tokens))]
            branch += [number] * len(tokens)
        self.ids = torch.tensor([one for one, _ in items])
        self.weights = torch.tensor([float(w) for _, w in items])
        self.positions, self.parents, self.branch = torch.tensor(positions), torch.tensor(parents), torch.tensor(branch)

    def mask(self, dtype):
        order = torch.arange(len(self.ids))
        before = order[None] <= order[:, None]
        same = (self.branch[None] == self.branch[:, None]) | (self.branch[None] == 0)
        return torch.zeros(before.shape, dtype=dtype).masked_fill(~(before & same), float("-inf"))
