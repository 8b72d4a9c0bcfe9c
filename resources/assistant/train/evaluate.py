"""Asks a model through the server what the held-out side of mix.py makes, greedily, and prints a table and transcripts.

    longhand serve --model MODEL.gguf            # prints address and key
    python evaluate.py http://127.0.0.1:PORT KEY QUESTIONS [--rows 60] [--out transcripts.md]
"""
import argparse
import json
import math
import random
import re
import urllib.request

from data.held_out import APP, CLAIMS, TALK, WRITING
from data.mix import FILES
from data.passages import Texts
from data.prompt import REFUSE


class Asker:
    def __init__(self, url, key):
        self.url, self.key = url, key
        self.model = self.call("/v1/models")["data"][0]["id"]

    def call(self, path, body=None):
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode() if body else None, headers)
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def ask(self, text, system=None, most=160, temperature=0.0, seed=1):
        messages = ([{"role": "system", "content": system}] if system else []) + [{"role": "user", "content": text}]
        body = {"model": self.model, "messages": messages, "max_tokens": most, "temperature": temperature, "seed": seed}
        choice = self.call("/v1/chat/completions", body)["choices"][0]
        return choice["message"]["content"] or "", choice["finish_reason"]


def interval(hits, of):
    """95 % (Wilson)."""
    if of == 0:
        return "none asked"
    p, z = hits / of, 1.96
    middle, half = (p + z * z / (2 * of)) / (1 + z * z / of), z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{p:.2f} ({hits} of {of}; {middle - half:.2f} to {middle + half:.2f})"


plain = lambda text: re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def documents(asker, folder, rows):
    texts, r = Texts(folder, FILES, held_out=True), random.Random(7)
    counts = dict.fromkeys(("asked", "right", "cited", "over", "absent", "refused"), 0)
    shown = []
    for _ in range(rows):
        system, questions = texts.row(r, answerable=2, absent=1)
        for question, _, answer, number in questions:
            reply, _ = asker.ask(question, system, 120)
            refused = "could not find" in reply.lower()
            if answer is None:
                counts["absent"] += 1
                counts["refused"] += refused
            else:
                counts["asked"] += 1
                counts["right"] += plain(answer) in plain(reply)
                counts["cited"] += re.findall(r"\[(\d+)\]", reply)[-1:] == [str(number)]
                counts["over"] += refused
            shown.append((question, answer or "(absent)", reply))
    print(f"document questions: gold words in the answer {interval(counts['right'], counts['asked'])}")
    print(f"citation right {interval(counts['cited'], counts['asked'])}")
    print(f"refused although it is there {interval(counts['over'], counts['asked'])}")
    print(f"refused when absent {interval(counts['refused'], counts['absent'])}", flush=True)
    return shown


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("url"), asked.add_argument("key"), asked.add_argument("questions")
    asked.add_argument("--rows", type=int, default=60), asked.add_argument("--out")
    args = asked.parse_args()
    asker = Asker(args.url.rstrip("/"), args.key)
    shown = [("Documents", [(f"{q}\n(gold: {gold})", reply) for q, gold, reply in documents(asker, args.questions, args.rows)[:24]])]
    for name, prompts, most in (("Small talk", TALK, 100), ("Longhand", APP, 100), ("Writing", WRITING, 300), ("Claims about itself", CLAIMS, 100)):
        shown.append((name, [(prompt, asker.ask(prompt, None, most)[0]) for prompt in prompts]))
    endless = sum(asker.ask(prompt, None, 512, 0.7, seed)[1] == "length" for seed, prompt in enumerate(TALK + WRITING))
    print(f"not ended within 512 tokens at temperature 0.7: {interval(endless, len(TALK + WRITING))}")
    text = "\n\n".join(f"## {name}\n\n" + "\n\n".join(f"> {q.replace(chr(10), chr(10) + '> ')}\n\n{a}" for q, a in some) for name, some in shown)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            f.write(text + "\n")


if __name__ == "__main__":
    main()
