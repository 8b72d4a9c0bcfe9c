"""Paragraphs of the Jargon File 4.4.7 (public domain; Debian package jargon-text): real prose beside the made-up sentences."""
import gzip
import os
import random
import re

from data.dice import is_held
from data.words import BLOCK

FILE = os.path.join(os.environ.get("JARGON_DIR", "/usr/share/doc/jargon-text"), "jargon.txt.gz")
PLAIN = str.maketrans({"{": "", "}": "", "“": '"', "”": '"', "’": "'", "—": " - "})
COMMON = re.compile(r"[A-Za-z0-9 .,;:'\"()!?$%/&-]+")


def paragraphs():
    if not os.path.exists(FILE):
        raise SystemExit(f"[prose] no {FILE}: install the Debian package jargon-text, or set JARGON_DIR to the folder of its jargon.txt.gz")
    with gzip.open(FILE, "rt", encoding="utf-8", errors="replace") as f:
        for part in re.split(r"\n\s*\n", f.read()):
            text = " ".join(part.split()).translate(PLAIN)
            if 160 < len(text) < 900 and text[0].isupper() and text[-1] == "." and COMMON.fullmatch(text) and not BLOCK.search(text.lower()):
                yield text


def sentences(text):
    """Those of a paragraph that can stand alone."""
    return [one for one in re.split(r"(?<=[a-z]\.) (?=[A-Z])", text) if 30 < len(one) < 160 and one.count(" ") > 4 and not one.startswith(("See ", "Compare ")) and one.count('"') % 2 == 0
            and one.count("(") == one.count(")")]


class Prose:
    def __init__(self):
        found = list(paragraphs())
        random.Random(5).shuffle(found)
        self.paragraphs = [text for text in found if not is_held(text)]
        self.test_paragraphs = [text for text in found if is_held(text)]
        self.sentences = [one for text in self.paragraphs for one in sentences(text)]


real = Prose()
