"""train.py ENCODER QUESTIONS OUT [--seconds 280] [--tries FILE] [--device cuda] [--part 1] [--from FILE]

ENCODER: the folder of all-MiniLM-L6-v2, as published or in the box; QUESTIONS: what pack.py wrote; OUT: a folder for the trained numbers.

A question and its statements are one choice: softmax over the scores, with 0 for "none of them". A question with an answer counts a second
time, at half weight, without the statements that answer it: then none of the others may win. Each score alone is also trained to say
whether its statement answers. The other statements are those nearest by the encoder's own vectors among the same document, and those
around the answer. Several settings are tried shortly, the best one then has the rest of the time; `held` documents are never trained on.
"""
import argparse
import io
import json
import lzma
import math
import pathlib
import time

BEGUN = time.time()

import numpy
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from model import Reader, load, published, trained

CLS, SEP = 101, 102
NEAREST, ABOUT, SAYS = 16, 12, 3
OTHERS, READ = 7, 12
PARTS, WITHOUT, ALONE = 4, 0.5, 0.3
WARM_UP, TOLD, DRAWN = 0.05, 100, 50_000
EACH_TRY = 0.09
SPARE = 12
TRIES = [
    {"name": "a", "rank": 128, "rate": 4e-4, "questions": 128},
    {"name": "b", "rank": 128, "rate": 8e-4, "questions": 128},
    {"name": "c", "rank": 128, "rate": 1.6e-3, "questions": 128},
]


def tell(*words):
    print(f"{time.time() - BEGUN:6.1f} s", *words, flush=True)


def padded(flat, ends, most):
    """Lists of numbers as rows of the same length, -1 where one ends."""
    rows = numpy.full((len(ends) - 1, most), -1, dtype=numpy.int64)
    for at in range(len(ends) - 1):
        own = flat[ends[at] : ends[at + 1]][:most]
        rows[at, : len(own)] = own
    return rows


class Questions:
    """All questions on the device, as rows of numbers of statements."""

    def __init__(self, path, device, part):
        file = numpy.load(io.BytesIO(lzma.decompress(pathlib.Path(path).read_bytes())))
        to = lambda values: torch.as_tensor(values, device=device)
        self.device = device
        self.statements, self.statement_ends = to(file["statements"].astype(numpy.int64)), to(file["statement_ends"].astype(numpy.int64))
        self.texts, self.ends = to(file["questions"].astype(numpy.int64)), to(file["question_ends"].astype(numpy.int64))
        self.says = to(padded(file["says"], file["says_ends"], 8))
        self.about = to(padded(file["about"], file["about_ends"], ABOUT))
        self.libraries, self.library = file["libraries"], file["library"]
        self.share, self.held, self.source = file["share"], file["held"], file["source"]
        self.sources, self.answerable = list(file["sources"]), to(file["answerable"])
        self.count = len(self.held)
        chance = numpy.random.default_rng(1).random(len(self.libraries))
        # A processor has no time for all: then of some libraries all questions.
        self.used = chance[self.library] < part
        self.nearest = None

    def pairs(self, questions, statements):
        """-> ids, types, present: [pairs, tokens]"""
        q0, s0 = self.ends[questions], self.statement_ends[statements]
        ql, sl = self.ends[questions + 1] - q0, self.statement_ends[statements + 1] - s0
        longest = math.ceil((int((ql + sl).max()) + 3) / 8) * 8
        at = torch.arange(longest, device=self.device)[None]
        first, second = (ql + 1)[:, None], (ql + sl + 2)[:, None]
        in_question = self.texts[(q0[:, None] + at - 1).clamp(0, len(self.texts) - 1)]
        in_statement = self.statements[(s0[:, None] + at - first - 1).clamp(0, len(self.statements) - 1)]
        ids = torch.where(at < first, in_question, in_statement)
        ids = torch.where((at == first) | (at == second), SEP, ids)
        ids = torch.where(at == 0, CLS, torch.where(at > second, 0, ids))
        return ids, (at > first).long() * (at <= second), at <= second

    def alone(self, ends, flat, some):
        starts = ends[some]
        lengths = ends[some + 1] - starts
        at = torch.arange(math.ceil((int(lengths.max()) + 2) / 8) * 8, device=self.device)[None]
        last = (lengths + 1)[:, None]
        ids = flat[(starts[:, None] + at - 1).clamp(0, len(flat) - 1)]
        ids = torch.where(at == 0, CLS, torch.where(at == last, SEP, torch.where(at > last, 0, ids)))
        return ids, torch.zeros_like(ids), at <= last

    @torch.no_grad()
    def vectors(self, model, ends, flat, which, size):
        """[texts, size of the encoder], zero where `which` does not name the text."""
        out = torch.zeros(len(which), model.words.shape[1], device=self.device, dtype=torch.float16)
        named = torch.as_tensor(which.nonzero()[0], device=self.device)
        order = named[(ends[named + 1] - ends[named]).argsort()]
        for start in range(0, len(order), size):
            some = order[start : start + size]
            ids, types, present = self.alone(ends, flat, some)
            with casting(self.device):
                states = model.states(ids, types, present).float()
            mean = (states * present[..., None]).sum(1) / present.sum(1, keepdim=True)
            out[some] = F.normalize(mean, dim=1).half()
        return out

    def find(self, model, size):
        """The statements nearest to each question among those of its library, by the vectors of the encoder alone."""
        libraries = numpy.unique(self.library[self.used])
        within = numpy.zeros(len(self.statement_ends) - 1, dtype=bool)
        for library in libraries:
            within[self.libraries[library] : self.libraries[library + 1]] = True
        said = self.vectors(model, self.statement_ends, self.statements, within, size)
        asked = self.vectors(model, self.ends, self.texts, self.used, size)
        rows = torch.full((self.count, NEAREST), -1, device=self.device)
        of = torch.as_tensor(self.library, device=self.device)
        for library in libraries:
            low, high = int(self.libraries[library]), int(self.libraries[library + 1])
            mine = (of == int(library)).nonzero().squeeze(1)
            near = asked[mine].float() @ said[low:high].float().T
            some = min(NEAREST, high - low)
            rows[mine, :some] = near.topk(some, dim=1).indices + low
        self.nearest = rows

    def chosen(self, some):
        """-> statements [questions, SAYS + OTHERS], -1 where there are fewer; which of them answer"""
        says, dice = self.says[some], lambda rows: torch.rand(rows.shape, device=self.device)
        right = says.gather(1, (dice(says) - 2.0 * (says < 0)).topk(SAYS, 1).indices)
        # An answer is read beside what was found: two of them, rarely three.
        near, about = self.nearest[some], self.about[some]
        rank = torch.arange(near.shape[1], device=self.device) / near.shape[1]
        others = torch.cat([near, about], 1)
        known = (others[:, :, None] == says[:, None, :]).any(2) | (others < 0)
        twice = (about[:, :, None] == near[:, None, :]).any(2)
        weight = torch.cat([dice(near) - 0.5 * rank, dice(about) - 2.0 * twice], 1) - 4.0 * known
        top, place = weight.topk(OTHERS, 1)
        wrong = torch.where(top > -1.4, others.gather(1, place), -1)
        return torch.cat([right, wrong], 1)


