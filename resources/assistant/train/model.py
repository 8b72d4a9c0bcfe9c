"""SmolLM2 (the Llama architecture) from a GGUF file, all of its matrices trainable, in the precision in which it ships.

A row holds groups of tokens: a group is a prefix and branches, and every branch sees the prefix and itself, at the positions that follow the
prefix. Six questions about the same passages so cost the passages once, and each is exactly the conversation that the app would send.
"""
import torch
import torch.nn.functional as F
from gguf import GGUFReader, dequantize
from torch import nn

MATRICES = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}


def unturned(weight, heads):
    """GGUF holds the rows of q and k in pairs for rotation of neighbours; here the halves of a head turn together."""
    out, width = weight.shape
    return weight.reshape(heads, out // heads // 2, 2, width).swapaxes(1, 2).reshape(out, width)


def turned(weight, heads):
    """The inverse of `unturned`."""
    out, width = weight.shape
    return weight.reshape(heads, 2, out // heads // 2, width).swapaxes(1, 2).reshape(out, width)


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


def rounded(weight):
    """`weight` as Q4_1 holds it (16 levels between the least and the largest of 32 values, both ends in half precision); gradients pass."""
    blocks = weight.detach().reshape(weight.shape[0], -1, 32)
    least, most = blocks.amin(-1, keepdim=True), blocks.amax(-1, keepdim=True)
    step = (most - least) / 15
    levels = torch.where(step > 0, (blocks - least) / step.clamp_min(1e-20) + 0.5, torch.zeros_like(blocks)).floor().clamp(0, 15)
    held = (levels * step.half().float() + least.half().float()).reshape(weight.shape)
    return weight + (held - weight.detach())


def rotated(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Layer(nn.Module):
    def __init__(self, weights, number):
        super().__init__()
        self.heads, self.kv_heads, self.eps = weights.heads, weights.kv_heads, weights.eps
        block = lambda name: weights[f"blk.{number}.{name}.weight"]
        self.norm, self.mlp_norm = nn.Parameter(block("attn_norm")), nn.Parameter(block("ffn_norm"))
        self.matrices = nn.ParameterDict({name: nn.Parameter(block(of)) for name, of in MATRICES.items()})

    def forward(self, x, cos, sin, mask, quantised):
        m = {name: (rounded(w) if quantised else w).to(x.dtype) for name, w in self.matrices.items()}
        rows, tokens = x.shape[:2]
        heads = lambda y, count: y.view(rows, tokens, count, -1).transpose(1, 2)
        h = normed(x, self.norm, self.eps)
        q = rotated(heads(F.linear(h, m["q"]), self.heads), cos, sin)
        k = rotated(heads(F.linear(h, m["k"]), self.kv_heads), cos, sin)
        v = heads(F.linear(h, m["v"]), self.kv_heads)
        groups = self.heads // self.kv_heads
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + F.linear(seen.transpose(1, 2).reshape(rows, tokens, -1), m["o"])
        h = normed(x, self.mlp_norm, self.eps)
        return x + F.linear(F.silu(F.linear(h, m["gate"])) * F.linear(h, m["up"]), m["down"])


def normed(x, weight, eps):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps) * weight).to(x.dtype)


class Model(nn.Module):
    def __init__(self, path, dtype=torch.bfloat16):
        super().__init__()
        weights = Weights(path)
        self.dtype, self.eps = dtype, weights.eps
        # Not trained: the file keeps the rows of the vocabulary as they are.
        self.register_buffer("embedding", weights["token_embd.weight"].to(dtype), persistent=False)
        self.layers = nn.ModuleList(Layer(weights, n) for n in range(weights.layers))
        self.norm = nn.Parameter(weights["output_norm.weight"])
        width = weights.width // weights.heads
        frequency = weights.theta ** (-torch.arange(0, width, 2).float() / width)
        turn = torch.arange(8192).float()[:, None] * frequency
        self.register_buffer("cos", torch.cat((turn.cos(), turn.cos()), -1), persistent=False)
        self.register_buffer("sin", torch.cat((turn.sin(), turn.sin()), -1), persistent=False)

    def forward(self, ids, positions, group, branch, quantised: bool):
        """Each [rows, tokens] -> states [rows, tokens, width]"""
        cos, sin = (table[positions][:, None].to(self.dtype) for table in (self.cos, self.sin))
        order = torch.arange(ids.shape[1], device=ids.device)
        same = group[:, :, None] == group[:, None, :]
        seen = (branch[:, None, :] == 0) | (branch[:, :, None] == branch[:, None, :])
        mask = (same & seen & (order[None, None, :] <= order[None, :, None]))[:, None]
        x = self.embedding[ids]
        for layer in self.layers:
            x = layer(x, cos, sin, mask, quantised)
        return normed(x, self.norm, self.eps)

    def logits(self, states):
        return F.linear(states, self.embedding)
