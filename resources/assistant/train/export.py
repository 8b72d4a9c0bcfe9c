"""Puts trained adapters on the weights and writes the model that ships.

    python export.py MODEL.gguf state.pt OUT.gguf [--type Q5_0] [--embedding Q5_1]
"""
import argparse

import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, dequantize, quantize

from data.prompt import SYSTEM
from model import MATRICES

NAME = "Longhand Assistant"
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n" + SYSTEM +
    "<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def turned(weight, heads):
    """The inverse of model.unturned: rows of q and k as GGUF holds them."""
    out, width = weight.shape
    return weight.reshape(heads, 2, out // heads // 2, width).swapaxes(1, 2).reshape(out, width)


def changes(state, heads, kv_heads, alpha=32):
    """{name in the file: what is added to it}"""
    made = {}
    layers = 1 + max(int(name.split(".")[1]) for name in state)
    for layer in range(layers):
        for name, of in MATRICES.items():
            at = f"layers.{layer}.matrices.{name.split('.')[1]}"
            a, b = state[f"{at}.a"].float(), state[f"{at}.b"].float()
            delta = b @ a * (alpha / a.shape[0])
            if of in ("attn_q", "attn_k"):
                delta = turned(delta, heads if of == "attn_q" else kv_heads)
            made[f"blk.{layer}.{of}.weight"] = delta.numpy()
    return made


def copy_fields(reader, writer):
    own = {"general.name": NAME, "tokenizer.chat_template": TEMPLATE}
    left_out = {"general.architecture", "general.file_type", "general.finetune", "general.basename"}
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
    asked.add_argument("model"), asked.add_argument("state"), asked.add_argument("out")
    asked.add_argument("--type", default="Q5_0"), asked.add_argument("--embedding", default="Q5_1")
    args = asked.parse_args()
    reader = GGUFReader(args.model)
    number = lambda key: int(reader.fields[f"llama.{key}"].parts[-1][0])
    state = torch.load(args.state, weights_only=True)["adapters"] if args.state != "none" else {}
    added = changes(state, number("attention.head_count"), number("attention.head_count_kv")) if state else {}
    writer = GGUFWriter(args.out, "llama")
    copy_fields(reader, writer)
    for tensor in reader.tensors:
        weight = dequantize(tensor.data, tensor.tensor_type).reshape(tuple(reversed(tensor.shape.tolist())))
        if tensor.name in added:
            weight = weight + added[tensor.name]
        kind = "F32" if weight.ndim == 1 else args.embedding if tensor.name == "token_embd.weight" else args.type
        kind = GGMLQuantizationType[kind]
        data = quantize(weight.astype("float32"), kind)
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file(), writer.write_kv_data_to_file(), writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
