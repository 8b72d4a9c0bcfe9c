"""Sums: small ones from memory, others with the calculator where it may be called, and the pointer to it where not."""
import json
import os
import re
from fractions import Fraction

from data.prompt import called, asked, returned, said

with open(os.path.join(os.path.dirname(__file__), "tools.json"), encoding="utf-8") as f:
    TOOLS = {tool["name"]: tool for tool in json.load(f)}

ASKED = ["What is {}?", "{}", "{} = ?", "how much is {}?", "calculate {}", "what's {}", "{}=", "Can you work out {}?", "please compute {}", "solve {}", "I need {}.", "tell me {}"]
WORDS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
SIGNS = {"*": ["×", "*", "x", "·"], "/": ["/", "÷", ":"], "-": ["-", "−"], "+": ["+"]}
SWITCH_ON = ["I am not reliable with sums of this size. Switch on the calculator with the tools button below the message box, and I work it out exactly.",
             "That is too much to do in my head. With the calculator on (tools button below the message box) the result is exact.",
             "I would only guess. Switch on the calculator with the tools button below the message box and ask me again."]

# What is asked, as an expression of a, b, c, and what is answered.
STORIES = [
    ("A ticket costs {a} euros. How much do {b} tickets cost?", "{a} * {b}", "{b} tickets cost {r} euros."),
    ("I bought {b} notebooks at {a} each. What did I pay?", "{a} * {b}", "You paid {r}."),
    ("There are {a} chairs in a row and {b} rows. How many chairs are there?", "{a} * {b}", "There are {r} chairs."),
    ("I have {a} and spend {b}. How much is left?", "{a} - {b}", "{r} is left."),
    ("A book has {a} pages and I have read {b}. How many pages are left?", "{a} - {b}", "{r} pages are left."),
    ("We drove {a} km on Monday and {b} km on Tuesday. How far is that altogether?", "{a} + {b}", "That is {r} km altogether."),
    ("A school has {a} girls and {b} boys. How many pupils is that?", "{a} + {b}", "That is {r} pupils."),
    ("My rent is {a} a month. What do I pay in {b} months?", "{a} * {b}", "You pay {r} in {b} months."),
    ("Share {p} sweets among {b} children. How many does each get?", "{p} / {b}", "Each child gets {r} sweets."),
    ("{p} eggs are packed into boxes of {b}. How many boxes is that?", "{p} / {b}", "That is {r} boxes."),
    ("A coat costs {h} and is reduced by {q} percent. What does it cost now?", "{h} - {h} * {q}%", "It costs {r} now."),
    ("What is a {q}% tip on a bill of {h}?", "{h} * {q}%", "The tip is {r}."),
    ("My salary of {h} goes up by {q} %. What is it then?", "{h} + {h} * {q}%", "It is {r} then."),
    ("I work {b} hours a day, {c} days a week. How many hours is that in {d} weeks?", "{b} * {c} * {d}", "That is {r} hours."),
    ("Three friends spend {a}, {b} and {c}. How much is that together?", "{a} + {b} + {c}", "Together that is {r}."),
    ("A room is {b} m long and {c} m wide. What is its area?", "{b} * {c}", "Its area is {r} m²."),
    ("{b} packs of {c} pens and {d} single pens: how many pens are there?", "{b} * {c} + {d}", "There are {r} pens."),
    ("I pay with {h} for {b} coffees at {c}. How much change do I get?", "{h} - {b} * {c}", "You get {r} in change."),
    ("A car uses {c} litres for 100 km. How much does it need for {h} km?", "{c} * {h} / 100", "It needs {r} litres."),
    ("How many minutes are {b} hours and {c} minutes?", "{b} * 60 + {c}", "That is {r} minutes."),
    ("How many seconds are there in {b} hours?", "{b} * 3600", "There are {r} seconds."),
    ("How many days are {b} weeks?", "{b} * 7", "That is {r} days."),
    ("The sides of a rectangle are {b} and {c}. What is its perimeter?", "2 * ({b} + {c})", "Its perimeter is {r}."),
    ("{d} people share a bill of {m}. What does each pay?", "{m} / {d}", "Each pays {r}."),
    ("I save {a} a month. How much is that in {c} years?", "{a} * 12 * {c}", "That is {r} in {c} years."),
]


