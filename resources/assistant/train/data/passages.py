"""Questions about passages of real texts: the SQuAD-shaped files of a folder, one passage a line."""
import json
import os
import re

from data.prompt import REFUSE, grounded

ENDING = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(])")
ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|vs|etc|No|Inc|Jr|Sr|Prof|U\.S|e\.g|i\.e)\.$")
LONGEST = 45  # words of an answer
# How often each set is asked from. Encyclopaedic articles are most like what people ask documents about.
SHARES = {"new_wiki": 5, "squad2": 3, "amazon": 2, "reddit": 2}
MOST = 900  # characters of a passage, as the app's splitter makes them


def sentences(text):
    """[(start, end)] of the sentences of `text`."""
    cuts = [0]
    for found in ENDING.finditer(text):
        if not ABBREVIATION.search(text[: found.start()].rstrip("\"')]")):
            cuts.append(found.end())
    return list(zip(cuts, [*cuts[1:], len(text)]))


def quoted(text, start, answer):
    """The sentence that holds the answer; of a very long one the clauses around it."""
    for begin, end in sentences(text):
        if begin <= start < end:
            break
    end = max(end, start + len(answer))
    sentence = text[begin:end].strip()
    if len(sentence.split()) <= LONGEST:
        return sentence
    marks = [begin] + [m.end() for m in re.finditer(r"[,;:] ", text[begin:end].replace("\n", " "))] + [end]
    marks = [m if m in (begin, end) else m + begin for m in marks]
    left = max((m for m in marks if m <= start), default=begin)
    right = min((m for m in marks if m >= start + len(answer)), default=end)
    while True:
        wider = [(l, r) for l in (left, *[m for m in marks if m < left][-1:]) for r in (right, *[m for m in marks if m > right][:1])]
        wider = [(l, r) for l, r in wider if (l, r) != (left, right) and len(text[l:r].split()) <= 30]
        if not wider:
            break
        left, right = max(wider, key=lambda pair: pair[1] - pair[0])
    cut = text[left:right].strip().strip(",;: ")
    return cut[0].upper() + cut[1:] + ("" if cut[-1] in ".!?" else ".")


class Texts:
    def __init__(self, folder, files, held_out):
        """Every tenth title is held out; `held_out` says which side this is."""
        self.groups = {}
        for file in files:
            with open(os.path.join(folder, file), encoding="utf-8") as f:
                for number, line in enumerate(f):
                    entry = json.loads(line)
                    # The review and forum sets have one title for everything: blocks of forty passages are held out there.
                    title = f"{file}:{entry['title']}"
                    block = f"{title}:{number // 40}" if "wiki" not in file and "squad2" not in file else title
                    if (sum(map(ord, block)) % 10 == 0) != held_out:
                        continue
                    if len(entry["passage"]) <= 2200:
                        self.groups.setdefault(title, []).append(entry)
        # Names that stand within sentences, to exchange.
        self.names = sorted({word for some in self.groups.values() for entry in some for word in re.findall(r"(?<=[a-z] )[A-Z][a-z]{3,}(?= [a-z])", entry["passage"])})
        self.titles = [title for title, some in self.groups.items() if len(some) > 1]
        self.sets = {name: some for name in SHARES if (some := [title for title in self.titles if name in title])}

    def place(self, r, title):
        name = title.split(":", 1)[1].replace("_", " ")[:40] or r.choice(["notes", "report", "letter"])
        if any(kind in title for kind in ("amazon", "reddit")):
            name = r.choice(["reviews", "notes", "letters", "posts", "diary", "feedback", "stories"]) + r.choice(["", f" {r.randrange(2015, 2027)}", " (2)"])
        ending = r.choice(["pdf", "pdf", "docx", "md", "html", "txt", "epub"])
        return f"{name}.{ending}, " + (f"p. {r.randrange(1, 240)}" if ending == "pdf" else f"¶ {r.randrange(1, 90)}")

    def row(self, r, answerable=5, absent=2):
        """-> system message, [(question, reply, answer, number)] ; answer and number are None where the passages do not say it."""
        of = r.choices(list(self.sets), [SHARES[name] for name in self.sets])[0]
        title = r.choices(self.sets[of], [len(self.groups[t]) ** 0.5 for t in self.sets[of]])[0]
        count = r.choices([1, 2, 3, 4, 5, 6], [1, 4, 4, 4, 1, 1])[0]
        same = r.sample(self.groups[title], min(len(self.groups[title]), count + 2))
        chosen, spare = same[:count], same[count:]
        if r.random() < 0.4 and count > 1:
            other = r.choice(self.titles)
            chosen[-1] = r.choice(self.groups[other])
        r.shuffle(chosen)
        cut, texts = self.cut, []
        for entry in chosen:
            texts.append(cut(r, entry["passage"]))
        places = [self.place(r, title) for _ in chosen]
        can, cannot = [], []
        for number, (entry, (begin, end)) in enumerate(zip(chosen, texts), 1):
            answered, not_here = self.about(entry, begin, end)
            can += [(question, f"{sentence} [{number}]", answer, number) for question, sentence, answer in answered]
            cannot += not_here
        chosen_texts = [entry["passage"][begin:end] for entry, (begin, end) in zip(chosen, texts)]
        for entry in spare:
            for question in entry["questions"]:
                if question["answers"] and not any(question["answers"][0][0].lower() in text.lower() for text in chosen_texts):
                    cannot.append(question["q"])
        if r.random() < 0.4:
            cannot += [other for question, _, _, _ in can if (other := self.exchanged(r, question, chosen_texts))]
        asked = r.sample(can, min(len(can), answerable))
        asked += [(question, REFUSE, None, None) for question in r.sample(cannot, min(len(cannot), absent))]
        r.shuffle(asked)
        return grounded(list(zip(places, chosen_texts))), asked

    @staticmethod
    def about(entry, begin, end):
        """-> [(question, sentence that answers it, its answer)] within these characters of the passage, and questions that it does not answer"""
        can, cannot = [], []
        for question in entry["questions"]:
            if not question["answers"]:
                cannot.append(question["q"])
                continue
            answer, start = min(question["answers"], key=lambda one: len(one[0]))
            if begin <= start and start + len(answer) <= end:
                can.append((question["q"], " ".join(quoted(entry["passage"][begin:end], start - begin, answer).split()), answer))
        return can, cannot

    def exchanged(self, r, question, texts):
        """The question about another year, number or name than the passages speak of; None if it holds none."""
        words = question.split()
        places = [n for n, word in enumerate(words) if n > 0 and (word.strip("?.,").isdigit() or (word[0].isupper() and len(word) > 3))]
        if not places:
            return None
        at = r.choice(places)
        word = words[at].strip("?.,")
        other = str(int(word) + r.choice([-40, -7, -3, 5, 11, 60])) if word.isdigit() and len(word) < 9 else r.choice(self.names)
        if any(other.lower() in text.lower() for text in texts) or other == word:
            return None
        return " ".join([*words[:at], words[at].replace(word, other), *words[at + 1:]])

    @staticmethod
    def cut(r, text):
        """Where a passage of the app's length begins and ends in `text`."""
        if len(text) <= MOST:
            return 0, len(text)
        spans = sentences(text)
        first = r.randrange(len(spans)) if r.random() < 0.5 else 0
        begin = spans[first][0]
        ends = [end for start, end in spans[first:] if end - begin <= MOST]
        return begin, ends[-1] if ends else begin + MOST
