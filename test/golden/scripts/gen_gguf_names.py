"""Tensor names of GGUF files as gguf-py gives them: gguf_models/names.json, {architecture: {name in the checkpoint: name in the file}}.

The renames that llama.cpp's converter does before it asks gguf-py are done here: dt_bias, expert_bias, experts merged into
one tensor a layer, the drafting head as one more block. `{bid}` stands for the number of the layer."""
import json
import os
import re
import struct
import sys

import gguf
from gguf import MODEL_ARCH, MODEL_TENSOR, TENSOR_NAMES

CASES = {
    "bert": (MODEL_ARCH.BERT, ["bert/tiny/model.safetensors"]),
    "lfm2": (MODEL_ARCH.LFM2, ["lfm2/no_adjust/model.safetensors"]),
    "lfm2moe": (MODEL_ARCH.LFM2MOE, ["lfm2_moe/top4/model.safetensors"]),
    "qwen2": (MODEL_ARCH.QWEN2, ["qwen2/biases_tied/model.safetensors"]),
    "qwen35": (MODEL_ARCH.QWEN35, ["qwen3_5/dense_gqa_mixed/model.safetensors", "qwen3_5_mtp/dense_tied/mtp.safetensors"]),
    "qwen35moe": (MODEL_ARCH.QWEN35MOE, ["qwen3_5_moe/top3/model_per_expert.safetensors"]),
    "qwen3next": (MODEL_ARCH.QWEN3NEXT, ["qwen3_5_moe/top3/model_per_expert.safetensors"]),
}
DRAFTING = {
    "mtp.fc.weight": MODEL_TENSOR.NEXTN_EH_PROJ,
    "mtp.pre_fc_norm_embedding.weight": MODEL_TENSOR.NEXTN_ENORM,
    "mtp.pre_fc_norm_hidden.weight": MODEL_TENSOR.NEXTN_HNORM,
    "mtp.norm.weight": MODEL_TENSOR.NEXTN_SHARED_HEAD_NORM,
}
# Qwen3-Next has its projections grouped; the golden case stores them apart.
GROUPED = {"in_proj_a": "in_proj_ba", "in_proj_b": "in_proj_ba"}


def names_in(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    return [k for k in header if k != "__metadata__"]


def pattern(name):
    name = re.sub(r"experts\.\d+\.", "experts.{xid}.", name.replace("model.language_model.", "model."))
    return re.sub(r"\.(layers?)\.\d+\.", r".\1.{bid}.", name)


def converted(name, table, arch):
    """What the converter asks for, and the answer."""
    if name in DRAFTING:
        return TENSOR_NAMES[DRAFTING[name]] + ".weight"
    asked = re.sub(r"^mtp\.layers\.0\.", "model.layers.0.", name)
    asked = asked.replace("model.language_model.", "model.").replace("linear_attn.dt_bias", "linear_attn.dt_proj.bias")
    asked = asked.replace("feed_forward.expert_bias", "feed_forward.expert_bias.bias")
    asked = re.sub(r"experts\.\d+\.", "experts.", asked)
    if "feed_forward.experts" in asked:
        asked = asked.removeprefix("model.")
    if arch == "qwen3next":
        asked = re.sub("in_proj_[ab]", lambda m: GROUPED[m[0]], asked)
    found = table.get_name(asked, try_suffixes=(".weight", ".bias"))
    assert found, (arch, name, asked)
    return re.sub(r"^blk\.\d+\.", "blk.{bid}.", found)


def generate(golden):
    out = {}
    for arch, (number, files) in CASES.items():
        table = gguf.get_tensor_name_map(number, 64)
        names = [name for file in files for name in names_in(os.path.join(golden, file))]
        out[arch] = {pattern(name): converted(name, table, arch) for name in sorted(names)}
    with open(os.path.join(golden, "gguf_models", "names.json"), "w") as f:
        json.dump(out, f, indent=1)
        f.write("\n")


if __name__ == "__main__":
    generate(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
