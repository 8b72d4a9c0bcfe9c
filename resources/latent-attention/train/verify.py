"""verify.py GOLDEN

Checks that this model gives the logits of the reference for every conversion under GOLDEN (test/golden/mha2mla), in both layouts.
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file

from model import load


@torch.no_grad()
def main(golden):
    for folder in sorted(path.parent for path in pathlib.Path(golden).glob("*/expected.json")):
        expected = json.loads((folder / "expected.json").read_text())
        wanted = load_file(folder / "expected.safetensors")
        for file in ("model.safetensors", "model_old_layout.safetensors"):
            if not (folder / file).exists():
                continue
            model = load(folder, files=[file], pairs=wanted["kept_pairs"].tolist() if "kept_pairs" in wanted else None).eval()
            for name, ids in expected["prompts"].items():
                got = model(input_ids=torch.tensor([ids])).logits[0]
                worst = (got - wanted[f"logits.{name}"]).abs().max().item()
                print(f"{folder.name}/{file} {name}: {worst:.1e}")
                if worst > 2e-4:
                    raise SystemExit("differs from the reference")


if __name__ == "__main__":
    main(sys.argv[1])
