"""Groups of training (see rows.py): passages with questions, conversations, sums with and without tools, and what is to stay as it was."""
import random

from data import sums
from data.passages import Texts, sentences
from data.prompt import REFUSE, SYSTEM, asked, conversation, grounded, opening, said
from data.written import conversations, documents, exam, manual, plain, written

FILES = ["squadshifts-new_wiki.jsonl", "squadshifts-amazon_reviews.jsonl", "squadshifts-reddit.jsonl", "squad2-dev-half.jsonl"]
# What the app's users put above their chats.
OWN = ["You are a helpful assistant.", "Answer in plain words.", "Be brief.", "You are an expert who answers precisely.", "Always be polite.", "Keep answers short and use the documents."]
# SmolLM2's own, for what is kept.
ORIGINAL = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
KINDS = {"passages": 30, "documents": 10, "manual": 5, "written": 38, "text": 5, "made": 4, "inline": 4, "tools": 7, "prose": 3, "kept": 5}


def varied(r, text):
    """Letters and marks as people type them."""
    x = r.random()
    text = text[0].upper() + text[1:] if x < 0.45 else text
    if r.random() < 0.2:
        text = text.rstrip("?!.")
    return text


def typed(r, text):
    """A short message as people type it in a hurry; others as they are."""
    if len(text) > 100 or any(mark in text for mark in '":\n') or r.random() < 0.6:
        return text
    return r.choice([str.lower, lambda t: t.rstrip("?!."), lambda t: t.lower().rstrip("?!."), lambda t: t.replace("'", "").lower()])(text)


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
    def __init__(self, folder, held_out=False, kept=(), kinds=None, size=1.0):
        """kept: [(request, SmolLM2's reply), ..]; kinds: {name: how often}, those of KINDS otherwise; size: of groups of conversations"""
        self.many = lambda usual: max(1, round(usual * size))
        self.texts = Texts(folder, FILES, held_out)
        self.wiki = [entry for title, some in self.texts.groups.items() if "wiki" in title or "squad2" in title for entry in some]
        self.every = [entry for some in self.texts.groups.values() for entry in some]
        self.conversations, self.manual_questions, self.kept_answers = conversations(), [one for one in manual() if plain(one["question"]) not in exam()], list(kept)
        self.own, self.texts_written = documents(held_out), written("texts")
        # A set that is gone through in a new order each time, so that nothing is left out by chance.
        self.waiting = {}
        self.kinds = dict(kinds or KINDS)
        if not self.kept_answers:
            self.kinds.pop("kept", None)

    def next(self, r, name, items):
        waiting = self.waiting.setdefault(name, [])
        if not waiting:
            waiting += r.sample(items, len(items))
        return waiting.pop()

    def sentence(self, r, least=8, most=28):
        while True:
            entry = r.choice(self.wiki)
            start, end = r.choice(sentences(entry["passage"]))
            text = " ".join(entry["passage"][start:end].split())
            if least <= len(text.split()) <= most and text[-1] == ".":
                return text

    def turn(self, r):
        """What a generator knows better than a writer: sums, and mistakes to mend."""
        kind = r.choices(["easy", "hard", "fix"], [55, 20, 25])[0]
        if kind == "fix":
            text = self.sentence(r)
            return r.choice(["Correct the mistakes: {}", "Fix the spelling: {}", "Proofread this: {}", "{}\n\nCorrect this.", "spelling? {}"]).format(misspelt(r, text)), text
        return sums.easy(r) if kind == "easy" else sums.without_calculator(r)

    def group(self, r, kind=None):
        """-> (prefix, branches, whether it is to stay as it was)"""
        kind = kind or r.choices(list(self.kinds), list(self.kinds.values()))[0]
        return getattr(self, kind)(r)

    def passages(self, r):
        system, questions = self.texts.row(r, r.choice([4, 5, 6, 7]), r.choice([1, 2, 2, 3]))
        return opening(with_own(r, system)), threads(r, [(question, reply) for question, reply, _, _ in questions]), False

    def documents(self, r):
        one = self.next(r, "documents", self.own)
        ending = "p. {}" if one["file"].endswith("pdf") else "line {}" if one["file"].endswith(("md", "txt")) else "¶ {}"
        name, at = one["file"].rsplit(".", 1)[0] if r.random() < 0.5 else one["file"], sorted(r.sample(range(1, 60), len(one["passages"])))
        passages = [(n, f"{name}, {ending.format(place)}", text) for n, (place, text) in enumerate(zip(at, one["passages"]), 1)]
        questions = r.sample(one["questions"], min(6, len(one["questions"])))
        if len(passages) > 2 and r.random() < 0.5:
            # Not all of it is found; what is asked of the rest is not answered.
            passages.remove(r.choice(passages))
        if r.random() < 0.4:
            other = r.choice(self.own)
            passages.append((0, f"{other['file']}, ¶ {r.randrange(1, 60)}", r.choice(other["passages"])))
        if r.random() < 0.6:
            r.shuffle(passages)
        number = {n: at for at, (n, _, _) in enumerate(passages, 1) if n}
        shown = " ".join(" ".join(text.split()) for _, _, text in passages)
        turns = []
        for q in questions:
            if q["passage"] in number:
                turns.append((varied(r, q["question"]), f"{' '.join(q['answer'].split())} [{number[q['passage']]}]"))
            elif " ".join(q["span"].split()) not in shown:
                turns.append((varied(r, q["question"]), REFUSE))
        turns += [(varied(r, text), REFUSE) for text in r.sample(one["absent"], min(2, len(one["absent"])))]
        r.shuffle(turns)
        return opening(with_own(r, grounded([(place, text) for _, place, text in passages]))), threads(r, turns), False

    def text(self, r):
        branches = []
        for _ in range(self.many(2)):
            one = self.next(r, "text", self.texts_written)
            tasks = r.sample(one["tasks"], len(one["tasks"]))
            ask, text = tasks[0]["ask"], one["text"]
            first = r.choice([f"{ask}\n\n{text}", f"{text}\n\n{ask}", f"{ask.rstrip('?.:')}:\n\n{text}", f"text.txt:\n```\n{text}\n```\n\n{ask}"])
            branches.append(conversation((first, tasks[0]["answer"]), *[(task["ask"], task["answer"]) for task in tasks[1:r.choice([1, 1, 2, 3])]]))
        return opening(), branches, False

    def manual(self, r):
        # Four passages of one question, with all the questions that these answer or that nothing does.
        one = self.next(r, "manual", self.manual_questions)
        passages = [(p["place"], p["text"]) for p in one["passages"]]
        if r.random() < 0.5:
            r.shuffle(passages)
        branches, texts = [], [" ".join(text.split()) for _, text in passages]
        for other in [one, *r.sample(self.manual_questions, min(60, len(self.manual_questions)))]:
            if len(branches) == 5:
                break
            where = [n for n, text in enumerate(texts, 1) if other.get("quote") and " ".join(other["quote"].split()) in text]
            if where:
                branches.append((varied(r, other["question"]), f"{other['answer']} [{where[0]}]"))
            elif other is one or ("answer" not in other and r.random() < 0.02):
                branches.append((varied(r, other["question"]), REFUSE))
        return opening(with_own(r, grounded(passages))), threads(r, branches), False

    def written(self, r):
        return opening(), [conversation(*((typed(r, question), reply) for question, reply in self.next(r, "written", self.conversations))) for _ in range(self.many(7))], False

    def made(self, r):
        return opening(), [conversation(self.turn(r)) for _ in range(self.many(8))], False

    def inline(self, r):
        """A text in the message, as an attached file or pasted, and the sentence that answers."""
        branches = []
        for _ in range(3):
            entry = r.choice(self.every)
            begin, end = self.texts.cut(r, entry["passage"])
            can, _ = self.texts.about(entry, begin, end)
            if not can:
                continue
            question, sentence = r.choice(can)[:2]
            text = " ".join(entry["passage"][begin:end].split())
            name = r.choice(["notes", "letter", "report", "text", "minutes", "page", "draft"]) + r.choice([".txt", ".md"])
            shape = r.choice([f"{name}:\n```\n{text}\n```\n\n{question}", f"{text}\n\n{question}", f"{question}\n\n{text}", f"Text: {text}\n\nQuestion: {question}", f"\"{text}\"\n{question}"])
            branches.append(conversation((shape, sentence)))
        return opening(), branches, False

    def tools(self, r):
        tools, names = sums.tools(r)
        branches = []
        for _ in range(self.many(8)):
            x = r.random()
            if x < 0.5 and "calculator" in names:
                branches.append(sums.with_calculator(r))
            elif x < 0.62 and "clock" in names:
                branches.append(sums.with_clock(r))
            elif x < 0.7:
                branches.append(conversation(sums.easy(r)))
            else:
                branches.append(conversation(*self.next(r, "written", self.conversations)))
        return opening(tools=tools), branches, False

    def prose(self, r):
        return "", [[(r.choice(self.every)["passage"][:1500], True)] for _ in range(self.many(3))], True

    def kept(self, r):
        mine = r.random() < 0.4
        some = [self.next(r, "kept", self.kept_answers) for _ in range(self.many(4))]
        return opening(SYSTEM if mine else ORIGINAL), [conversation(one) for one in some], not mine


def with_own(r, system):
    return f"{r.choice(OWN)}\n\n{system}" if r.random() < 0.1 else system


def threads(r, turns):
    """One question a branch, sometimes two or three after each other."""
    branches, at = [], 0
    while at < len(turns):
        length = r.choices([1, 2, 3], [8, 2, 1])[0]
        branches.append(conversation(*turns[at:at + length]))
        at += length
    return branches
