"""A little knowledge of the world that every child has."""
from data.names import a_an, cap
from data.prompt import chat
from data.talk import turn
from data.words import DAY, MONTH

CAP = dict(France="Paris", Germany="Berlin", Spain="Madrid", Italy="Rome", Austria="Vienna", Norway="Oslo", Ireland="Dublin", Portugal="Lisbon", Poland="Warsaw",
           Greece="Athens", Finland="Helsinki", Japan="Tokyo", China="Beijing", India="New Delhi", Egypt="Cairo", Kenya="Nairobi", Peru="Lima", Cuba="Havana",
           Canada="Ottawa", Mexico="Mexico City", Sweden="Stockholm", Denmark="Copenhagen", Hungary="Budapest", England="London", Russia="Moscow", Turkey="Ankara")
OPP = dict(hot="cold", big="small", up="down", day="night", old="new", open="closed", fast="slow", high="low", light="dark", happy="sad", full="empty", left="right",
           rich="poor", hard="soft", long="short", early="late", wet="dry", loud="quiet", first="last", good="bad", heavy="light", clean="dirty", true="false")
SOUND = dict(dog="barks", cat="meows", cow="moos", duck="quacks", bee="buzzes", lion="roars", sheep="bleats", owl="hoots", horse="neighs", pig="oinks")
FACTS = [("What color is the sky?", "The sky is blue."), ("What color is grass?", "Grass is green."), ("How many days are in a week?", "A week has seven days."),
         ("How many months are in a year?", "A year has twelve months."), ("How many hours are in a day?", "A day has 24 hours."), ("How many legs does a dog have?", "A dog has four legs."),
         ("How many legs does a spider have?", "A spider has eight legs."), ("What is the largest planet?", "The largest planet is Jupiter."), ("What is water made of?", "Water is made of hydrogen and oxygen."),
         ("How many minutes are in an hour?", "An hour has 60 minutes."), ("What is the opposite of love?", "The opposite of love is hate."), ("Which planet do we live on?", "We live on the planet Earth."),
         ("What do bees make?", "Bees make honey."), ("What is frozen water?", "Frozen water is ice."), ("How many seasons are there?", "There are four seasons: spring, summer, autumn and winter.")]


def capital(r):
    c = r.choice(list(CAP))
    return r.choice(["What is the capital of {c}?", "capital of {c}", "Which city is the capital of {c}?"]).format(c=c), f"The capital of {c} is {CAP[c]}."


def opposite(r):
    c = r.choice(list(OPP))
    return r.choice(["What is the opposite of {c}?", "opposite of {c}", "Tell me the opposite of {c}."]).format(c=c), f"The opposite of {c} is {OPP[c]}."


def sound(r):
    c = r.choice(list(SOUND))
    return f"What sound does {a_an(c)} make?", f"{cap(a_an(c))} {SOUND[c]}."


def order(r):
    names, one = (DAY, "day") if r.chance(.5) else (MONTH, "month")
    i = r.randrange(len(names))
    if r.chance(.5):
        return f"Which {one} comes after {names[i]}?", f"After {names[i]} comes {names[(i + 1) % len(names)]}."
    return f"Which {one} comes before {names[i]}?", f"Before {names[i]} comes {names[i - 1]}."


def world(r):
    makers = (capital, opposite, sound, order, lambda r: r.choice(FACTS), turn)
    return chat([r.choice(makers)(r) for _ in range(r.choice([1, 2, 3]))])
