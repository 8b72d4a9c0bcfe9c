"""What the app sends, word by word. rules.txt is compared with the app's own prompt by a test of the app."""
import os

with open(os.path.join(os.path.dirname(__file__), "rules.txt"), encoding="utf-8") as f:
    RULES = f.read().strip()
REFUSE = "I could not find that in your documents."
SYSTEM = ["You are a helpful assistant.", "You are a friendly assistant. Keep answers short.", "Be brief.", "Answer in simple English.",
          "You are the built-in starter model.", "You are a helpful assistant in a desktop app."]
TITLE = "\n\n---\nWrite a title of two to six words for this conversation. Answer with the title only."

CONTEXT, SPOKEN = 0.0, 1.0  # weights of what is given and of what the model has to produce


def chat(turns, think=None, system=None):
    """turns [(user, assistant), ..] as chat_template.jinja renders them. The last reply carries the thinking (empty if None)."""
    spans = [(f"<|im_start|>system\n{system.strip()}<|im_end|>\n", CONTEXT)] if system else []
    for number, (user, reply) in enumerate(turns):
        spans.append((f"<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n", CONTEXT))
        if number == len(turns) - 1:
            spans.append(("<think>\n\n</think>\n\n" if think is None else "<think>\n", CONTEXT))
            if think is not None:
                spans.append((f"{think}\n</think>\n\n", SPOKEN))
        spans.append((f"{reply}<|im_end|>", SPOKEN))
        spans.append(("\n", CONTEXT))
    return spans


def grounded(passages, system=""):
    """passages [(name, label, text), ..] -> the system message of an answer from documents."""
    lines = [f"[{n}] ({name}, {label}) {text}" if label else f"[{n}] ({name}) {text}" for n, (name, label, text) in enumerate(passages, 1)]
    return (system + "\n\n" if system else "") + RULES + "\n" + "\n".join(lines)


def attached(name, text, question):
    """A file that goes along with a message."""
    return f"{name}:\n```\n{text}\n```\n\n{question}"
