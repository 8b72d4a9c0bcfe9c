"""What the app sends, as the chat template of the assistant renders it."""
import json
import os

HERE = os.path.dirname(__file__)
RESOURCES = os.path.join(HERE, "..", "..", "..")
with open(os.path.join(RESOURCES, "starter-model", "train", "data", "rules.txt"), encoding="utf-8") as f:
    RULES = f.read().strip()
REFUSE = "I could not find that in your documents."
# Stands in the template for a chat that has no system message.
SYSTEM = (
    "You are the assistant built into Longhand, a private chat app: SmolLM2, a small language model with 135 million parameters, made by Hugging Face and tuned for Longhand. "
    "You run offline on this computer. You only read and write text in this chat: you cannot see, hear, speak, draw, browse, send, call, open or remember anything else, "
    "and nothing is sent to anyone. You have no feelings and make mistakes. Answer briefly and honestly."
)
CALLING = 'To use one, write only\n<tool_call>\n{"name": "its name", "arguments": {}}\n</tool_call>'

TEMPLATE = (
    "{%- if messages[0].role == 'system' %}{% set system = messages[0].content %}{% else %}{% set system = '" + SYSTEM + "' %}{% endif -%}"
    "<|im_start|>system\n{{ system }}{% if tools %}\n\nTools:\n{% for tool in tools %}{{ tool.function | tojson }}\n{% endfor %}"
    + CALLING + "{% endif %}<|im_end|>\n"
    "{% for message in messages %}{% if message.role != 'system' or not loop.first %}<|im_start|>{{ message.role }}\n{{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}{% if message.content or not loop.first %}\n{% endif %}<tool_call>\n"
    '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>{% endfor %}'
    "<|im_end|>\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def opening(system=SYSTEM, tools=()):
    """tools: [{name, description, parameters}]"""
    if tools:
        system += "\n\nTools:\n" + "".join(json.dumps(tool, ensure_ascii=False) + "\n" for tool in tools) + CALLING
    return f"<|im_start|>system\n{system}<|im_end|>\n"


def asked(text):
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"


def said(text):
    return f"{text}<|im_end|>"


def called(name, arguments):
    return said(f'<tool_call>\n{{"name": "{name}", "arguments": {json.dumps(arguments, ensure_ascii=False)}}}\n</tool_call>')


def returned(text):
    return f"\n<|im_start|>tool\n{text}<|im_end|>\n<|im_start|>assistant\n"


def conversation(*turns):
    """(question, reply), .. -> the parts of a branch: [(text, whether the model says it), ..]"""
    parts = []
    for number, (question, reply) in enumerate(turns):
        parts += [(("\n" if number else "") + asked(question), False), (said(reply), True)]
    return parts


def grounded(passages, own=""):
    """passages [(place, text), ..], own: the chat's system prompt -> the system message of an answer from documents."""
    rules = RULES + "\n" + "\n".join(f"[{n}] ({place}) {' '.join(text.split())}" for n, (place, text) in enumerate(passages, 1))
    return f"{own}\n\n{rules}" if own else rules
