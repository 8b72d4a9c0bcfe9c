"""Names and values that exist nowhere: persons, places, companies, dates, codes, amounts."""
import string

from data.words import (ADJ, CITY, COLOR, FIRST, FIRST_T, LAST, LAST_T, MONTH, OBJ, PLACE, THING, THING_T, UNITS, wordnet)

ONSETS = "b c d f g h j k l m n p r s t v w z br cr dr fl gr kl pl pr st tr th sh ch bl sk gl".split()
VOWELS = "a e i o u ai ea io ou ar er or en an el".split()
CODAS = ["", "", "", "n", "r", "l", "s", "m", "x", "t", "k", "nd", "rn", "sh"]


def cap(s):
    return s[:1].upper() + s[1:]


def a_an(word):
    return ("an " if word[0].lower() in "aeiou" else "a ") + word


def made_up(r):
    """A pronounceable word that does not exist."""
    def one():
        n = r.choice([2, 2, 2, 3])
        return cap("".join(r.choice(ONSETS) + r.choice(VOWELS) + (r.choice(CODAS) if i == n - 1 or r.chance(.3) else "") for i in range(n)))
    return r.until(one)


def first_name(r):
    return r.choice(r.side(FIRST, FIRST_T))


def person(r):
    last = r.side(LAST, LAST_T)
    x = r.random()
    if x < .55:
        return f"{first_name(r)} {r.choice(last)}"
    if x < .75:
        return f"{first_name(r)} {made_up(r)}"
    if x < .85:
        return f"{made_up(r)} {made_up(r)}"
    return r.choice(["Dr. ", "Ms. ", "Mr. ", "Prof. "]) + (r.choice(last) if r.chance(.5) else made_up(r))


def place(r):
    x = r.random()
    if x < .4:
        return r.choice(CITY)
    if x < .75:
        return made_up(r)
    return made_up(r) + r.choice([" Bay", " Street", " Hill", " Valley", " Park", "ville", "burg", " Island", " Square"])


def org(r):
    return made_up(r) + r.choice(["", "", " Ltd", " Systems", " Group", " Bank", " Works", " Institute", " Museum", " College", " Foods",
                                  " Airlines", " Labs", " Clinic", " Foundation"])


def project(r):
    return r.choice(["Project ", "Operation ", "the ", "Team "]) + made_up(r)


def thing(r):
    kind = r.choice(THING_T if r.held and r.chance(.5) else THING)
    x = r.random()
    if x < .35:
        return f"the {made_up(r)} {kind}"
    if x < .5:
        return f"the {kind} {code(r)}"
    if x < .6:
        return f"{kind} {r.randint(2, 99)}"
    if x < .8:
        return f"the {r.choice(COLOR + ADJ)} {kind}"
    if x < .9:
        return f"the {kind} in {place(r)}"
    return f"the {kind}"


def noun_phrase(r):
    noun = r.choice(wordnet.nouns) if r.chance(.6) else r.choice(THING + OBJ)
    if r.chance(.5):
        return noun
    return (r.choice(wordnet.adjectives) if r.chance(.5) else r.choice(ADJ + COLOR)) + " " + noun


def date(r):
    x = r.random()
    d, m, y = r.randint(1, 28), r.choice(MONTH), r.randint(1890, 2049)
    if x < .35:
        return f"{d} {m} {y}"
    if x < .6:
        return f"{m} {d}, {y}"
    if x < .75:
        return f"{y}-{r.randint(1, 12):02d}-{d:02d}"
    if x < .9:
        return f"{m} {y}"
    return f"{d} {m}"


def code(r):
    x = r.random()
    if x < .3:
        return "".join(r.choices(string.ascii_uppercase, k=r.choice([2, 3]))) + "-" + str(r.randint(10, 99999))
    if x < .55:
        return r.choice(string.ascii_uppercase) + str(r.randint(1, 9999)) + r.choice(["", r.choice(string.ascii_uppercase)])
    if x < .75:
        return f"{r.randint(10, 999)}-{r.randint(10, 999)}-{r.randint(10, 9999)}"
    return "".join(r.choices(string.ascii_lowercase + string.digits, k=r.randint(4, 8)))


def quantity(r):
    x = r.random()
    if x < .2:
        return f"{r.randint(2, 999)} {r.choice(UNITS)}"
    if x < .4:
        return f"{r.randint(2, 99)}.{r.randint(1, 9)} {r.choice(UNITS)}"
    if x < .55:
        return f"{r.randint(1, 99)},{r.randint(0, 999):03d} {r.choice(UNITS)}"
    if x < .7:
        return r.choice("$€£") + (str(r.randint(2, 9999)) if r.chance(.6) else f"{r.randint(1, 999)}.{r.randint(0, 99):02d}")
    if x < .85:
        return str(r.randint(2, 99999))
    return f"{r.randint(1, 99)}%"


def money(r):
    return r.choice([f"${r.randint(2, 999)},{r.randint(0, 999):03d}", f"{r.randint(100, 99999)} euros", f"€{r.randint(50, 9999)}",
                     f"{r.randint(2, 99)} million dollars", f"£{r.randint(10, 999)}"])


def count(r):
    return str(r.randint(3, 9999)) if r.chance(.7) else f"{r.randint(1, 99)},{r.randint(0, 999):03d}"


def phone(r):
    return r.choice([f"+{r.randint(1, 99)} {r.randint(100, 999)} {r.randint(1000, 9999)}", f"555-{r.randint(1000, 9999)}",
                     f"0{r.randint(10, 99)} {r.randint(100000, 999999)}"])


def email(r):
    names = [name for name in person(r).lower().split() if not name.endswith(".")]
    return r.choice([".", "_", ""]).join(names) + "@" + made_up(r).lower() + r.choice([".com", ".org", ".net", ".io", ".eu"])


def room(r):
    return r.choice([f"room {r.randint(1, 499)}", f"the {r.choice(PLACE)}", f"building {r.choice('ABCDEFGH')}", place(r),
                     f"the {r.choice(COLOR)} {r.choice(['box', 'cabinet', 'drawer', 'shed'])}", f"hall {r.randint(1, 20)}"])
