"""What can be done to a short text without understanding it: repeat, turn round, pick out."""
from data.names import code, date, email, first_name, made_up, noun_phrase, person, place
from data.prompt import chat
from data.words import ANIMAL, DAY, FRUIT, OBJ, PLACE, wordnet


def some_text(r):
    x = r.random()
    if x < .4:
        return r.choice(r.side(wordnet.sentences, wordnet.test_sentences))
    if x < .6:
        return " ".join(made_up(r).lower() for _ in range(r.randint(1, 6)))
    if x < .75:
        return f"{person(r)} lives in {place(r)}."
    if x < .9:
        return f"The {noun_phrase(r)} is in the {r.choice(PLACE)}."
    return code(r)


def some_items(r):
    kinds = [lambda: r.choice(FRUIT), lambda: r.choice(OBJ), lambda: r.choice(ANIMAL), lambda: made_up(r), lambda: first_name(r), lambda: str(r.randint(1, 99))]
    return [r.choice(kinds)() for _ in range(r.randint(3, 6))]


def asked(r, forms, text):
    return r.choice(forms).format(s=text)


def repeat(r):
    s = some_text(r)
    return asked(r, ["Repeat: {s}", "Repeat this text: {s}", "Say this again: {s}", "Copy this exactly: {s}", "Please repeat the following: {s}"], s), s


def capitals(r):
    s = some_text(r)[:60].strip()
    return asked(r, ["Write in capital letters: {s}", "Make this upper case: {s}", "Upper-case: {s}", "Put this in capitals: {s}"], s), s.upper()


def small_letters(r):
    s = some_text(r)[:60].strip()
    return asked(r, ["Write in small letters: {s}", "Make this lower case: {s}", "Lower-case: {s}"], s.upper() if r.chance(.4) else s), s.lower()


def backwards(r):
    items = some_items(r)
    return asked(r, ["Reverse this list: {s}", "Write this list backwards: {s}", "Reverse the order: {s}"], ", ".join(items)), ", ".join(items[::-1])


def one_item(r):
    items = some_items(r)
    which, item = r.choice([("first", items[0]), ("last", items[-1])])
    q = asked(r, [f"What is the {which} item: {{s}}", f"Give me the {which} item of this list: {{s}}", f"{which.capitalize()} item of: {{s}}"], ", ".join(items))
    return q, item


def bullets(r):
    items = some_items(r)
    text = ", ".join(items[:-1]) + " and " + items[-1]
    q = asked(r, ["Make a bullet list: We need {s}.", "Turn this into a bullet list: {s}", "Write as a list: {s}.", "Make a list of these: I bought {s}."], text)
    return q, "\n".join("- " + item for item in items)


def find_email(r):
    who, e = person(r), email(r)
    s = r.choice([f"Please contact {who} at {e} before {r.choice(DAY)}.", f"{who} ({e}) will answer you.", f"Send the form to {e} and wait for {who}.",
                  f"My address is {e}, see you in {place(r)}."])
    return asked(r, ["Find the e-mail address: {s}", "Extract the email: {s}", "Which e-mail address is in this text? {s}"], s), e


def find_number(r):
    n = str(r.randint(2, 99999))
    s = r.choice([f"{person(r)} counted {n} birds in {place(r)}.", f"The order has the number {n} and goes to {place(r)}.", f"We sold {n} tickets last week.",
                  f"There are {n} {r.choice(FRUIT)} in the store."])
    return asked(r, ["Find the number: {s}", "Extract the number: {s}", "Which number is in this text? {s}"], s), n


def find_date(r):
    d, who = date(r), person(r)
    s = r.choice([f"{who} will arrive in {place(r)} on {d}.", f"The lease ends on {d} and {who} will sign it.", f"On {d} the {r.choice(PLACE)} opens again.", f"We met {who} on {d}."])
    return asked(r, ["Find the date: {s}", "Extract the date: {s}", "Which date is in this text? {s}"], s), d


def find_name(r):
    who = person(r)
    s = r.choice([f"{who} visited {place(r)}.", f"The letter from {who} came on {r.choice(DAY)}.", f"On {r.choice(DAY)} {who} called the {r.choice(PLACE)}."])
    return asked(r, ["Find the name: {s}", "Which person is in this text? {s}", "Extract the name: {s}"], s), who


OPERATIONS = (repeat, capitals, small_letters, backwards, one_item, one_item, bullets, find_email, find_number, find_date, find_name)


def operation(r):
    """(request, exact result)"""
    return r.choice(OPERATIONS)(r)


def textops(r):
    return chat([operation(r) for _ in range(r.choice([1, 2, 3, 4]))], "I do what the user asks with the text." if r.chance(.05) else None)


def copying(r):
    """Dense copying of what never occurred before: how finding in the context is learned first."""
    makers = [lambda: made_up(r), lambda: code(r), lambda: r.choice(wordnet.nouns)]
    values = [r.choices(makers, [.5, .2, .3])[0]() for _ in range(r.randint(4, 14))]
    if r.chance(.4):
        text = " ".join(values)
        return chat([("Repeat: " + text, text)])
    known = dict(zip((r.choice(wordnet.nouns) for _ in values), values))
    text = ". ".join(f"{k.capitalize()}: {v}" for k, v in known.items()) + "."
    picked = r.sample(list(known.items()), min(len(known), r.randint(2, 6)))
    turns = [(r.choice(["{k}?", "What is written for {k}?", "Value of {k}?"]).format(k=k), v) for k, v in picked]
    return chat([(text + "\n" + turns[0][0], turns[0][1]), *turns[1:]])
