"""Writes the model that ships from what train.py left.

    python export.py MODEL.gguf OUT_OF_TRAINING model.gguf
"""
import argparse
import lzma
import os

import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter

from data.prompt import TEMPLATE
from model import MATRICES, turned

NAME = "Longhand Assistant"
PARTS = 4  # files that the matrices are in
BYTES = 20  # of a block of 32 weights in Q4_1: scale and least value in half precision, then 16 bytes of two levels each


def blocks(weight):
    """A matrix as Q4_1, as model.rounded sees it."""
    values = weight.reshape(-1, 32)
    least, most = values.min(1, keepdims=True), values.max(1, keepdims=True)
    step = ((most - least) / np.float32(15)).astype(np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        levels = np.where(step > 0, np.floor((values - least) / np.maximum(step, 1e-20) + np.float32(0.5)), 0).clip(0, 15).astype(np.uint8)
    made = np.empty((len(values), BYTES), np.uint8)
    made[:, 0:2], made[:, 2:4] = step.astype("<f2").view(np.uint8), least.astype("<f2").view(np.uint8)
    made[:, 4:] = levels[:, :16] | levels[:, 16:] << 4
    return made.tobytes()


def copy_fields(reader, writer):
    own = {"general.name": NAME, "tokenizer.chat_template": TEMPLATE}
    left_out = {"general.architecture", "general.finetune", "general.basename", "general.organization"}
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in left_out:
            continue
        if key in own:
            writer.add_string(key, own[key])
            continue
        kind, value = field.types[0], field.contents()
        if kind == GGUFValueType.ARRAY:
            writer.add_array(key, value)
        else:
            writer.add_key_value(key, value, kind)


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("model"), asked.add_argument("trained"), asked.add_argument("out")
    args = asked.parse_args()
    reader = GGUFReader(args.model)
    number = lambda key: int(reader.fields[f"llama.{key}"].parts[-1][0])
    heads = {"attn_q": number("attention.head_count"), "attn_k": number("attention.head_count_kv")}
    data = b"".join(lzma.decompress(open(os.path.join(args.trained, f"matrices.{n}.xz"), "rb").read()) for n in range(PARTS))
    norms = torch.load(os.path.join(args.trained, "norms.pt"), weights_only=True)
    made, at = {"output_norm.weight": norms["norm"].numpy()}, 0
    shapes = {t.name: tuple(reversed(t.shape.tolist())) for t in reader.tensors}
    for layer in range(number("block_count")):
        made[f"blk.{layer}.attn_norm.weight"], made[f"blk.{layer}.ffn_norm.weight"] = (norms[f"layers.{layer}.{name}"].numpy() for name in ("norm", "mlp_norm"))
        for of in MATRICES.values():
            rows, columns = shapes[f"blk.{layer}.{of}.weight"]
            size = rows * columns // 32 * BYTES
            part = np.frombuffer(data[at:at + size], np.uint8).reshape(rows, -1)
            # Blocks lie within rows, so rows can change places as they are.
            made[f"blk.{layer}.{of}.weight"] = turned(part, heads[of]) if of in heads else part
            at += size
    if at != len(data):
        raise SystemExit(f"the matrices are {len(data)} bytes, those of {args.model} need {at}")
    writer = GGUFWriter(args.out, "llama")
    copy_fields(reader, writer)
    for tensor in reader.tensors:
        new = made.get(tensor.name, tensor.data)
        writer.add_tensor(tensor.name, np.ascontiguousarray(new), raw_dtype=GGMLQuantizationType(tensor.tensor_type))
    writer.write_header_to_file(), writer.write_kv_data_to_file(), writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