def casting(device):
    return torch.autocast(device, torch.bfloat16)


def scores_of(model, questions, some, statements):
    """[questions, statements] -> scores, -inf where there is none. Pairs of like length are read together: little is padded."""
    rows, columns = (statements >= 0).nonzero(as_tuple=True)
    asked, said = some[rows], statements[rows, columns]
    lengths = questions.ends[asked + 1] - questions.ends[asked] + questions.statement_ends[said + 1] - questions.statement_ends[said]
    scores = []
    order = lengths.argsort()
    for part in order.chunk(PARTS):
        with casting(questions.device):
            scores.append(model(*questions.pairs(asked[part], said[part])).float())
    out = torch.full(statements.shape, -1e4, device=questions.device)
    return out.index_put((rows[order], columns[order]), torch.cat(scores))


def loss_of(scores, statements, says):
    none = torch.zeros(len(scores), 1, device=scores.device)
    every = lambda some: torch.logsumexp(torch.cat([some, none], 1), 1)
    can, there = says.any(1), statements >= 0
    right, wrong = scores.masked_fill(~says, -1e4), scores.masked_fill(says, -1e4)
    answered = every(scores) - torch.logsumexp(right, 1) + WITHOUT * every(wrong)
    choice = torch.where(can, answered, every(scores)).sum() / (1 + WITHOUT * can).sum()
    alone = F.binary_cross_entropy_with_logits(scores[there], says[there].float())
    return choice + ALONE * alone


@torch.no_grad()
def judged(model, questions, some):
    """Of each question: whether the best of the statements that were found is right, and how sure it is."""
    right, sure = [], []
    for part in some.split(512):
        statements = questions.nearest[part][:, :READ]
        scores = scores_of(model, questions, part, statements)
        chances = torch.softmax(torch.cat([scores, torch.zeros(len(part), 1, device=scores.device)], 1), 1)[:, :-1]
        best = chances.max(1)
        chosen = statements.gather(1, best.indices[:, None])
        right.append((chosen == questions.says[part]).any(1))
        sure.append(best.values**2 / chances.sum(1))
    return torch.cat(right), torch.cat(sure)


