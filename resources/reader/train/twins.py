"""Questions that look answerable and are not: a name, a number, a word or the sense of a question is exchanged."""
import re

import torch
import torch.nn.functional as F

NAME = re.compile(r"(?<=[\w,] )(?:[A-Z][\w'-]+(?: (?:of |the |de )?[A-Z][\w'-]+)*)")
NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
# What stands in for what; read both ways.
OPPOSITES = """first last, largest smallest, biggest smallest, highest lowest, longest shortest, oldest youngest, best worst, most least, before after,
north south, east west, northern southern, eastern western, increase decrease, increased decreased, open close, opened closed, start stop,
started ended, began ended, win lose, won lost, buy sell, bought sold, male female, men women, man woman, father mother, son daughter,
brother sister, king queen, husband wife, early late, earlier later, minimum maximum, above below, inside outside, left right, summer winter,
spring autumn, morning evening, born buried, enable disable, enabled disabled, read write, input output, upload download, public private,
allow forbid, allowed forbidden, add remove, added removed, import export, install uninstall, more fewer, old new, hot cold,
rich poor, strong weak, true false, success failure, support oppose, supported opposed, friend enemy, parent child, client server, source target,
monday thursday, january august, february october, march november, april december, june september, year month, week hour, minutes days, city river,
country village, book film, song painting, president bishop, company university, army navy, war election, language religion, red green,
black white, author publisher, teacher student, price weight, color size, colour size, speed age, length temperature, height cost,
battery screen, cable lens, plot soundtrack, actor director, singer drummer, dog cat, default maximum, file directory, option variable, command function,
cause cure, causes prevents, used banned, known unknown, famous forgotten, found lost, discovered destroyed, built demolished,
founded dissolved, signed rejected, arrived departed, married divorced, always never, required forbidden""".replace("\n", " ")
PAIRS = [pair.split() for pair in OPPOSITES.split(",")]
OTHER = {**{b: a for a, b in PAIRS}, **dict(PAIRS)}
WORD = re.compile(r"\b[a-z]+\b")
AUXILIARY = re.compile(r"\b(did|does|do|is|are|was|were|can|could|should|must|will|would|has|have)\b(?= \w)", re.I)
IRREGULAR = {"will": "won't", "can": "can't"}
LONGEST = 60


def exchanged(pattern, question, texts, dice):
    own = pattern.findall(question)
    others = sorted({name for text in texts for name in pattern.findall(text) if len(name) <= LONGEST} - set(own))
    others = [name for name in others if not any(name.lower() in one.lower() or one.lower() in name.lower() for one in own)]
    if not own or not others:
        return None
    return question.replace(dice.choice(own), dice.choice(others), 1)


# Words that are like another but not the same, by the cosine of their vectors in the table of the encoder.
LIKE, SAME = 0.27, 0.47
COMMON, SHORTEST = 12000, 4
KEPT = set("what which when where whose does doing have been that this there from with about into than then they their them your will would could should how many much used using called".split())


class Kin:
    """Words of the same kind: river and lake, album and song."""

    def __init__(self, vocabulary, table):
        self.words = [word for word, at in sorted(vocabulary.items(), key=lambda one: one[1]) if self.usable(word, at)]
        self.vectors = F.normalize(table[[vocabulary[word] for word in self.words]] - table.mean(0), dim=1)
        self.place = {word: at for at, word in enumerate(self.words)}

    @staticmethod
    def usable(word, at):
        return at < COMMON and len(word) >= SHORTEST and word.isalpha() and word.isascii() and word not in KEPT

    def of(self, word):
        if word not in self.place:
            return []
        cosines = self.vectors @ self.vectors[self.place[word]]
        near = cosines.topk(16)
        return [self.words[at] for cosine, at in zip(*near) if LIKE < cosine < SAME and self.words[at][:4] != word[:4]]


class Twins:
    def __init__(self, dice, kin):
        self.dice, self.kin, self.known = dice, kin, {}

    def likened(self, question):
        """Another word of the same kind in the place of one."""
        words = [word for word in dict.fromkeys(WORD.findall(question)) if word in self.kin.place]
        if not words:
            return None
        word = self.dice.choice(words)
        if word not in self.known:
            self.known[word] = self.kin.of(word)
        return re.sub(rf"\b{word}\b", self.dice.choice(self.known[word]), question, count=1) if self.known[word] else None

    def opposite(self, question):
        known = [word for word in WORD.findall(question) if word in OTHER]
        if not known:
            return None
        word = self.dice.choice(known)
        return re.sub(rf"\b{word}\b", OTHER[word], question, count=1)

    def denied(self, question):
        """The question in the negative: who did not, what is not."""
        found = AUXILIARY.search(question)
        if not found or question.lower().startswith(("why", "how")):
            return None
        word = found.group()
        return question[: found.start()] + IRREGULAR.get(word.lower(), word + "n't") + question[found.end() :]

    def of(self, question, own, all_texts):
        """own: the statements that answer it, and those around; all_texts: those of its whole document."""
        some = own + self.dice.sample(all_texts, min(40, len(all_texts)))
        ways = [
            lambda: exchanged(NAME, question, own, self.dice),
            lambda: exchanged(NAME, question, some, self.dice),
            lambda: exchanged(NUMBER, question, some, self.dice),
            lambda: self.opposite(question),
            lambda: self.likened(question),
            lambda: self.likened(question),
        ]
        # A question in the negative is rare in life.
        if self.dice.random() < 0.15:
            ways.append(lambda: self.denied(question))
        for way in self.dice.sample(ways, len(ways)):
            twin = way()
            if twin and twin != question:
                return twin
        return None
