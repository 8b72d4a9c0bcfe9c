"""Writes what was measured into the card: python card.py measured.json

measured.json: {"reports": {column: report of evaluate.py}, "curve": points of held_out.py, each with the "name" of its column}. The
card keeps its words; the tables between the marks and, from three points on, curve.svg are made anew.
"""
import json
import os
import re
import sys

from common import wilson
from curve import draw

HERE = os.path.dirname(os.path.abspath(__file__))
CARD = os.path.join(HERE, "..", "README.md")

ROWS = (
    ("Document question, 2 to 4 passages: right value", "documents", "value", "answerable"),
    ("Document question: right citation", "documents", "citation", "answerable"),
    ("Document question: value and citation", "documents", "both", "answerable"),
    ("Question without an answer in the passages: says so", "documents", "refused", "absent"),
    ("Answerable question: wrongly says that it is not there", "documents", "wrongly_refused", "answerable"),
    ("Question about Longhand from the manual: the right sentence", "manual", "sentence", "n"),
    ("Question about Longhand from the manual: right citation", "manual", "citation", "n"),
    ("Question about Longhand without the manual", "app", "right", "n"),
    ("Sums with thinking, two and three digits, times table", "sums", "right", "n"),
    ("Text operations, exact result", "textops", "right", "n"),
    ("Small talk on topic", "talk", "right", "n"),
    ("One MTP draft token accepted, greedy", "mtp", "accepted", "drafted"),
)


def share(right, n):
    low, high = wilson(right, n)
    return f"{100 * right / max(1, n):.0f} % ({right} of {n}; {low:.0f} to {high:.0f} %)"


def table(reports):
    head = "| Test | " + " | ".join(name for name, _ in reports) + " |\n|---|" + "---|" * len(reports)
    lines = [f"| {title} | " + " | ".join(share(report[part][right], report[part][n]) for _, report in reports) + " |" for title, part, right, n in ROWS]
    for temperature in ("0.0", "0.8"):
        cells = [f"{r['loops']} of {r['n']} loop, {r['endless']} do not end within 128 tokens" for r in (report["repetition"][temperature] for _, report in reports)]
        lines.append(f"| Repetition at temperature {float(temperature):g} | " + " | ".join(cells) + " |")
    return "\n".join([head, *lines])


def held_out(points):
    head = "| Skill | " + " | ".join(f"{p['name']}: loss | right word by word" for p in points) + " |\n|---|" + "---|---|" * len(points)
    lines = []
    for skill in points[0]["skills"]:
        cells = [f"{one['loss']:.2f} | {share(one['exact'], one['replies'])}" for one in (p["skills"][skill] for p in points)]
        lines.append(f"| {skill} | " + " | ".join(cells) + " |")
    return "\n".join([head, *lines])


def transcripts(report):
    """What was said and answered, word by word."""
    cell = lambda text: text.replace("\n", " ").replace("|", "\\|")
    rows = [f"| {cell(said)} | {cell(reply)} | {'yes' if fits else 'no'} |" for said, reply, fits in report["talk"]["transcripts"]]
    return "\n".join(["| Said | Reply | On topic |", "|---|---|---|", *rows])


def replace(text, mark, made):
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    if begin not in text:
        raise SystemExit(f"[card] the card has no mark {begin}")
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{made}\n{end}", text, flags=re.S)


def main(path):
    with open(path, encoding="utf-8") as f:
        measured = json.load(f)
    with open(CARD, encoding="utf-8") as f:
        text = f.read()
    text = replace(text, "measured", table(measured["reports"].items()))
    text = replace(text, "transcripts", transcripts(list(measured["reports"].values())[-1]))
    text = replace(text, "held-out", held_out([p for p in measured["curve"] if "name" in p]))
    with open(CARD, "w", encoding="utf-8") as f:
        f.write(text)
    if len(measured["curve"]) > 2:
        with open(os.path.join(HERE, "curve.svg"), "w", encoding="utf-8") as f:
            f.write(draw(measured["curve"]))


if __name__ == "__main__":
    main(sys.argv[1])
