"""Facts: one sentence, questions that it answers, and the value that a right answer holds."""
from dataclasses import dataclass, field

from data import wordings
from data.names import a_an, cap, code, date, made_up, noun_phrase, org, person, place, project, quantity, thing
from data.prose import real
from data.words import ATTR, ATTR_T, DAY, MONTH, VERBS, wordnet


@dataclass
class Fact:
    kind: str
    about: str        # what of the entity: no two facts of a document share `about` and `entity`
    entity: str
    value: str
    text: str
    questions: list = field(default_factory=list)
    passage: int = 0

    @property
    def key(self):
        return self.about, self.entity

    @property
    def answer(self):
        """The sentence itself, with its source: what a reader can check at a glance."""
        return f"{self.text} [{self.passage}]"


def filled(forms, **names):
    return [cap(form.format(**names)) for form in forms]


def known_kind(r, name=None, entity=None):
    """A fact of wordings.KINDS."""
    name = name or r.choice(list(wordings.KINDS))
    make_entity, make_value, statements, questions = wordings.KINDS[name]
    e, v = entity or make_entity(r), make_value(r)
    if r.held:
        held = wordings.HELD[name]
        statements = held[0] if r.chance(.6) else statements
        questions = held[1] if r.chance(.6) else questions
    names = dict(e=e, E=cap(e), v=v, av=a_an(v))
    return Fact(name, name, e, v, filled([r.choice(statements)], **names)[0], filled(questions, **names))


def alike(r, name):
    """Another kind that says something of the same sort of entity."""
    maker = wordings.KINDS[name][0]
    return r.choice([other for other, kind in wordings.KINDS.items() if kind[0] is maker])


def attribute_name(r):
    name = r.choice(ATTR_T) if r.held and r.chance(.7) else r.choice(wordnet.nouns) if r.chance(.35) else r.choice(ATTR)
    if r.chance(.15):
        name = r.choice(["maximum", "minimum", "average", "total", "new", "official", "current", "first", "second"]) + " " + name
    return name


def any_value(r):
    x = r.random()
    return quantity(r) if x < .4 else code(r) if x < .55 else person(r) if x < .7 else date(r) if x < .8 else made_up(r) if x < .9 else place(r)


def attribute(r, entity=None):
    """The X of E is V."""
    at, v = attribute_name(r), any_value(r)
    e = entity or (thing(r) if r.chance(.6) else r.choice([org, project])(r))
    statements = ["The {at} of {e} is {v}.", "{E} has {an} of {v}.", "{At} of {e}: {v}.", "For {e}, the {at} is {v}.", "{E}: {at} {v}.",
                  "According to the table, the {at} of {e} is {v}.", "The {at} of {e} was set to {v}.", "{v} is the {at} of {e}.",
                  "Note that {e} comes with {an} of {v}."]
    questions = ["What is the {at} of {e}?", "Tell me the {at} of {e}.", "Which {at} does {e} have?", "What {at} does {e} have?",
                 "Can you find the {at} of {e}?", "{at} of {e}?"]
    if r.held and r.chance(.5):
        statements = ["We fixed the {at} of {e} at {v}.", "Everyone knows that the {at} of {e} is {v}."]
        questions = ["I need the {at} of {e}.", "Please look up the {at} of {e}."]
    names = dict(e=e, E=cap(e), v=v, at=at, At=cap(at), an=a_an(at))
    return Fact("attribute", at, e, v, filled([r.choice(statements)], **names)[0], filled(questions, **names))


def plain(r):
    """The X is V: the document itself says of what."""
    at, v = attribute_name(r), any_value(r)
    if r.chance(.4):
        at = r.choice(wordnet.nouns) + " " + at
    statements = ["The {at} is {v}.", "The {at} is {v} at most.", "As agreed, the {at} is {v}.", "{At}: {v}.", "We use {v} as the {at}.",
                  "The {at} was changed to {v}.", "From now on the {at} is {v}."]
    questions = ["What is the {at}?", "Which {at} is given?", "Tell me the {at}.", "What does it say about the {at}?"]
    if r.held and r.chance(.5):
        statements, questions = ["Until further notice the {at} stays at {v}."], ["Do you know the {at}?"]
    names = dict(v=v, at=at, At=cap(at))
    return Fact("plain", at, "", v, filled([r.choice(statements)], **names)[0], filled(questions, **names))


