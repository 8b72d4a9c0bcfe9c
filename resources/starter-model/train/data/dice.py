"""Random choices that know which side they are on: what the evaluation is made of never occurs in training.

A made-up word, a sum or a code belongs to the evaluation when its checksum says so, the same on every machine; names, wordings
and sentences have lists of their own.
"""
import random
import zlib

TEST_OF = 8  # one in so many


def is_held(text):
    return zlib.crc32(text.encode()) % TEST_OF == 0


class Dice(random.Random):
    def __init__(self, seed, held=False):
        super().__init__(seed)
        self.held = held

    def until(self, make, text=str):
        """`make()` again and again until it is of this side."""
        while is_held(text(one := make())) != self.held:
            pass
        return one

    def side(self, train, test):
        return test if self.held else train

    def chance(self, p):
        return self.random() < p
