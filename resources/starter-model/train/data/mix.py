"""All skills and how often each occurs. sample() -> (skill, [(text, weight), ..])."""
from data.dice import Dice
from data.documents import documents
from data.help import app, manual
from data.stories import prose, stories
from data.sums import sums
from data.talk import talk
from data.textops import copying, textops
from data.titles import titles
from data.world import world

SKILLS = {  # shares of samples; a document is as long as five sums, so that it has half of all tokens
    "documents": (documents, .235), "manual": (manual, .045), "app": (app, .06), "talk": (talk, .1), "sums": (sums, .285),
    "textops": (textops, .125), "copying": (copying, .055), "titles": (titles, .02), "stories": (stories, .03), "prose": (prose, .015), "world": (world, .03),
}


def sample(r, split="train", skill=None):
    dice = Dice(r.getrandbits(64), split == "test")
    skill = skill or dice.choices(list(SKILLS), [share for _, share in SKILLS.values()])[0]
    return skill, SKILLS[skill][0](dice)


if __name__ == "__main__":
    for number in range(24):
        name, spans = sample(Dice(number))
        print(f"===== {name}\n" + "".join(text for text, _ in spans))
