"""The reader: all-MiniLM-L6-v2 with low-rank adapters (Hu et al. 2021) and a head of one score.

    score = classifier . tanh(pooler x[0]) + bias        x: last states of "question [SEP] name, headings: statement"

Trained are the adapters of every matrix of the six layers, all norms of the layers, the two vectors of token types, and the head.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file
from transformers import AutoTokenizer, BertModel

RANK = 16


class LowRank(nn.Module):
    """W x + B A x; A [rank, in], B [out, rank], which begins at zero."""

    def __init__(self, base: nn.Linear, rank: int):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b)


class Reader(nn.Module):
    def __init__(self, encoder: str):
        super().__init__()
        none = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        self.bert = BertModel.from_pretrained(encoder, add_pooling_layer=True, **none)
        self.classifier = nn.Linear(self.bert.config.hidden_size, 1)
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)
        nn.init.eye_(self.bert.pooler.dense.weight)
        nn.init.zeros_(self.bert.pooler.dense.bias)
        self.bert.requires_grad_(False)
        self.bert.pooler.requires_grad_(True)
        self.bert.embeddings.token_type_embeddings.requires_grad_(True)
        for layer in self.bert.encoder.layer:
            own = layer.attention.self
            own.query, own.key, own.value = (LowRank(part, RANK) for part in (own.query, own.key, own.value))
            layer.attention.output.dense = LowRank(layer.attention.output.dense, RANK)
            layer.intermediate.dense = LowRank(layer.intermediate.dense, RANK)
            layer.output.dense = LowRank(layer.output.dense, RANK)
            layer.attention.output.LayerNorm.requires_grad_(True)
            layer.output.LayerNorm.requires_grad_(True)

    def forward(self, batch):
        """[pairs, tokens] -> [pairs]."""
        return self.classifier(self.bert(**batch).pooler_output).squeeze(-1)


def tokenizer_of(encoder: str):
    return AutoTokenizer.from_pretrained(encoder)


def pair(tokenizer, question: str, statement: str):
    return tokenizer(question, statement, truncation="longest_first", max_length=128)


PREFIX = "base_model.model."


def load(model: Reader, path: str):
    """Trained numbers, as train.py saved them or as export.py wrote them (adapter_model.safetensors)."""
    if not path.endswith(".safetensors"):
        return model.load_state_dict(torch.load(path), strict=False)
    own = set(trained(model))
    state = {}
    for name, value in load_file(path).items():
        name = name.removeprefix(PREFIX).replace(".lora_A.weight", ".a").replace(".lora_B.weight", ".b")
        state[name if name in own else f"bert.{name}"] = value.float()
    if set(state) != own:
        raise ValueError(f"[load] {path}: {len(own - set(state))} of {len(own)} names are missing")
    return model.load_state_dict(state, strict=False)


def trained(model: Reader) -> dict:
    names = {name for name, value in model.named_parameters() if value.requires_grad}
    return {name: value for name, value in model.state_dict().items() if name in names}
