"""Asks a model through the server what it was not trained on, greedily, and prints a table; writes transcripts to be marked by data/exam/RUBRIC.md.

    longhand serve --model MODEL.gguf            # prints address and key
    python evaluate.py http://127.0.0.1:PORT KEY [--questions FOLDER] [--manual FILE] [--rows 60] [--out transcripts.md] [--only passages,manual,..]

--manual: the questions of exam/longhand.jsonl with the passages that the app finds (manual.ts).
"""
import argparse
import json
import math
import os
import random
import re
import urllib.request

from data import written
from data.mix import FILES
from data.passages import SHARES, Texts
from data.prompt import grounded
from data.sums import TOOLS

EXAM = os.path.join(os.path.dirname(__file__), "data", "exam")
exam = lambda name: written.lines(os.path.join(EXAM, f"{name}.jsonl"))


class Asker:
    def __init__(self, url, key):
        self.url, self.key = url, key
        self.model = self.call("/v1/models")["data"][0]["id"]

    def call(self, path, body=None):
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode() if body else None, headers)
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def reply(self, messages, most=160, temperature=0.0, seed=1, tools=None):
        body = {"model": self.model, "messages": messages, "max_tokens": most, "temperature": temperature, "seed": seed, **({"tools": tools} if tools else {})}
        return self.call("/v1/chat/completions", body)["choices"][0]

    def ask(self, text, system=None, most=160):
        messages = ([{"role": "system", "content": system}] if system else []) + [{"role": "user", "content": text}]
        return self.reply(messages, most)["message"]["content"] or ""


def interval(hits, of):
    """95 % (Wilson)."""
    if of == 0:
        return "none asked"
    p, z = hits / of, 1.96
    middle, half = (p + z * z / (2 * of)) / (1 + z * z / of), z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{p:.2f} ({hits} of {of}; {middle - half:.2f} to {middle + half:.2f})"


plain = lambda text: re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def marked(asker, name, cases):
    """cases: (system message, question, gold words or None, number of the passage)"""
    counts, shown = dict.fromkeys(("asked", "right", "cited", "over", "absent", "refused"), 0), []
    for system, question, answer, number in cases:
        reply = asker.ask(question, system, 120)
        refused = "could not find" in reply.lower()
        if answer is None:
            counts["absent"] += 1
            counts["refused"] += refused
        else:
            counts["asked"] += 1
            counts["right"] += plain(answer) in plain(reply)
            counts["cited"] += re.findall(r"\[(\d+)\]", reply)[-1:] == [str(number)]
            counts["over"] += refused
        shown.append((f"{question}\n(gold: {answer or 'absent'} [{number}])", reply))
    print(f"{name}: gold words {interval(counts['right'], counts['asked'])}; citation {interval(counts['cited'], counts['asked'])}; "
          f"refused although there {interval(counts['over'], counts['asked'])}; refused when absent {interval(counts['refused'], counts['absent'])}", flush=True)
    return shown


def passages(asker, args):
    """Two to four passages of articles that were not trained on."""
    texts, shown = Texts(args.questions, FILES, held_out=True), []
    for name in SHARES:
        if name not in texts.sets:
            continue
        only, r = {name: texts.sets[name]}, random.Random(7)
        texts.sets, all_ = only, texts.sets
        cases = []
        while len(cases) < args.rows:
            system, questions = texts.row(r, answerable=2, absent=1)
            if 2 <= len(re.findall(r"^\[\d+\] \(", system, re.M)) <= 4:
                cases += [(system, question, answer, number) for question, _, answer, number in questions]
        texts.sets = all_
        shown += marked(asker, f"passages of {name}", cases)[:12]
    return shown


def own(asker, args):
    cases = []
    for one in written.documents(held_out=True):
        name = one["file"]
        system = grounded([(f"{name}, ¶ {n * 3}", text) for n, text in enumerate(one["passages"], 1)])
        cases += [(system, q["question"], q["span"], q["passage"]) for q in one["questions"]] + [(system, text, None, None) for text in one["absent"]]
    return marked(asker, "documents of our own", cases)[:24]


def manual(asker, args):
    right, cited, shown = 0, 0, []
    rows = written.manual(args.manual)
    known = {one["question"]: one for one in exam("longhand")}
    for one in rows:
        asked = known[one["question"]]
        system = grounded([(p["place"], p["text"]) for p in one["passages"]])
        reply = asker.ask(one["question"], system, 120)
        number = int((re.findall(r"\[(\d+)\]", reply) or ["0"])[-1])
        says = any(must in reply.lower() for must in asked["must"])
        marks = 0 < number <= len(one["passages"]) and any(must in one["passages"][number - 1]["text"].lower() for must in asked["must"])
        right, cited = right + says, cited + (says and marks)
        shown.append((f"{one['question']}\n(must: {asked['must']})", reply))
    print(f"Longhand from its manual: right {interval(right, len(rows))}; right with its mark {interval(cited, len(rows))}", flush=True)
    return shown


def sums(asker, args):
    tool = [{"type": "function", "function": TOOLS["calculator"]}]
    right, called, shown = 0, 0, []
    for one in exam("sums"):
        message = asker.reply([{"role": "user", "content": one["prompt"]}], 120, tools=tool)["message"]
        calls = [call["function"]["arguments"] for call in message.get("tool_calls") or []]
        called += bool(calls)
        shown.append((one["prompt"], f"{calls or message['content']} (result: {one['result']})"))
        right += bool(calls) and value_of(calls[0]) == float(one["result"])
    print(f"sums: called the calculator {interval(called, 30)}; with the right expression {interval(right, 30)}", flush=True)
    return shown


def value_of(arguments):
    from data.sums import value
    try:
        return float(value(json.loads(arguments)["expression"]))
    except Exception:
        return None


def turns(asker, args):
    shown = []
    for one in exam("turns"):
        messages = []
        for turn in one["turns"]:
            messages.append({"role": "user", "content": turn})
            messages.append({"role": "assistant", "content": asker.reply(messages, 200)["message"]["content"] or ""})
        shown.append((one["rubric"], "\n\n".join(f"{m['role']}: {m['content']}" for m in messages)))
    return shown


def prompts(name, most):
    return lambda asker, args: [(f"{one['prompt']}\n({one.get('rubric', '')})", asker.ask(one["prompt"], None, most)) for one in exam(name)]


def ending(asker, args):
    asked = [one["prompt"] for name in ("talk", "writing", "mixed") for one in exam(name)]
    endless = sum(asker.reply([{"role": "user", "content": text}], 512, 0.7, seed)["finish_reason"] == "length" for seed, text in enumerate(asked))
    print(f"not ended within 512 tokens at temperature 0.7: {interval(endless, len(asked))}", flush=True)
    return []


KINDS = {"passages": passages, "own": own, "manual": manual, "sums": sums, "talk": prompts("talk", 120), "writing": prompts("writing", 300), "claims": prompts("claims", 120),
         "mixed": prompts("mixed", 250), "turns": turns, "first-minutes": prompts("first-minutes", 200), "ending": ending}


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("url"), asked.add_argument("key")
    asked.add_argument("--questions"), asked.add_argument("--manual"), asked.add_argument("--rows", type=int, default=60), asked.add_argument("--out"), asked.add_argument("--only")
    args = asked.parse_args()
    asker, text = Asker(args.url.rstrip("/"), args.key), ""
    for name in args.only.split(",") if args.only else KINDS:
        text += f"# {name}\n\n" + "\n\n".join(f"> {q.replace(chr(10), chr(10) + '> ')}\n\n{a}" for q, a in KINDS[name](asker, args)) + "\n\n"
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