def event(r):
    """Somebody did something somewhere at some time; the question asks for one of these."""
    p, (verb, past), o, where = person(r), r.choice(VERBS), noun_phrase(r), place(r)
    when = r.choice([f"on {r.choice(DAY)}", f"in {r.randint(1900, 2049)}", f"in {r.choice(MONTH)}", f"on {date(r)}"])
    has_place, has_time = r.chance(.7), r.chance(.6)
    at_place, at_time = f" in {where}" * has_place, f" {when}" * has_time
    text = f"{p} {past} the {o}{at_place}{at_time}."
    if has_time and r.chance(.3):
        text = f"{cap(when)}, {p} {past} the {o}{at_place}."
    elif r.chance(.2):
        text = f"The {o} was {past} by {p}{at_place}{at_time}."
    asked = {"who": ([f"Who {past} the {o}?", f"By whom was the {o} {past}?"], p),
             "what": ([f"What did {p} {verb}?", f"Which thing did {p} {verb}?"], o)}
    if has_place:
        asked["where"] = [f"Where did {p} {verb} the {o}?", f"In which place was the {o} {past}?"], where
    if has_time:
        asked["when"] = [f"When did {p} {verb} the {o}?", f"When was the {o} {past}?"], when.split(" ", 1)[1]
    questions, value = asked[r.choice(list(asked))]
    return Fact("event", f"{verb} {o}", p, value, text, questions)


def meaning(r):
    word, definition = r.choice(r.side(wordnet.definitions, wordnet.test_definitions))
    text = r.choice([f"{cap(word)} means {definition}.", f"{cap(word)}: {definition}.", f"The word {word} means {definition}.",
                     f"{cap(word)} is {definition}."])
    questions = [f"What does {word} mean?", f"What is {word}?", f"What is the meaning of {word}?", f"Explain the word {word}."]
    return Fact("meaning", "meaning", word, definition, text, questions)


def mention(r):
    """A sentence of a real text, asked for by one or two of its words."""
    text = r.choice(real.sentences if not r.held and r.chance(.25) else r.side(wordnet.sentences, wordnet.test_sentences))
    words = [w for w in text.rstrip(".").split()[1:] if w.isalpha() and len(w) > 4]
    if not words:
        return mention(r)
    asked = " and ".join(r.sample(words, min(len(words), r.choice([1, 1, 2]))))
    questions = [f"What does it say about {asked}?", f"What is said about {asked}?", f"Where is {asked} mentioned?", f"Find the sentence with {asked}."]
    if r.held and r.chance(.5):
        questions = [f"Is there anything about {asked}?"]
    return Fact("mention", asked, "", text, text, questions)


LEADS = ("After the {n}, ", "Since the {n}, ", "{N}: ", "{N} or not, ", "Like every {n}, ", "With {an}, ", "{p} noted that ", "Item {c}: ", "In the {a} {n}, ")
SMALL = {"The", "For", "According", "As", "In", "We", "From", "Note", "About", "With", "Since", "Under", "Please", "They", "You", "Until", "On"}


def led_in(r, text):
    """The sentence behind a few words of any kind: where it begins has to be looked up, the wordings alone do not tell."""
    noun, adjective = r.choice(wordnet.nouns), r.choice(wordnet.adjectives)
    lead = r.choice(LEADS).format(n=noun, N=cap(noun), an=a_an(f"{adjective} {noun}"), a=adjective, p=person(r), c=code(r))
    first = text.split(" ", 1)[0].rstrip(",")
    return lead + (text[0].lower() + text[1:] if first in SMALL else text)


MIX = ((known_kind, .34), (attribute, .2), (plain, .16), (event, .15), (mention, .1), (meaning, .05))


def any_fact(r):
    return r.choices([make for make, _ in MIX], [share for _, share in MIX])[0](r)


def neighbour(r, fact):
    """One that is easily taken for `fact`: the same thing of somebody else, or something else of the same."""
    if fact.kind in wordings.KINDS:
        return known_kind(r, fact.kind) if r.chance(.6) else known_kind(r, alike(r, fact.kind), fact.entity)
    if fact.kind == "attribute":
        return attribute(r, fact.entity if r.chance(.5) else None)
    return plain(r) if fact.kind == "plain" else any_fact(r)