def value(expression):
    """Of + - * / ( ) and percent, exactly."""
    python = re.sub(r"\d+(?:\.\d+)?", lambda number: f"Fraction('{number.group(0)}')", expression).replace("%", " / 100")
    return eval(python, {"Fraction": Fraction})


def shown(number):
    """As the calculator writes it, if its decimals end within six places; None otherwise."""
    scaled = number * 10**6
    if scaled.denominator != 1:
        return None
    text = f"{'-' if scaled < 0 else ''}{abs(scaled.numerator) // 10**6}.{abs(scaled.numerator) % 10**6:06d}"
    return text.rstrip("0").rstrip(".")


def grouped(r, text):
    """Thousands as people write them."""
    whole, _, part = text.partition(".")
    return text if len(whole) < 4 or not whole.isdigit() or r.random() < 0.5 else f"{int(whole):,}" + (f".{part}" if part else "")


def easy(r):
    """What the model is to know by heart: (question, reply)"""
    sign = r.choice("++--*/")
    a, b = (r.randrange(2, 100), r.randrange(2, 100)) if sign in "+-" else (r.randrange(2, 13), r.randrange(2, 13))
    if sign == "-" and b > a:
        a, b = b, a
    if sign == "/":
        a = a * b
    result = {"+": a + b, "-": a - b, "*": a * b, "/": a // b}[sign]
    sum_ = f"{a} {WORDS[sign]} {b}" if r.random() < 0.2 else f"{a} {r.choice(SIGNS[sign])} {b}"
    if r.random() < 0.3:
        sum_ = sum_.replace(" ", "") if sum_[0].isdigit() and not any(c.isalpha() for c in sum_) else sum_
    return r.choice(ASKED).format(sum_), f"{a} {'×' if sign == '*' else '÷' if sign == '/' else '−' if sign == '-' else '+'} {b} = {result}."


def hard(r):
    """-> (question, expression, what is answered with the result {r})"""
    while True:
        numbers = {"a": r.choice([r.randrange(12, 999), round(r.uniform(2, 99), 2)]), "b": r.randrange(2, 60), "c": r.randrange(2, 40), "d": r.randrange(2, 12),
                   "h": r.choice([50, 80, 100, 120, 150, 200, 240, 250, 300, 450, 500, 1000, 1200, 2400, 3000, r.randrange(100, 5000)]), "q": r.choice([5, 8, 10, 12, 15, 17, 19, 20, 25, 30, 35, 40, 50, 75])}
        numbers["p"] = numbers["b"] * r.randrange(3, 60)
        numbers["m"] = numbers["d"] * r.randrange(4, 80)
        if r.random() < 0.45:
            question, expression, answer = r.choice(STORIES)
            expression = expression.format(**numbers)
            result = shown(value(expression))
            if result is None or result.startswith("-"):
                continue
            return question.format(**numbers), expression, answer.format(r="{r}", **numbers)
        number = lambda: r.choice([r.randrange(11, 99), r.randrange(100, 1000), r.randrange(1000, 99999), round(r.uniform(1, 999), r.choice([1, 2]))])
        kind = r.choice(["two", "two", "two", "three", "percent", "bracket"])
        if kind == "percent":
            share, of = r.choice([numbers["q"], r.randrange(2, 99)]), number()
            expression, text = f"{of} * {share}%", f"{share}{r.choice(['%', ' %', ' percent'])} of {grouped(r, str(of))}"
            plain = f"{share} % of {of}"
        else:
            signs = [r.choice("+-**/"), r.choice("+-*")]
            operands = [number(), number(), number()]
            if signs[0] == "/":
                operands[1] = r.choice([2, 4, 5, 8, 10, 16, 20, 25])
            parts = [str(one) for one in operands]
            if kind == "two":
                expression = f"{parts[0]} {signs[0]} {parts[1]}"
            elif kind == "three":
                expression = f"{parts[0]} {signs[0]} {parts[1]} {signs[1]} {parts[2]}"
            else:
                expression = f"({parts[0]} + {parts[2]}) {signs[0]} {parts[1]}"
            text = expression
            for sign, ways in SIGNS.items():
                text = text.replace(f" {sign} ", f" {r.choice(ways)} ")
            if r.random() < 0.15:
                for sign, word in WORDS.items():
                    text = text.replace(f" {sign} ", f" {word} ")
            if kind == "two" and r.random() < 0.3:
                text = " ".join(grouped(r, one) for one in text.split(" "))
            if r.random() < 0.2 and not any(c.isalpha() for c in text):
                text = text.replace(" ", "")
            plain = expression.replace("*", "×").replace("/", "÷").replace("-", "−")
        if shown(value(expression)) is not None:
            return r.choice(ASKED).format(text), expression, plain + " = {r}."


def with_calculator(r):
    """-> the parts of a branch"""
    question, expression, answer = hard(r)
    result = shown(value(expression))
    return [(asked(question), False), (called("calculator", {"expression": expression}), True), (returned(result), False), (said(answer.format(r=result)), True)]


def without_calculator(r):
    return hard(r)[0], r.choice(SWITCH_ON)


ZONES = [("Tokyo", "Asia/Tokyo"), ("New York", "America/New_York"), ("London", "Europe/London"), ("Sydney", "Australia/Sydney"), ("Berlin", "Europe/Berlin"), ("Cairo", "Africa/Cairo"),
         ("Los Angeles", "America/Los_Angeles"), ("Delhi", "Asia/Kolkata"), ("São Paulo", "America/Sao_Paulo"), ("Singapore", "Asia/Singapore"), ("Nairobi", "Africa/Nairobi"), ("Toronto", "America/Toronto")]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]


