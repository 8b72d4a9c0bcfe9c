"""Rows of training: passages with questions, and everyday requests."""
import random

from data import everyday as e
from data.passages import Texts, sentences
from data.prompt import SYSTEM, asked, opening, said

FILES = ["squadshifts-new_wiki.jsonl", "squadshifts-amazon_reviews.jsonl", "squadshifts-reddit.jsonl", "squad2-dev-half.jsonl"]


def varied(r, text):
    """Letters and marks as people type them."""
    x = r.random()
    text = text[0].upper() + text[1:] if x < 0.45 else text
    if r.random() < 0.2:
        text = text.rstrip("?!.")
    return text


def misspelt(r, text):
    words = text.split()
    for _ in range(r.choice([1, 2, 2, 3])):
        at = r.randrange(len(words))
        word = words[at]
        if len(word) < 4 or not word.isalpha():
            continue
        cut = r.randrange(1, len(word) - 1)
        words[at] = r.choice([word[:cut] + word[cut + 1] + word[cut] + word[cut + 2:], word[:cut] + word[cut + 1:], word[:cut] + word[cut] + word[cut:]])
    return " ".join(words)


class Mix:
    def __init__(self, folder, held_out=False):
        self.texts = Texts(folder, FILES, held_out)
        self.wiki = [entry for title, some in self.texts.groups.items() if "wiki" in title or "squad2" in title for entry in some]

    def sum(self, r):
        a, b = r.randrange(2, 100), r.randrange(2, 100)
        sign = r.choice("++--×")
        if sign == "×":
            a, b = r.randrange(2, 13), r.randrange(2, 13)
        if sign == "-" and b > a:
            a, b = b, a
        result = a + b if sign == "+" else a - b if sign == "-" else a * b
        return r.choice(["What is {}?", "{}", "{} = ?", "how much is {}?", "calculate {}"]).format(f"{a} {sign} {b}"), f"{a} {sign} {b} = {result}"

    def sentence(self, r, least=8, most=28):
        while True:
            entry = r.choice(self.wiki)
            start, end = r.choice(sentences(entry["passage"]))
            text = " ".join(entry["passage"][start:end].split())
            if least <= len(text.split()) <= most and text[-1] == ".":
                return text

    def turn(self, r):
        kind = r.choices(["talk", "app", "fact", "sum", "explain", "email", "list", "haiku", "polite", "fix", "summary", "cannot", "name"],
                         [16, 12, 8, 8, 8, 10, 7, 5, 5, 6, 8, 5, 3])[0]
        if kind == "talk":
            questions, replies = r.choice(e.TALK)
            return varied(r, r.choice(questions)), r.choice(replies)
        if kind == "app":
            questions, replies = r.choice(e.APP)
            return varied(r, r.choice(questions)), r.choice(replies)
        if kind == "fact":
            what, is_ = r.choice(e.FACTS)
            verb = "Who is the" if what.startswith(("author", "painter", "inventor", "first person")) else "What is the"
            return r.choice([f"{verb} {what}?", f"{verb.lower()} {what}?", f"Name the {what}.", f"{what}?"]), f"{is_[0].upper()}{is_[1:]}."
        if kind == "sum":
            return self.sum(r)
        if kind == "explain":
            what, text = r.choice(e.EXPLAIN)
            return r.choice(["What is {}?", "Explain {}.", "explain {} in simple words", "tell me about {}", "what do you know about {}?"]).format(what), text
        if kind == "email":
            task, values, text = r.choice(e.EMAILS)
            value, name = r.choice(values), r.choice(e.NAMES + ["[name]"] * 8)
            ask = r.choice(["Write an e-mail to {}", "Write a short e-mail to {}", "write an email to {}", "Draft a message to {}", "help me write to {}"])
            return ask.format(task.format(x=value)) + r.choice([".", ""]) + ("" if name == "[name]" else f" The name is {name}."), text.format(x=value, n=name)
        if kind == "list":
            what, items = r.choice(e.LISTS)
            count = r.choice([3, 4, 5, 5])
            number = {3: "three", 4: "four", 5: "five"}[count]
            chosen = items[:count]
            return r.choice(["List {n} {w}.", "Give me {n} {w}", "Name {n} {w}.", "write a list of {n} {w}"]).format(n=number, w=what), "\n".join(
                f"{k}. {one[0].upper()}{one[1:]}" for k, one in enumerate(chosen, 1))
        if kind == "haiku":
            about, text = r.choice(e.HAIKU)
            return r.choice(["Write a haiku about {}.", "a haiku about {}", "haiku: {}", "Write a short poem about {}."]).format(about), text
        if kind == "polite":
            rude, polite = r.choice(e.POLITE)
            return r.choice(["Make this more polite: {}", "Rewrite this in a friendlier tone: {}", "Say this more politely: \"{}\""]).format(rude), polite
        if kind == "fix":
            text = self.sentence(r)
            return r.choice(["Correct the mistakes: {}", "Fix the spelling: {}", "Proofread this: {}"]).format(misspelt(r, text)), text
        if kind == "summary":
            entry = r.choice(self.wiki)
            text = " ".join(entry["passage"].split())[:1200]
            start, end = sentences(text)[0]
            return r.choice(["Summarise this in one sentence:\n\n{}", "What is this text about?\n\n{}", "Summarize:\n\n{}"]).format(text), text[start:end].strip()
        if kind == "name":
            name = r.choice(["Anna", "Ben", "Chloe", "David", "Emma", "Farid", "Grace", "Hugo", "Ines", "Jan"])
            return r.choice(["My name is {}.", "Hi, I'm {}", "i am {}"]).format(name), r.choice(["Nice to meet you, {}!", "Hello {}! How can I help you?"]).format(name)
        questions, reply = r.choice(e.CANNOT)
        return varied(r, r.choice(questions)), reply

    def row(self, r):
        """-> prefix text, [(context, reply)]"""
        if r.random() < 0.68:
            system, questions = self.texts.row(r, r.choice([3, 4, 5, 6]), r.choice([1, 2, 2, 3]))
            return opening(system), [(asked(q), said(reply)) for q, reply, _, _ in questions]
        return opening(SYSTEM), [(asked(q), said(reply)) for q, reply in (self.turn(r) for _ in range(8))]


if __name__ == "__main__":
    import sys
    mix = Mix(sys.argv[1])
    for seed in range(40):
        question, reply = mix.turn(random.Random(seed))
        print(f"> {question[:200]}\n{reply[:200]}\n")
