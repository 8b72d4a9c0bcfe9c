"""options.py IN OUT: questions on the options of manual pages, made by rule. IN: what statements.ts wrote of manual pages."""
import json
import random
import re
import sys

FLAG = re.compile(r"^(?:-\w,? ?(?:[\w=<>\[\]-]+,? )*)?(--[a-z][a-z0-9-]+|-\w)\b[^\n]{0,60}$")
INLINE = re.compile(r"^(?:-\w, )?(--[a-z][a-z0-9-]+|-\w)[=\w\[\]<>]*\s{2,}\S")
ASKING = [
    "What does {flag} do?",
    "What is {flag} for?",
    "What happens with the option {flag}?",
    "Explain {flag} of {page}",
    "What is the meaning of {flag}?",
    "When would I use {flag}?",
    "What does {page} do if I give it {flag}?",
]
FINDING = [
    "Which option of {page} is there to {what}?",
    "How do I get {page} to {what}?",
    "Is there a way to {what}?",
    "How can I {what} with {page}?",
    "I want to {what}. Which option is that?",
]
DROPPED = 0.25
EACH = 12


def said_in(statement):
    return statement.split(" » ")[-1] if " » " in statement else statement.split(": ", 1)[-1]


def wish(text, dice):
    """The first words of a description as something one wants, some words left out."""
    words = re.split(r"[.;:(]", text)[0].strip().split()
    if not 3 <= len(words) <= 14 or not words[0].isalpha() or words[0].lower() in ("the", "this", "a", "an", "if", "see", "when", "by", "in"):
        return None
    first = words[0].lower()
    if first.endswith("s") and not first.endswith("ss"):
        first = first[:-1]
    rest = [word for word in words[1:] if dice.random() > DROPPED or len(word) > 9]
    return " ".join([first, *rest]) if len(rest) >= 2 else None


def questions_on(page, statements, others, dice):
    said = [said_in(one) for one in statements]
    found = []
    for at, text in enumerate(said[:-1]):
        inline, alone = INLINE.match(text), FLAG.match(text)
        if inline:
            found.append((inline.group(1), [at], text[inline.end() - 1 :]))
        elif alone and not said[at + 1].startswith("-"):
            found.append((alone.group(1), [at, at + 1], said[at + 1]))
    own = {flag for flag, _, _ in found}
    for flag, says, text in dice.sample(found, min(EACH, len(found))):
        yield {"question": dice.choice(ASKING).format(flag=flag, page=page), "answerable": True, "says": says, "about": says}
        what = wish(text, dice)
        if what:
            yield {"question": dice.choice(FINDING).format(what=what, page=page), "answerable": True, "says": says, "about": says}
    for flag in dice.sample(sorted(others - own), min(EACH // 2, len(others - own))):
        if not any(flag in text for text in said):
            yield {"question": dice.choice(ASKING).format(flag=flag, page=page), "answerable": False, "says": [], "about": []}


def main():
    dice = random.Random(5)
    pages = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    others = {match.group(1) for page in pages for one in page["statements"] if (match := FLAG.match(said_in(one))) and len(match.group(1)) > 4}
    total = 0
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for page in pages:
            name = page["name"].removesuffix(".txt")
            questions = list(questions_on(name, page["statements"], others, dice))
            total += len(questions)
            if questions:
                out.write(json.dumps({**page, "questions": questions}) + "\n")
    print(f"{total} questions on {len(pages)} pages")


main()
