"""Small talk."""
from data.names import cap, first_name, made_up
from data.prompt import SYSTEM, chat
from data.sayings import ASK, DUNNO, HI, HI_A, NAMED, NAMED_A, SETS, TOPICS
from data.words import wordnet


def vary(r, s):
    """Letters and marks as people type them."""
    x = r.random()
    if x < .4:
        s = cap(s)
    elif x < .45 and len(s) < 12:
        s = s.upper()
    if r.chance(.15):
        s = s.rstrip("?!.")
    if r.chance(.05):
        s += r.choice([" :)", "!!", "..", " please"])
    return s


def one_way(r, ways):
    return ways[-1] if r.held else r.choice(ways[:-1])


def name_of_user(r):
    return first_name(r) if r.chance(.7) else made_up(r)


def turn(r):
    x = r.random()
    if x < .08:
        n = name_of_user(r)
        return vary(r, r.choice(NAMED).format(n=n)), r.choice(NAMED_A).format(n=n)
    if x < .25:
        topic = r.choice(TOPICS) if r.chance(.4) else r.choice(wordnet.nouns)
        return vary(r, one_way(r, ASK).format(x=topic)), cap(r.choice(DUNNO).format(x=topic))
    asked, replies = r.choice(SETS)
    return vary(r, one_way(r, asked)), r.choice(replies)


def talk(r):
    turns = [turn(r) for _ in range(r.choice([1, 2, 3, 4]))]
    if len(turns) > 1 and r.chance(.6):
        turns[0] = (vary(r, r.choice(HI)), r.choice(HI_A))
    if len(turns) > 2 and r.chance(.35):  # a name is remembered
        n = name_of_user(r)
        turns[0] = (vary(r, r.choice(["my name is {n}", "hi, i am {n}", "hello, my name is {n}"]).format(n=n)), f"Nice to meet you, {n}!")
        asked = r.choice(["what is my name?", "do you know my name?", "who am i?", "do you remember my name?"])
        turns[-1] = (vary(r, asked), f"Your name is {n}.")
    think = None
    if r.chance(.1):
        think = r.choice(["This is small talk. I answer in a friendly way.", "The user is chatting. A short, friendly reply is best."])
    return chat(turns, think, r.choice(SYSTEM) if r.chance(.3) else None)
