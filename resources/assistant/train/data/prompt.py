"""What the app sends, as SmolLM2's chat template renders it."""
import os

HERE = os.path.dirname(__file__)
RESOURCES = os.path.join(HERE, "..", "..", "..")
with open(os.path.join(RESOURCES, "starter-model", "train", "data", "rules.txt"), encoding="utf-8") as f:
    RULES = f.read().strip()
REFUSE = "I could not find that in your documents."
# Stands in the shipped chat template where SmolLM2's own name stood.
SYSTEM = "You are the assistant built into Longhand, a private chat app. You run on this computer. Answer briefly and honestly."


def opening(system=SYSTEM):
    return f"<|im_start|>system\n{system}<|im_end|>\n"


def asked(text):
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"


def said(text):
    return f"{text}<|im_end|>"


def grounded(passages):
    """passages [(place, text), ..] -> the system message of an answer from documents."""
    return RULES + "\n" + "\n".join(f"[{n}] ({place}) {' '.join(text.split())}" for n, (place, text) in enumerate(passages, 1))
