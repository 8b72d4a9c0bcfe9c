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

SKILLS = {
    "documents": (documents, .48), "manual": (manual, .07), "app": (app, .05), "talk": (talk, .06), "sums": (sums, .14),
    "textops": (textops, .09), "copying": (copying, .04), "titles": (titles, .02), "stories": (stories, .03), "prose": (prose, .005), "world": (world, .015),
}


def sample(r, split="train", skill=None):
    dice = Dice(r.getrandbits(64), split == "test")
    skill = skill or dice.choices(list(SKILLS), [share for _, share in SKILLS.values()])[0]
    return skill, SKILLS[skill][0](dice)


if __name__ == "__main__":
    for number in range(24):
        name, spans = sample(Dice(number))
        print(f"===== {name}\n" + "".join(text for text, _ in spans))
