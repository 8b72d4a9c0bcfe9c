"""pack.py ENCODER OUT SET[:SHARE][:HELD] ...: all questions and statements as tokens, in one file for train.py.

ENCODER: its folder. SET: what statements.ts and sets.py wrote; SHARE: how often its questions are drawn; HELD:
every so many of its documents stays unseen, to choose by. Some questions with an answer get a twin that nothing answers (twins.py).
"""
import json
import lzma
import pathlib
import random
import sys

import numpy
from tokenizers import Tokenizer

from model import encoder_weights
from twins import Kin, Twins

QUESTION, STATEMENT = 40, 120
TWINS = 0.5
# Statements of a document beyond these are left out, if no question is about them.
MOST = 1500


def spread(lists, kind):
    lengths = [len(one) for one in lists]
    flat = numpy.fromiter((value for one in lists for value in one), dtype=kind, count=sum(lengths))
    return flat, numpy.concatenate([[0], numpy.cumsum(lengths)]).astype(numpy.int32)


def kept(library, dice):
    """The library with no more statements than MOST."""
    statements, questions = library["statements"], library["questions"]
    if len(statements) <= MOST:
        return library
    needed = {at for one in questions for at in one["says"] + one["about"]}
    near = {at + by for at in needed for by in (-2, -1, 1, 2) if 0 <= at + by < len(statements)}
    rest = [at for at in range(len(statements)) if at not in needed | near]
    order = sorted(needed | near | set(dice.sample(rest, min(len(rest), MOST))))
    place = {at: new for new, at in enumerate(order)}
    moved = [{**one, "says": [place[at] for at in one["says"]], "about": [place[at] for at in one["about"]]} for one in questions]
    return {"statements": [statements[at] for at in order], "questions": moved}


def main():
    encoder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    dice = random.Random(7)
    tokens = lambda texts, most: [one.ids[:most] for one in tokenizer.encode_batch(texts, add_special_tokens=False)]
    twins = Twins(dice, Kin(tokenizer.get_vocab(), encoder_weights(encoder)["embeddings.word_embeddings.weight"]))
    statements, libraries, questions, texts = [], [0], [], []
    for named in sys.argv[3:]:
        path, share, held = (named.split(":") + ["1", "0"])[:3]
        count, before = 0, len(questions)
        for number, line in enumerate(open(path, encoding="utf-8")):
            library = kept(json.loads(line), dice)
            unseen = int(held) > 0 and number % int(held) == int(held) - 1
            first = len(statements)
            statements += tokens(library["statements"], STATEMENT)
            libraries.append(len(statements))
            for one in library["questions"]:
                if one["answerable"] and not one["says"]:
                    continue
                says, about = ([first + at for at in one[key]] for key in ("says", "about"))
                near = list(dict.fromkeys(says + about))
                row = {"source": pathlib.Path(path).stem, "share": float(share), "held": unseen, "library": len(libraries) - 2}
                questions.append({**row, "says": says[:8], "about": about[:16], "answerable": one["answerable"]})
                texts.append(one["question"])
                if one["answerable"] and not unseen and dice.random() < TWINS:
                    own = [library["statements"][at] for at in dict.fromkeys(one["says"] + one["about"])]
                    twin = twins.of(one["question"], own, library["statements"])
                    if twin:
                        questions.append({**row, "says": [], "about": near[:16], "answerable": False, "source": row["source"] + "-twin"})
                        texts.append(twin)
            count += 1
        print(f"{path}: {count} libraries, {len(questions) - before} questions", flush=True)
    sources = sorted({one["source"] for one in questions})
    arrays = {}
    arrays["statements"], arrays["statement_ends"] = spread(statements, numpy.uint16)
    arrays["questions"], arrays["question_ends"] = spread(tokens(texts, QUESTION), numpy.uint16)
    arrays["libraries"] = numpy.array(libraries, dtype=numpy.int32)
    for name in ("says", "about"):
        arrays[name], arrays[f"{name}_ends"] = spread([one[name] for one in questions], numpy.int32)
    for name, kind in (("library", numpy.int32), ("share", numpy.float32), ("held", bool), ("answerable", bool)):
        arrays[name] = numpy.array([one[name] for one in questions], dtype=kind)
    arrays["source"] = numpy.array([sources.index(one["source"]) for one in questions], dtype=numpy.uint8)
    arrays["sources"] = numpy.array(sources)
    plain = pathlib.Path(f"{out}.npz")
    numpy.savez(plain, **arrays)
    out.write_bytes(lzma.compress(plain.read_bytes(), preset=6))
    plain.unlink()
    held = sum(one["held"] for one in questions)
    print(f"{len(questions)} questions ({held} held), {len(statements)} statements, {arrays['statements'].size} tokens, {out.stat().st_size} bytes")


main()
