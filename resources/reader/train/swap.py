"""Questions that look answerable and are not: another name or year of the same text stands in the place of one."""
import re

NAME = re.compile(r"(?<=[\w,] )(?:[A-Z][\w'-]+(?: (?:of |the |de )?[A-Z][\w'-]+)*)")
YEAR = re.compile(r"\b1[0-9]{3}s?\b|\b20[0-9]{2}s?\b")


def swapped(question, texts, dice):
    """-> the question about something else, or None where it names nothing that could be exchanged"""
    for kind in dice.sample([NAME, YEAR], 2):
        own = kind.findall(question)
        others = sorted({name for text in texts for name in kind.findall(text)} - set(own))
        others = [name for name in others if not any(name in one or one in name for one in own)]
        if own and others:
            return question.replace(dice.choice(own), dice.choice(others), 1)
    return None
