"""Sums and other small tasks that are worked out step by step in the thinking, which always ends."""
from data.names import first_name
from data.prompt import chat
from data.talk import turn
from data.words import ANIMAL, FIRST, FRUIT, OBJ, wordnet


def add_steps(a, b):
    x, y, carry, steps = str(a)[::-1], str(b)[::-1], 0, []
    for i in range(max(len(x), len(y))):
        m, n = int(x[i]) if i < len(x) else 0, int(y[i]) if i < len(y) else 0
        total = m + n + carry
        steps.append(f"{m} + {n}" + (f" + {carry}" if carry else "") + f" = {total}, write {total % 10}" + (", carry 1" if total > 9 else ""))
        carry = total // 10
    return ". ".join(steps + ["write 1"] * carry) + "."


def subtract_steps(a, b):
    x, y, borrow, steps = str(a)[::-1], str(b)[::-1], 0, []
    for i in range(len(x)):
        m, n = int(x[i]), int(y[i]) if i < len(y) else 0
        left = m - n - borrow
        said = f"{m} - {n}" + (f" - {borrow}" if borrow else "")
        borrow = 1 if left < 0 else 0
        steps.append(f"{said} = {left % 10}" + (", borrow 1" if borrow else ""))
    return ". ".join(steps) + "."


PLUS = ["{a} + {b}", "What is {a} + {b}?", "How much is {a} plus {b}?", "Add {a} and {b}.", "{a}+{b}=?", "Calculate {a} + {b}.", "What is the sum of {a} and {b}?"]
MINUS = ["{a} - {b}", "What is {a} - {b}?", "How much is {a} minus {b}?", "Subtract {b} from {a}.", "Calculate {a} - {b}.", "{a}-{b}=?"]
TIMES = ["{a} * {b}", "What is {a} times {b}?", "{a} x {b}", "How much is {a} times {b}?", "Multiply {a} by {b}."]


def pair(r, mark, make):
    """Two numbers of this side: no sum of the evaluation was ever trained."""
    return r.until(make, lambda ab: f"{ab[0]}{mark}{ab[1]}")


def added(a, b):
    return f"{a} + {b}. {add_steps(a, b)} So {a} + {b} = {a + b}."


def taken(a, b):
    return f"{a} - {b}. {subtract_steps(a, b)} So {a} - {b} = {a - b}."


def arithmetic(r):
    """(question, steps, answer, result)"""
    k = r.random()
    digits = r.choice([2, 2, 3, 3])
    if k < .42:
        a, b = pair(r, "+", lambda: (r.randint(1, 10 ** digits - 1), r.randint(1, 10 ** r.choice([digits, digits, 2]) - 1)))
        return r.choice(PLUS).format(a=a, b=b), added(a, b), f"{a} + {b} = {a + b}", a + b
    if k < .74:
        a, b = pair(r, "-", lambda: sorted((r.randint(1, 10 ** digits - 1), r.randint(1, 10 ** digits - 1)), reverse=True))
        return r.choice(MINUS).format(a=a, b=b), taken(a, b), f"{a} - {b} = {a - b}", a - b
    a, b = r.randint(2, 12), r.randint(2, 12)  # a table is known by heart: both sides have all of it
    return r.choice(TIMES).format(a=a, b=b), f"From the times table: {a} * {b} = {a * b}.", f"{a} * {b} = {a * b}", a * b


def word_problem(r):
    n, fruit, other = first_name(r), r.choice(FRUIT), r.choice(FIRST)
    a, b = r.randint(5, 99), r.randint(1, 60)
    if r.chance(.5):
        q = r.choice([f"{n} has {a} {fruit} and gets {b} more. How many {fruit} does {n} have now?", f"There are {a} {fruit} in the box. {n} puts in {b} more. How many are there?"])
        return q, added(a, b), f"The answer is {a + b}."
    a, b = max(a, b), min(a, b)
    q = r.choice([f"{n} has {a} {fruit} and gives {b} to {other}. How many {fruit} are left?", f"There were {a} {fruit}. {n} took {b}. How many are left?"])
    return q, taken(a, b), f"The answer is {a - b}."


def comparison(r):
    top = r.choice([10, 100, 1000, 10000])
    a, b = r.sample(range(1, top + 1), 2)
    word = r.choice(["larger", "larger", "smaller"])
    q = r.choice(["Which is {w}, {a} or {b}?", "Which number is {w}: {a} or {b}?", "Compare {a} and {b}. Which is {w}?"]).format(w=word, a=a, b=b)
    x, y, large = str(a), str(b), max(a, b)
    count = lambda s: f"{s} has {len(s)} digit{'s' if len(s) > 1 else ''}"
    steps = f"{count(x)} and {count(y)}. "
    if len(x) != len(y):
        steps += f"{large} is larger because it has more digits."
    else:
        m, n = next((m, n) for m, n in zip(x, y) if m != n)
        steps += f"The first different digits are {m} and {n}. So {large} is larger."
    return q, steps, f"{large if word == 'larger' else min(a, b)} is {word}."


def counting(r):
    items = [r.choice(FRUIT + OBJ + ANIMAL) for _ in range(r.randint(2, 8))]
    q = r.choice(["How many items are in this list: {x}?", "Count the items: {x}", "Count these words: {x}"]).format(x=", ".join(items))
    return q, " ".join(f"{i} {w}." for i, w in enumerate(items, 1)), f"There are {len(items)} items."


def letters(r):
    w = r.choice(wordnet.nouns)[:9]
    q = r.choice(["How many letters does the word {w} have?", "Count the letters in {w}.", "How long is the word {w}?"]).format(w=w)
    return q, f"I spell {w}: " + ", ".join(f"{c} {i}" for i, c in enumerate(w, 1)) + ".", f"The word {w} has {len(w)} letters."


def sorting(r):
    n = r.randint(3, 5)
    items = r.sample(range(1, r.choice([20, 100])), n) if r.chance(.6) else r.sample(sorted(set(FRUIT)), n)
    rest, steps, done = list(items), [], sorted(items)
    for value in done[:-1]:
        steps.append(f"From {', '.join(map(str, rest))} the first is {value}.")
        rest.remove(value)
    q = r.choice(["Sort this list: {x}", "Sort {x}", "Put in order: {x}"]).format(x=", ".join(map(str, items)))
    return q, " ".join(steps), ", ".join(map(str, done))


TASKS = ((word_problem, .14), (comparison, .08), (counting, .06), (letters, .04), (sorting, .04))


def task(r):
    """(question, steps, answer)"""
    if r.chance(.64):
        q, steps, answer, _ = arithmetic(r)
        return q, steps, answer + "."
    return r.choices([make for make, _ in TASKS], [share for _, share in TASKS])[0](r)


def sums(r):
    if r.chance(.1):  # the smallest ones also without thinking
        a, b = r.randint(0, 20), r.randint(0, 20)
        return chat([(f"What is {a} + {b}?", f"{a} + {b} = {a + b}.")] if r.chance(.5) else [(f"{a + b} - {b}", f"{a + b} - {b} = {a}.")])
    q, steps, answer = task(r)
    return chat(([turn(r)] if r.chance(.1) else []) + [(q, answer)], steps)
