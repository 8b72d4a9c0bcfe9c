"""export.py ENCODER READER FOLDER: what train.py wrote as an adapter (adapter_config.json, adapter_model.safetensors) in FOLDER,
and what it scores for a few pairs (reference.json), which test/golden/reader.test.ts holds the engine to. ENCODER: the published one."""
import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from model import PREFIX, Reader, load

TOLD_BYTES = 4096
PAIRS = [
    ("How high is the monthly rent?", "Lease, Rent and payment: The monthly rent is 840 euros."),
    ("How high is the monthly rent?", "Lease, Deposit: Cats and birds need no permission."),
    ("May I keep a parrot?", "Lease, Animals: Cats and birds need no permission."),
    ("Who repairs the lift?", "Lease, Rent and payment: The monthly rent is 840 euros."),
    ("When does the last boat leave?", "Timetable: Boats leave at 9.15, 12.40 and 18.05; on Sundays the first falls out."),
]


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
def reference(encoder, reader, rank):
    tokenizer = Tokenizer.from_file(str(pathlib.Path(encoder) / "tokenizer.json"))
    tokenizer.no_padding()
    model = Reader(encoder, rank)
    load(model, reader)
    pairs = []
    for question, statement in PAIRS:
        one = tokenizer.encode(question, statement)
        ids, types = torch.tensor([one.ids]), torch.tensor([one.type_ids])
        score = model(ids, types, torch.ones_like(ids, dtype=torch.bool)).item()
        pairs.append({"question": question, "statement": statement, "tokens": one.ids, "score": round(score, 5)})
    return pairs


def main():
    encoder, reader, folder = sys.argv[1:]
    tensors = load_file(reader)
    rank = next(value.shape[0] for name, value in tensors.items() if name.endswith(".lora_A.weight"))
    settings = {
        "peft_type": "LORA",
        "task_type": "SEQ_CLS",
        "base_model_name_or_path": "sentence-transformers/all-MiniLM-L6-v2",
        # Of the published weights, and of the same in 8 bits (resources/encoder); test/golden/encoder.test.ts notices when it is wrong.
        "base_checksum": [checksum(encoder, tensors), "8df4f36d86efbb70"],
        "r": rank,
        "lora_alpha": rank,
    }
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(reader, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps(settings, indent=2) + "\n")
    (folder / "reference.json").write_text(json.dumps(reference(encoder, reader, rank), indent=2) + "\n")


main()
