"""What was written for this, a line of JSON each, in written/.

CONVERSATIONS   {"messages": [{"role", "content"}, ..]}
texts           {"text", "tasks": [{"ask", "answer"}, ..]}
documents       {"file", "passages": [..], "questions": [{"question", "passage", "answer", "span"}, ..], "absent": [..]}; passages count from 1
manual          {"question", "answer", "quote"}, the last two absent where the manual does not say it; manual-passages.json is made from it by manual.ts,
                and has to be made again when resources/help changes
"""
import glob
import json
import os

CONVERSATIONS = ["letters", "rewriting", "knowledge", "talk", "longhand", "instructions", "smalltalk", "itself", "facts", "writing", "turns"]
WRITTEN, EXAM = (os.path.join(os.path.dirname(__file__), name) for name in ("written", "exam"))


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def written(name):
    return lines(os.path.join(WRITTEN, f"{name}.jsonl"))


plain = lambda text: " ".join("".join(c if c.isalnum() else " " for c in text.lower()).split())


def exam():
    """What is asked in the evaluation, so that nothing of it is learnt."""
    asked = []
    for path in sorted(glob.glob(os.path.join(EXAM, "**", "*.jsonl"), recursive=True)):
        for one in lines(path):
            asked += [one.get("prompt") or one.get("question") or "", *one.get("turns", [])]
    return {plain(text) for text in asked}


def conversations():
    """-> [[(question, reply), ..], ..]"""
    known, all_ = exam(), []
    for said in (one["messages"] for name in CONVERSATIONS for one in written(name)):
        # Greetings of one or two words are what everybody says.
        if not any(m["role"] == "user" and len(plain(m["content"]).split()) > 2 and plain(m["content"]) in known for m in said):
            all_.append([(said[n]["content"], said[n + 1]["content"]) for n in range(0, len(said) - 1, 2)])
    return all_


def manual(path=os.path.join(WRITTEN, "manual-passages.json")):
    """What manual.ts made: [{"question", "quote", "answer", "passages": [{"place", "text"}, ..]}, ..], without quote and answer where there is none."""
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    return [one | {"passages": [found["passages"][at] for at in one["passages"]]} for one in found["questions"]]


def documents(held_out):
    """Every tenth is held out; `held_out` says which side this is."""
    return [one for n, one in enumerate(written("documents")) if (n % 10 == 9) == held_out]
