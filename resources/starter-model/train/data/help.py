"""Questions about the app: answered from the manual's passages, as when its collection is chosen, and by heart.

Every list of questions ends with one that only the evaluation asks.
"""
import os
import re

from data.prompt import REFUSE, SYSTEM, chat, grounded
from data.questions import APP, MANUAL
from data.sayings import TOPICS
from data.talk import turn, vary

MOST = 900  # characters of a passage, about what the app's splitter makes
FOLDER = os.environ.get("HELP_DIR") or os.path.join(os.path.dirname(__file__), "..", "..", "..", "help")


def plain(text):
    """As the app's Markdown reader leaves it."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    return re.sub(r"[*`]", "", re.sub(r"(?m)^- ", "", text))


def sections(path):
    """[(heading, text)] of one file, tables left out."""
    with open(path, encoding="utf-8") as f:
        parts = re.split(r"(?m)^#+ ", f.read())
    for part in parts[1:]:
        heading, _, text = part.partition("\n")
        text = " ".join(plain("\n".join(line for line in text.split("\n") if not line.startswith("|"))).split())
        yield heading.strip(), text


def passages():
    """[(name, label, text)] of the manual; a long section is cut between sentences."""
    made = []
    for file in sorted(os.listdir(FOLDER)):
        block = 1
        for heading, text in sections(os.path.join(FOLDER, file)):
            lines, now = re.split(r"(?<=[.:]) (?=[A-Z⌘])", text), heading
            for line in lines:
                if len(now) + len(line) > MOST:
                    made.append((file, f"¶ {block}", now))
                    now = line
                else:
                    now += " " + line
            made.append((file, f"¶ {block}", now))
            block += len(lines)
    return made


PASSAGES = passages()


def holder(sentence):
    found = [at for at, (_, _, text) in enumerate(PASSAGES) if sentence in text]
    if not found:
        raise SystemExit(f"[help] no passage of the manual has: {sentence}")
    return found[0]


HOLDERS = [holder(sentence) for sentence, _ in MANUAL]


def ask(r, questions):
    return vary(r, questions[-1] if r.held else r.choice(questions[:-1]))


def from_manual(r, count):
    """-> passages, [(number of the fact, number of its passage)] of the facts that stand in them."""
    main = r.randrange(len(MANUAL))
    chosen = r.sample([at for at in range(len(PASSAGES)) if at != HOLDERS[main]], count - 1) + [HOLDERS[main]]
    r.shuffle(chosen)
    facts = [(number, chosen.index(at) + 1) for number, at in enumerate(HOLDERS) if at in chosen]
    return [PASSAGES[at] for at in chosen], facts


def manual(r):
    given, facts = from_manual(r, r.choice([1, 2, 2, 3]))
    turns = []
    for number, passage in r.sample(facts, min(len(facts), 4)):
        sentence, questions = MANUAL[number]
        turns.append((ask(r, questions), f"{sentence} [{passage}]"))
    if r.chance(.15):
        turns.append((f"What does it say about {r.choice(TOPICS)}?", REFUSE))
    r.shuffle(turns)
    return chat(turns, None, grounded(given))


def manual_question(r):
    """For the evaluation, 2 to 4 passages: (system, question, sentence, number of the passage)."""
    given, facts = from_manual(r, r.choice([2, 3, 4]))
    number, passage = r.choice(facts)
    sentence, questions = MANUAL[number]
    return grounded(given), ask(r, questions), sentence, passage


def app_question(r):
    """(question, answers that are right)"""
    questions, answers = r.choice(APP)
    return ask(r, questions), answers


def app(r):
    turns = []
    for _ in range(r.choice([1, 2, 3])):
        question, answers = app_question(r)
        turns.append((question, r.choice(answers)))
    if r.chance(.3):
        turns.insert(0, turn(r))
    return chat(turns, None, r.choice(SYSTEM) if r.chance(.2) else None)
