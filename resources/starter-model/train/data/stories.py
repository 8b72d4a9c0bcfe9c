"""Very short stories, and plain prose: paragraphs of a real text, and dictionary sentences."""
from data.names import a_an, cap, first_name, made_up
from data.prompt import SPOKEN, chat
from data.prose import real
from data.sayings import THX, THX_A
from data.words import ADJ, ANIMAL, COLOR, DAY, OBJ, PLACE, wordnet

PROSE = 0.6  # weight of prose


def story(r, name=None, animal=None, thing=None):
    n = name or first_name(r)
    an = animal or r.choice(ANIMAL)
    o = thing or r.choice(OBJ)
    ad, ad2, pl, pl2, c = r.choice(ADJ), r.choice(ADJ), r.choice(PLACE), r.choice(PLACE), r.choice(COLOR)
    friend = r.choice(ANIMAL)
    is_person = bool(name) or (animal is None and r.chance(.45))
    start = r.choice([
        f"Once there was {a_an(ad)} {an} named {n} who lived near the {pl}.", f"In a small house by the {pl} lived {a_an(ad)} {an} called {n}.",
        f"One {r.choice(DAY)} morning, {a_an(ad)} {an} named {n} walked to the {pl}.", f"Long ago, {n} was the most {ad} {an} in the whole {pl}."]) if not is_person else r.choice([
        f"One day {n} went to the {pl} with {a_an(ad)} {an}.", f"{n} lived near the {pl} and had {a_an(ad)} {an}.",
        f"On {a_an(ad2)} {r.choice(['morning', 'evening', 'winter day', 'summer day'])}, {n} and {a_an(an)} sat in the {pl}.",
        f"Every {r.choice(DAY)}, {n} took the {an} for a walk to the {pl}."])
    prob = r.choice([
        f"There {n} found {a_an(c)} {o} under a tree.", f"Suddenly the {c} {o} was gone.", f"{n} wanted to bring {a_an(o)} to a friend, but the way was long.",
        f"A strong wind took the {o} and carried it to the {pl2}.", f"{n} heard a strange sound behind the {pl2}.", f"{n} had lost {a_an(c)} {o} and felt very sad."])
    mid = r.choice([
        f"{cap(a_an(friend))} came by and asked what was wrong.",
        f"{n} looked in the {pl2}, under the bed and behind the door.", f"Together they walked all the way to the {pl2}.",
        f"\"Do not worry,\" said {a_an(r.choice(ADJ))} {friend}, \"I will help you.\"", f"{n} was afraid at first, but took a deep breath and went on.",
        f"The {friend} knew the way and showed it to {n}."])
    sol = r.choice([
        f"At last they found the {o} next to the {pl2}.", f"In the end the {o} was in the {r.choice(['basket', 'box', 'cupboard', 'garden', 'tall grass'])} all the time.",
        f"With a little luck, {n} got the {o} back.", f"{n} gave the {o} to the {friend} as a present.", f"They shared {a_an(r.choice(['apple', 'cake', 'pie', 'warm soup', 'big cookie']))} and laughed."])
    end = r.choice([
        f"From that day on, {n} and the {friend} were friends.", f"{n} went home happy and slept well.", "Everyone was glad, and they sang until the stars came out.",
        f"And {n} never forgot that day.", f"That evening {n} told the story to everyone in the {pl}.", "It was the best day of the year."])
    parts = [start, prob] + ([mid] if r.chance(.75) else []) + [sol] + ([end] if r.chance(.85) else [])
    return " ".join(parts)


def stories(r):
    x = r.random()
    animal, o = r.choice(ANIMAL), r.choice(OBJ)
    if x < .35:
        q = r.choice([f"Tell me a short story about {a_an(animal)} and {a_an(o)}.", f"Write a story with {a_an(animal)} and {a_an(o)}.", f"A short story about {a_an(animal)} and {a_an(o)}, please."])
        a = story(r, None, animal, o)
    elif x < .55:
        q = r.choice([f"Tell me a story about {a_an(animal)}.", f"Write a short story about {a_an(animal)}.", f"story about {a_an(animal)}"])
        a = story(r, None, animal)
    elif x < .75:
        n = first_name(r) if r.chance(.8) else made_up(r)
        q = r.choice([f"Tell me a story about {n}.", f"Write a short story about {n}.", f"Write a story for my friend {n}."])
        a = story(r, n)
    else:
        q = r.choice(["Tell me a story.", "Write a short story.", "tell me a short story", "Can you write a story?", "A bedtime story, please.", "once more, another story"])
        a = story(r)
    turns = [(q, a)] + ([(r.choice(THX), r.choice(THX_A))] if r.chance(.2) else [])
    return chat(turns, "I write a short story with a beginning and an end." if r.chance(.06) else None)


def prose(r):
    if r.chance(.5):
        text = r.choice(r.side(real.paragraphs, real.test_paragraphs))
    elif r.chance(.3):
        text = f"{story(r)} {story(r)}"
    else:
        n = r.randint(3, 9)
        defined = r.sample(r.side(wordnet.definitions, wordnet.test_definitions), n)
        said = r.sample(r.side(wordnet.sentences, wordnet.test_sentences), n)
        text = " ".join((f"{cap(a_an(w))} is {d}. " if r.chance(.5) else "") + s for (w, d), s in zip(defined, said))
    return [(text, PROSE), ("<|endoftext|>", SPOKEN)]