def with_clock(r):
    day, month, year, hour, minute, weekday = r.randrange(1, 29), r.randrange(12), r.randrange(2025, 2031), r.randrange(24), r.randrange(60), r.choice(DAYS)
    place, zone = r.choice(ZONES)
    there = r.random() < 0.3
    kind = "time" if there else r.choice(["time", "date", "day"])
    question = {"time": ["what time is it?", "What's the time?", "time please", "How late is it?", "tell me the time"], "date": ["what is today's date?", "What's the date today?", "date?", "which date is it"],
                "day": ["Which day is it today?", "what day of the week is it?", "is it the weekend?", "what day is it"]}[kind]
    question = r.choice([f"What time is it in {place}?", f"what's the time in {place.lower()}", f"How late is it in {place} now?"]) if there else r.choice(question)
    result = f"{weekday}, {year}-{month + 1:02d}-{day:02d}, {hour:02d}:{minute:02d}:{r.randrange(60):02d} ({zone}, GMT{r.choice(['', '+01:00', '+02:00', '-05:00', '+09:00'])})"
    answer = {"time": f"It is {hour:02d}:{minute:02d}" + (f" in {place}." if there else "."), "date": f"Today is {weekday}, {day} {MONTHS[month]} {year}.", "day": f"It is {weekday}."}[kind]
    if question == "is it the weekend?":
        answer = f"Yes, it is {weekday}." if weekday in ("Saturday", "Sunday") else f"No, it is {weekday}."
    return [(asked(question), False), (called("clock", {"zone": zone} if there else {}), True), (returned(result), False), (said(answer), True)]


def tools(r):
    """Some of the tools in the order in which the app names them; the calculator or the clock is among them."""
    chosen = {r.choice(["calculator", "calculator", "clock"])} | {name for name in TOOLS if r.random() < 0.45}
    return [tool for name, tool in TOOLS.items() if name in chosen], chosen
