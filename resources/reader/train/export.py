"""export.py ENCODER STATE FOLDER: the trained numbers as an adapter (adapter_config.json, adapter_model.safetensors) in FOLDER,
and what it scores for a few pairs (reference.json), which test/golden/reader.test.ts holds the engine to."""
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file

from model import PREFIX, RANK, Reader, pair, tokenizer_of

TOLD_BYTES = 4096
PAIRS = [
    ("How high is the monthly rent?", "Lease, Rent and payment: The monthly rent is 840 euros."),
    ("How high is the monthly rent?", "Lease, Deposit: Cats and birds need no permission."),
    ("May I keep a parrot?", "Lease, Animals: Cats and birds need no permission."),
    ("Who repairs the lift?", "Lease, Rent and payment: The monthly rent is 840 euros."),
    ("When does the last boat leave?", "Timetable: Boats leave at 9.15, 12.40 and 18.05; on Sundays the first falls out."),
]


def adapter_of(state):
    """Names as PEFT writes them, in front of those of the encoder's file; numbers in bf16."""
    out = {}
    for name, value in state.items():
        name = name.removeprefix("bert.")
        for end, peft in ((".a", ".lora_A.weight"), (".b", ".lora_B.weight")):
            name = name.removesuffix(end) + peft if name.endswith(end) else name
        out[PREFIX + name] = value.to(torch.bfloat16).contiguous()
    return out


def checksum(encoder, names):
    """FNV-1a over the beginning of each matrix that changes (native/formats/adapter.h)."""
    base = load_file(pathlib.Path(encoder) / "model.safetensors")
    total = 0xCBF29CE484222325
    for name in sorted(name for name in names if name.endswith(".lora_B.weight")):
        matrix = base[name.removeprefix(PREFIX).removesuffix(".lora_B.weight") + ".weight"]
        for byte in matrix.numpy().tobytes()[:TOLD_BYTES]:
            total = ((total ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{total:016x}"


@torch.no_grad()
def reference(encoder, state):
    model, tokenizer = Reader(encoder), tokenizer_of(encoder)
    rounded = {name: value.to(torch.bfloat16).float() for name, value in state.items()}
    model.load_state_dict(rounded, strict=False)
    model.eval()
    pairs = []
    for question, statement in PAIRS:
        one = pair(tokenizer, question, statement)
        score = model({name: torch.tensor([value]) for name, value in one.items()}).item()
        pairs.append({"question": question, "statement": statement, "tokens": one["input_ids"], "score": round(score, 5)})
    return pairs


def main():
    encoder, state, folder = sys.argv[1:]
    state = torch.load(state)
    tensors = adapter_of(state)
    settings = {
        "peft_type": "LORA",
        "task_type": "SEQ_CLS",
        "base_model_name_or_path": "sentence-transformers/all-MiniLM-L6-v2",
        # Of the published weights, and of the same in 8 bits (resources/encoder); test/golden/encoder.test.ts notices when it is wrong.
        "base_checksum": [checksum(encoder, tensors), "8df4f36d86efbb70"],
        "r": RANK,
        "lora_alpha": RANK,
    }
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    (folder / "adapter_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    (folder / "reference.json").write_text(json.dumps(reference(encoder, state), indent=2) + "\n")


main()
