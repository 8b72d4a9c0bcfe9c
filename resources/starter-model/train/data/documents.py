"""Questions about numbered passages, in the app's own prompt."""
from data.facts import any_fact, led_in, neighbour
from data.names import cap, made_up, person, place
from data.prose import real
from data.prompt import REFUSE, SYSTEM, attached, chat, grounded
from data.words import ANIMAL, DAY, EXT, FILES, PLACE, THING, wordnet

PASSAGES = ((1, .2), (2, .32), (3, .26), (4, .22))
MORE, DENSE = (0, 1, 2, 4), (1, 2, 4, 5)  # facts beyond one a passage; training asks more of a document that it has read
REFUSED = .2
LED_IN = .35  # of the sentences in training


def filler(r):
    """A sentence that answers nothing."""
    if not r.held and r.chance(.2):
        return r.choice(real.sentences)
    if r.chance(.7):
        return r.choice(r.side(wordnet.sentences, wordnet.test_sentences))
    return r.choice([
        "This page was left short on purpose.", "More details follow in the next section.", "See the appendix for the full table.",
        f"The {r.choice(THING)} was closed on {r.choice(DAY)}.", f"Visitors like the {r.choice(PLACE)} near {place(r)}.",
        f"It rained for {r.randint(2, 9)} days.", f"The meeting took place in {place(r)}.", "All values were checked twice.",
        f"{person(r)} took the notes.", "Please keep this document in a safe place.", f"Section {r.randint(1, 30)} describes the method.",
        f"The old {r.choice(THING)} is no longer used.", "The results are shown below."])


def file_name(r):
    name = r.choice(FILES) if r.chance(.6) else made_up(r).lower() + r.choice(["", "-" + r.choice(FILES), "_" + str(r.randint(1, 2030))])
    return f"{name}.{r.choice(EXT)}" if r.chance(.7) else cap(name)


def label(r):
    return r.choices([f"p. {r.randint(1, 300)}", f"¶ {r.randint(1, 60)}", f"line {r.randint(1, 400)}", ""], [.5, .35, .1, .05])[0]


def facts_for(r, count):
    """Facts that no question confuses, though many are alike."""
    facts = []
    while len(facts) < count:
        new = neighbour(r, r.choice(facts)) if facts and r.chance(.45) else any_fact(r)
        if not r.held and new.kind not in ("meaning", "mention") and r.chance(LED_IN):
            new.text = led_in(r, new.text)
        clash = any(new.key == old.key or set(new.questions) & set(old.questions) for old in facts)
        if not clash:
            facts.append(new)
    return facts


def document(r, count=None, most=8, more=MORE):
    """-> passages [(name, label, text)], facts that know the number of their passage."""
    count = count or r.choices([n for n, _ in PASSAGES], [p for _, p in PASSAGES])[0]
    facts = facts_for(r, min(most, count + r.choice(more)))
    crowd = r.choice([0, .3, .7, 1.2])
    sentences = [[] for _ in range(count)]
    numbers = r.sample(range(count), count)
    for at, fact in enumerate(facts):
        place_of = numbers[at] if at < count else r.randrange(count)
        fact.passage = place_of + 1
        sentences[place_of].append(fact.text)
    same = file_name(r) if r.chance(.5) else None
    passages = []
    for own in sentences:
        own = own + [filler(r) for _ in range(int(crowd + r.random()))]
        r.shuffle(own)
        heading = cap(r.choice(wordnet.nouns)) + " " if r.chance(.3) else ""
        passages.append((same or file_name(r), label(r), heading + " ".join(own)))
    return passages, facts


def absent(r, facts):
    """A question like the others that nothing here answers."""
    for _ in range(20):
        new = neighbour(r, r.choice(facts))
        if new.kind in ("plain", "mention", "meaning") and any(old.text.lower().find(word.lower()) >= 0 for old in facts for word in new.about.split()):
            continue
        if all(new.key != old.key and not set(new.questions) & set(old.questions) for old in facts):
            return r.choice(new.questions)
    return f"What is the name of {made_up(r)}'s {r.choice(ANIMAL)}?"


def turns_of(r, facts, most):
    turns = []
    for fact in r.sample(facts, min(most, len(facts))):
        turns.append((absent(r, facts), REFUSE) if r.chance(REFUSED) else (r.choice(fact.questions), fact.answer))
    return turns


def documents(r):
    passages, facts = document(r, most=9, more=DENSE)
    if r.chance(.05):
        return from_attachment(r, passages, facts)
    turns = turns_of(r, facts, r.choice([3, 6, 9]))
    system = r.choice(SYSTEM) if r.chance(.12) else ""
    return chat(turns, thinking(r, facts, turns[-1]) if r.chance(.06) else None, grounded(passages, system))


def thinking(r, facts, turn):
    found = next((fact for fact in facts if fact.answer == turn[1]), None)
    if found is None:
        return "I look for the answer in the passages. None of them contains it."
    return f"I look for the answer in the passages. Passage [{found.passage}] says: {found.text}"


def from_attachment(r, passages, facts):
    """Without numbers there is nothing to cite."""
    turns = [(r.choice(fact.questions), fact.text) for fact in r.sample(facts, min(3, len(facts)))]
    text = "\n\n".join(text for _, _, text in passages)
    return chat([(attached(passages[0][0], text, turns[0][0]), turns[0][1]), *turns[1:]])


def document_question(r):
    """For the evaluation, always 2 to 4 passages: (system, question, value or None, number of the passage)."""
    while True:
        passages, facts = document(r, r.choice([2, 3, 4]))
        fact = r.choice(facts)
        if r.chance(.25):
            return grounded(passages), absent(r, facts), None, 0
        if fact.kind not in ("meaning", "mention"):
            return grounded(passages), r.choice(fact.questions), fact.value, fact.passage