def evaluated(model, questions, held):
    """By source: right of the 0.75 that are surest, and how many of those without an answer are less sure than these."""
    if len(held) == 0:
        return 0.0, {}
    model.eval()
    right, sure = judged(model, questions, held)
    sources, can = questions.source[held.cpu().numpy()], questions.answerable[held]
    figures, total = {}, []
    for source in sorted(set(sources.tolist())):
        own = torch.as_tensor(sources == source, device=held.device)
        mine, none = own & can, own & ~can
        if mine.sum() < 20:
            continue
        least = sure[mine].sort(descending=True).values[int(0.75 * int(mine.sum())) - 1]
        answered = mine & (sure >= least)
        one = [round(right[answered].float().mean().item(), 3)]
        if none.sum() >= 10:
            one.append(round((sure[none] < least).float().mean().item(), 3))
        figures[questions.sources[source]] = [int(mine.sum()), *one]
        total += one
    model.train()
    return sum(total) / max(1, len(total)), figures


def weights_of(questions):
    """How often each question is drawn: its share, those of `held` never."""
    share = torch.as_tensor(questions.share * ~questions.held * questions.used).double()
    return share / share.sum()


def fit(setting, encoder, questions, seconds, held, start=None):
    torch.manual_seed(setting.get("seed", 1))
    device = questions.device
    model = Reader(encoder, setting["rank"]).to(device)
    if start:
        load(model, start)
    own = list(model.parameters())
    optimiser = torch.optim.AdamW(own, lr=setting["rate"], weight_decay=0.01, betas=(0.9, 0.98))
    weights, order = weights_of(questions), torch.empty(0, dtype=torch.long)
    begun, losses, read = time.time(), [], 0
    while (done := (time.time() - begun) / seconds) < 1:
        if len(order) < setting["questions"]:
            order = torch.multinomial(weights, DRAWN, replacement=True)
        part, order = order[: setting["questions"]].to(device), order[setting["questions"] :]
        for group in optimiser.param_groups:
            group["lr"] = setting["rate"] * min(1, done / WARM_UP + 0.01) * max(0.01, 0.5 + 0.5 * math.cos(math.pi * done))
        statements = questions.chosen(part)
        says = (statements[:, :, None] == questions.says[part][:, None, :]).any(2) & (statements >= 0)
        loss = loss_of(scores_of(model, questions, part, statements), statements, says)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(own, 1.0)
        optimiser.step()
        losses.append(loss.detach())
        read += len(part)
        if len(losses) % TOLD == 0:
            tell(setting["name"], f"{len(losses)} steps, {read} questions, loss {torch.stack(losses[-TOLD:]).mean().item():.3f}")
    figure, figures = evaluated(model, questions, held)
    tell(setting["name"], f"{len(losses)} steps, {read} questions: {figure:.4f}", json.dumps(figures))
    return model, figure


def save(model, path):
    tensors = {name: value.to(torch.bfloat16).contiguous().cpu() for name, value in published(trained(model)).items()}
    save_file(tensors, path, metadata={"format": "pt"})


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("encoder")
    arguments.add_argument("questions")
    arguments.add_argument("out", type=pathlib.Path)
    arguments.add_argument("--seconds", type=float, default=280)
    arguments.add_argument("--tries", type=pathlib.Path)
    arguments.add_argument("--from", dest="start")
    arguments.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments.add_argument("--part", type=float, default=1)
    wanted = arguments.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    wanted.out.mkdir(parents=True, exist_ok=True)
    questions = Questions(wanted.questions, wanted.device, wanted.part)
    tell(int(questions.used.sum()), "questions on", wanted.device)
    questions.find(Reader(wanted.encoder, 1).to(wanted.device), 2048 if wanted.device == "cuda" else 64)
    tell("nearest found")
    held = torch.as_tensor((questions.held & questions.used).nonzero()[0], device=wanted.device)
    tries = json.loads(wanted.tries.read_text()) if wanted.tries else TRIES
    left = lambda: wanted.seconds - SPARE - (time.time() - BEGUN)
    short = EACH_TRY * left()
    tried = []
    for setting in tries if len(tries) > 1 else []:
        model, figure = fit(setting, wanted.encoder, questions, short, held, wanted.start)
        tried.append((figure, setting))
        save(model, wanted.out / "reader.safetensors")
    setting = max(tried, key=lambda one: one[0])[1] if tried else tries[0]
    tell("the rest of the time:", json.dumps(setting))
    model, _ = fit(setting, wanted.encoder, questions, max(1.0, left()), held, wanted.start)
    save(model, wanted.out / "reader.safetensors")
    tell("saved")


main()
