"""Titles of chats, asked for as the app asks. A title uses the words of the conversation."""
from data.facts import any_fact
from data.names import a_an, cap, first_name
from data.prompt import REFUSE, TITLE, chat
from data.stories import story
from data.sums import arithmetic
from data.sayings import DUNNO, HI, HI_A, TOPICS
from data.words import ANIMAL, wordnet


def of_fact(r):
    fact = any_fact(r)
    title = f"{fact.about} of {fact.entity}" if fact.kind == "attribute" else fact.about if fact.kind in ("plain", "mention") else \
        f"meaning of {fact.entity}" if fact.kind == "meaning" else f"{fact.entity}"
    return r.choice(fact.questions), f"{fact.text} [{r.randint(1, 4)}]" if r.chance(.8) else REFUSE, title


def of_story(r):
    about = a_an(r.choice(ANIMAL)) if r.chance(.5) else first_name(r)
    return f"Tell me a story about {about}.", story(r), f"story about {about}"


def of_sum(r):
    q, _, answer, _ = arithmetic(r)
    return q, answer + ".", answer.split(" = ")[0]


def of_topic(r):
    x = r.choice(TOPICS) if r.chance(.5) else r.choice(wordnet.nouns)
    return f"Tell me about {x}", cap(r.choice(DUNNO).format(x=x)), f"question about {x}"


def of_greeting(r):
    hello = r.choice(HI)
    return hello, r.choice(HI_A), hello.strip("!")


def titles(r):
    q, a, title = r.choices([of_fact, of_story, of_sum, of_topic, of_greeting], [5, 1, 1, 2, 1])[0](r)
    return chat([(f"{q}\n\n{a}{TITLE}", cap(title))])
