"""train.py CONVERTED TEXTS[:SHARE]... --out OUT [--original MODEL] [--only attention] [--steps 12000] [--rows 512] [--length 2048]

Trains a model that was converted to latent attention on texts, and writes it to OUT in the same layout. CONVERTED: a folder of `longhand
convert --mla`; TEXTS: a file or a folder with texts, or lines of JSON with "text".

The recipe is the paper's (MHA2MLA, arXiv 2502.14837): all parameters, cross-entropy on texts like those of the original's own training,
AdamW, warm-up for a tenth of the steps, a constant rate, and in the last sixth of them down to zero by a square root. With --original the model
learns the predictions of the original instead of the texts' own tokens, which takes far less text.

A training that was stopped goes on when the same command is given again.
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import signal
import time

import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file

from model import load, weight_files
from texts import Mix, Source, tokenised

WARM_UP, DECAY = 1 / 10, 1 / 6  # shares of the steps
BETAS, CLIP = (0.9, 0.95), 1.0


def asked():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("converted", type=pathlib.Path)
    parser.add_argument("texts", nargs="+", metavar="TEXTS[:SHARE]")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--original", type=pathlib.Path, help="the model before its conversion, whose predictions are learnt")
    parser.add_argument("--only", choices=["attention"], help="leave all other parameters as they are")
    parser.add_argument("--steps", type=int, default=12_000)
    parser.add_argument("--rows", type=int, default=512, help="of a step")
    parser.add_argument("--at-once", type=int, default=8, help="rows that are computed at a time: by memory")
    parser.add_argument("--length", type=int, default=2048, help="tokens of a row")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--save-every", type=float, default=600, help="seconds")
    parser.add_argument("--check-every", type=int, default=200, help="steps between measurements on rows that are held out")
    args = parser.parse_args()
    for folder in filter(None, (args.converted, args.original)):
        if not (folder / "config.json").exists():
            parser.error(f"{folder}: expected a folder with config.json and safetensors")
    if args.out.exists():
        parser.error(f"--out: {args.out} exists already")
    if args.rows % args.at_once:
        parser.error(f"--rows: got {args.rows}, expected a multiple of --at-once {args.at_once}")
    return args


def rate_at(step, steps):
    """Share of the full rate."""
    warm, decay = max(1, steps * WARM_UP), max(1, steps * DECAY)
    left = steps - step
    return min(1.0, (step + 1) / warm) * (1.0 if left > decay else 1 - math.sqrt(1 - left / decay))


def halved(model):
    """A model that only predicts, its weights in bf16. The frequencies of its positions have to stay in fp32."""
    for parameter in model.parameters():
        parameter.data = parameter.data.bfloat16()
    return model.eval().requires_grad_(False)


def loss_of(model, original, rows):
    """Cross-entropy with the texts, or divergence from the original: mean over the tokens, in nats."""
    with torch.autocast(rows.device.type, torch.bfloat16):
        new = model(input_ids=rows, use_cache=False).logits[:, :-1].float()
    if original is None:
        return F.cross_entropy(new.flatten(0, 1), rows[:, 1:].flatten())
    with torch.no_grad(), torch.autocast(rows.device.type, torch.bfloat16):
        old = original(input_ids=rows, use_cache=False).logits[:, :-1].float()
    new, old = new.log_softmax(-1).flatten(0, 1), old.log_softmax(-1).flatten(0, 1)
    return F.kl_div(new, old, reduction="batchmean", log_target=True)


@torch.no_grad()
def measured(model, original, held, at_once):
    """Of the rows that are held out -> perplexity, and the divergence from the original, if there is one."""
    means = lambda against: sum(float(loss_of(model, against, some)) * len(some) for some in held.split(at_once)) / len(held)
    found = {"perplexity": round(math.exp(means(None)), 3)}
    return {**found, "kld": round(means(original), 4)} if original is not None else found


def key_of(args):
    """What a training that is continued has to have in common with the one that was begun."""
    digest = hashlib.sha256()
    for name in weight_files(args.converted):
        with open(args.converted / name, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    named = ("texts", "only", "steps", "rows", "length", "rate", "seed")
    return {"weights": digest.hexdigest(), "original": str(args.original), **{name: getattr(args, name) for name in named}}


def sources_of(args, work, end):
    """-> the rows of all texts, in their shares"""
    sources, shares = [], []
    for number, given in enumerate(args.texts):
        path, share = re.fullmatch(r"(.+?)(?::(\d*\.?\d+))?", given).groups()
        tokens = tokenised(path, args.converted, end, work / f"tokens.{number}.bin")
        sources.append(Source(path, tokens, args.length, args.seed))
        shares.append(float(share or 1))
        print(f"{path}: {len(tokens):,} tokens, {sources[-1].count:,} rows and {sources[-1].held} held out", flush=True)
    return Mix(sources, shares, args.seed)


def stored(path, state):
    """All of it or nothing."""
    with open(f"{path}.new", "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)


def write(model, args, card):
    """The weights under the names, and in the types, of the files they came from; what else is in the folder, but no card of before."""
    part = args.out.with_name(f"{args.out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    weights = model.state_dict()
    for name in weight_files(args.converted):
        with safe_open(args.converted / name, "pt") as file:
            types = {key: file.get_tensor(key).dtype for key in file.keys()}
        save_file({key: weights[key].to(kind).cpu().contiguous() for key, kind in types.items()}, part / name, metadata={"format": "pt"})
    for one in args.converted.iterdir():
        if one.is_file() and one.suffix != ".safetensors" and one.name != "quality.json":
            shutil.copy(one, part)
    (part / "recovery.json").write_text(json.dumps(card, indent=2) + "\n")
    os.replace(part, args.out)


class Training:
    """Its state is all that a continued training needs, so that it takes the same steps as one that was never stopped."""

    def __init__(self, args):
        self.args, self.key = args, key_of(args)
        self.work = args.out.with_name(f"{args.out.name}.training")
        state = self.opened()
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = load(args.converted).to(self.device)
        self.original = halved(load(args.original).to(self.device)) if args.original else None
        vocabularies = [one.config.vocab_size for one in (self.model, self.original) if one is not None]
        if len(set(vocabularies)) > 1:
            raise SystemExit(f"--original: got {vocabularies[1]} tokens, expected the {vocabularies[0]} of {args.converted}")
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(args.only is None or ".self_attn." in name)
        self.trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimiser = torch.optim.AdamW(self.trained, lr=args.rate, betas=BETAS, weight_decay=0.0, fused=True)
        end = self.model.config.eos_token_id
        if end is None:
            raise SystemExit(f'{args.converted}: its config.json has no "eos_token_id", which ends each text')
        self.mix = sources_of(args, self.work, end[0] if isinstance(end, list) else end)
        self.held = torch.from_numpy(self.mix.held_out()).to(self.device)
        self.step, self.seconds, self.checks = 0, 0.0, []
        if state:
            self.model.load_state_dict(state["model"], strict=False)
            self.optimiser.load_state_dict(state["optimiser"])
            self.step, self.seconds, self.checks, self.mix.taken = (state[name] for name in ("step", "seconds", "checks", "taken"))
        self.began = time.time() - self.seconds

    def opened(self):
        """The state to go on from, if this training was begun."""
        path = self.work / "state.pt"
        if not path.exists():
            shutil.rmtree(self.work, ignore_errors=True)
            self.work.mkdir(parents=True)
            return None
        state = torch.load(path, weights_only=True)
        other = [name for name in self.key if state["key"].get(name) != self.key[name]]
        if other:
            raise SystemExit(f"{self.work} is a training with other {', '.join(other)}: give the same command again, or remove that folder")
        print(f"goes on at step {state['step']}", flush=True)
        return state

    def keep(self):
        tied = self.model.config.tie_word_embeddings
        model = {name: value for name, value in self.model.state_dict().items() if not (tied and name == "lm_head.weight")}
        facts = {"step": self.step, "seconds": time.time() - self.began, "checks": self.checks, "taken": self.mix.taken}
        stored(self.work / "state.pt", {"key": self.key, "model": model, "optimiser": self.optimiser.state_dict(), **facts})

    def check(self):
        found = measured(self.model, self.original, self.held, self.args.at_once)
        self.checks.append({"step": self.step, "tokens": self.step * self.args.rows * self.args.length, **found})
        print(f"  held out: {self.checks[-1]}", flush=True)

    def advance(self):
        """One step. -> the loss before it, and the norm of its gradient"""
        args = self.args
        for group in self.optimiser.param_groups:
            group["lr"] = args.rate * rate_at(self.step, args.steps)
        rows, loss = torch.from_numpy(self.mix.rows(self.step, args.rows)).to(self.device), 0.0
        for some in rows.split(args.at_once):
            part = loss_of(self.model, self.original, some) * (len(some) / args.rows)
            part.backward()
            loss += float(part.detach())
        norm = float(torch.nn.utils.clip_grad_norm_(self.trained, CLIP))
        if not math.isfinite(loss + norm):
            raise SystemExit(f"step {self.step}: the loss is {loss} and the norm of its gradient {norm}: try a smaller --rate")
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.step += 1
        return loss, norm

    def run(self, stops):
        args, saved = self.args, time.time()
        if not self.checks:
            self.check()
        while self.step < args.steps:
            loss, norm = self.advance()
            if self.step % 10 == 0 or self.step == args.steps:
                print(f"step {self.step} of {args.steps}, loss {loss:.4f}, norm {norm:.2f}, {time.time() - self.began:.0f} s", flush=True)
            if self.step % args.check_every == 0 or self.step == args.steps:
                self.check()
            if stops or time.time() - saved > args.save_every:
                self.keep()
                saved = time.time()
            if stops:
                raise SystemExit(f"stopped at step {self.step}; the same command goes on")
        recipe = {name: value for name, value in self.key.items() if name != "weights"}
        write(self.model, args, {"made_from": str(args.converted), **recipe, "seconds": round(time.time() - self.began), "held_out": self.checks})
        shutil.rmtree(self.work)


def main():
    stops = []
    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, lambda *_: stops.append(True))
    Training(asked()).run(stops)


if __name__ == "__main__":
    main()
