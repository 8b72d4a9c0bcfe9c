"""The reader: all-MiniLM-L6-v2 with low-rank adapters (Hu et al. 2021) and a head of one score.

    score = classifier . tanh(pooler x[0]) + bias        x: last states of "question [SEP] what it stands under: statement"

Trained are the adapters of every matrix of the six layers, all norms of the layers, the two vectors of token types, and the head.
The sum of a matrix and its adapter is taken once a step, so the rank costs nothing for each token.
"""
import json
import math
import pathlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file

PREFIX = "base_model.model."
GROUP = 64


def encoder_weights(folder):
    """The weights of the encoder as fp32: as published, or in the box (8 bits in groups of 64, resources/encoder)."""
    raw = load_file(pathlib.Path(folder) / "model.safetensors")
    weights = {}
    for name, value in raw.items():
        stem = name.removesuffix(".weight")
        if f"{stem}.scales" in raw and name.endswith(".weight"):
            codes = value.contiguous().view(torch.uint8).float().view(value.shape[0], -1, GROUP)
            value = (codes * raw[f"{stem}.scales"].float()[..., None] + raw[f"{stem}.biases"].float()[..., None]).flatten(1)
        if not name.endswith((".scales", ".biases", "position_ids")) and not name.startswith("pooler"):
            weights[name] = value.float()
    return weights


class Adapted(nn.Module):
    """W x + B A x; A [rank, in], B [out, rank], which begins at zero."""

    def __init__(self, weight, bias, rank):
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.a = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.b = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, x):
        return F.linear(x, self.weight + self.b @ self.a, self.bias)


class Norm(nn.Module):
    def __init__(self, weights, name, eps):
        super().__init__()
        self.weight = nn.Parameter(weights[f"{name}.weight"].clone())
        self.bias = nn.Parameter(weights[f"{name}.bias"].clone())
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class Layer(nn.Module):
    def __init__(self, weights, name, rank, heads, eps):
        super().__init__()
        adapted = lambda part: Adapted(weights[f"{name}{part}.weight"], weights[f"{name}{part}.bias"], rank)
        self.query, self.key, self.value = (adapted(f"attention.self.{part}") for part in ("query", "key", "value"))
        self.out, self.up, self.down = adapted("attention.output.dense"), adapted("intermediate.dense"), adapted("output.dense")
        self.after_attention = Norm(weights, f"{name}attention.output.LayerNorm", eps)
        self.after_all = Norm(weights, f"{name}output.LayerNorm", eps)
        self.heads = heads

    def forward(self, x, mask):
        split = lambda y: y.view(*y.shape[:2], self.heads, -1).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(split(self.query(x)), split(self.key(x)), split(self.value(x)), attn_mask=mask)
        x = self.after_attention(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return self.after_all(x + self.down(F.gelu(self.up(x))))


# Names of the published model's tensors, by those of the modules above.
PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "up": "intermediate.dense",
    "down": "output.dense",
    "after_attention": "attention.output.LayerNorm",
    "after_all": "output.LayerNorm",
}


class Reader(nn.Module):
    def __init__(self, folder, rank):
        super().__init__()
        config = json.loads((pathlib.Path(folder) / "config.json").read_text())
        weights, size, eps = encoder_weights(folder), config["hidden_size"], config["layer_norm_eps"]
        self.register_buffer("words", weights["embeddings.word_embeddings.weight"])
        self.register_buffer("positions", weights["embeddings.position_embeddings.weight"])
        self.register_buffer("norm", weights["embeddings.LayerNorm.weight"])
        self.register_buffer("norm_bias", weights["embeddings.LayerNorm.bias"])
        self.types = nn.Parameter(weights["embeddings.token_type_embeddings.weight"].clone())
        self.layers = nn.ModuleList(
            Layer(weights, f"encoder.layer.{at}.", rank, config["num_attention_heads"], eps) for at in range(config["num_hidden_layers"])
        )
        self.pooler = nn.Linear(size, size)
        self.classifier = nn.Linear(size, 1)
        nn.init.eye_(self.pooler.weight)
        nn.init.zeros_(self.pooler.bias)
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)
        self.eps = eps

    def states(self, ids, types, present):
        """[pairs, tokens] -> [pairs, tokens, size]"""
        x = F.embedding(ids, self.words) + self.positions[: ids.shape[1]] + F.embedding(types, self.types)
        x = F.layer_norm(x, self.norm.shape, self.norm, self.norm_bias, self.eps)
        mask = present[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def forward(self, ids, types, present):
        """[pairs, tokens] -> [pairs]"""
        first = self.states(ids, types, present)[:, 0]
        return self.classifier(torch.tanh(self.pooler(first))).squeeze(-1)


def published(state):
    """The trained numbers by the names that PEFT gives them."""
    out = {}
    for name, value in state.items():
        if name.startswith("layers."):
            _, at, part, kind = name.split(".")
            kind = {"a": "lora_A.weight", "b": "lora_B.weight"}.get(kind, kind)
            name = f"encoder.layer.{at}.{PARTS[part]}.{kind}"
        elif name.startswith("pooler."):
            name = name.replace("pooler.", "pooler.dense.")
        elif name == "types":
            name = "embeddings.token_type_embeddings.weight"
        out[PREFIX + name] = value
    return out


def trained(model):
    return {name: value.detach() for name, value in model.named_parameters()}


def load(model, path):
    """Trained numbers as export.py and train.py write them (adapter_model.safetensors), of this rank or a lower one: what is left of A stays as it began, of B zero."""
    file = load_file(path)
    for (own, value), name in zip(trained(model).items(), published(trained(model))):
        given = file[name].float()
        value[tuple(slice(size) for size in given.shape)] = given
