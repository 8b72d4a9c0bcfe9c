"""sets.py OUT FOLDER: published questions on tables and sentences, in the form that statements.ts writes.

FOLDER holds a checkout of each: WikiTableQuestions (Pasupat and Liang 2015, CC BY-SA 4.0), FeTaQA (Nan et al. 2022, CC BY-SA 4.0),
TAT-QA (Zhu et al. 2021, CC BY 4.0), qamr (Michael et al. 2018, MIT) and nqg (the questions of SQuAD 1.1's training articles, sentence by
sentence, Du et al. 2017, CC BY-SA 4.0). Of nqg only `test` is read: its `dev` is SQuAD's development split.
"""
import csv
import io
import json
import pathlib
import re
import sys

CONTEXT = 240
# Questions that one row does not answer: they count or compare rows.
OVER_ROWS = re.compile(r"\b(total|difference|average|more|less|fewer|than|next|previous|before|after|number of|consecutive|or|how many times)\b")
COUNTS = re.compile(r"\bhow many\b")


def rows_of(title, table):
    head = " | ".join(table[0])
    context = ", ".join(part for part in (title, head) if part)[:CONTEXT]
    return [f"{context}: {' | '.join(row)}" for row in table[1:]]


def asked(question, says, about):
    return {"question": question, "answerable": True, "says": says, "about": about}


def wiki_tables(folder):
    meta = csv.DictReader(open(folder / "misc/table-metadata.tsv", encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE)
    titles = {row["contextId"]: ", ".join(dict.fromkeys([row["title"], *row["headers"].split("|")])) for row in meta}
    libraries = {}
    for line in open(folder / "data/training.tsv", encoding="utf-8").read().splitlines()[1:]:
        _, question, context, target = line.split("\t")
        if OVER_ROWS.search(question) or "|" in target or (COUNTS.search(question) and len(target) < 3):
            continue
        if context not in libraries:
            text = (folder / context).read_text(encoding="utf-8", errors="replace")
            table = [[cell.replace("\n", " ").replace("\\n", " ") for cell in row] for row in csv.reader(io.StringIO(text), escapechar="\\")]
            if not 3 <= len(table) <= 60:
                continue
            libraries[context] = {"name": context, "table": table[1:], "statements": rows_of(titles.get(context, ""), table), "questions": []}
        library = libraries[context]
        says = [at for at, row in enumerate(library["table"]) if any(cell.strip().lower() == target.strip().lower() for cell in row)]
        if len(says) == 1:
            library["questions"].append(asked(question, says, []))
    return [{key: library[key] for key in ("name", "statements", "questions")} for library in libraries.values() if library["questions"]]


def feta(folder):
    for name in ("dev", "test"):
        for line in open(folder / f"data/fetaQA-v1_{name}.jsonl", encoding="utf-8"):
            one = json.loads(line)
            table = one["table_array"]
            says = sorted({row - 1 for row, _ in one["highlighted_cell_ids"] if row > 0})
            if not says or len(says) > 2 or not 3 <= len(table) <= 60:
                continue
            title = f"{one['table_page_title']}, {one['table_section_title']}"
            yield {"name": f"feta {one['feta_id']}", "statements": rows_of(title, table), "questions": [asked(one["question"], says, [])]}


SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def reports(folder):
    for name in ("dev", "test_gold"):
        for one in json.load(open(folder / f"dataset_raw/tatqa_dataset_{name}.json", encoding="utf-8")):
            statements, of, heading = [], {}, "Annual report"
            for paragraph in one["paragraphs"]:
                if len(paragraph["text"]) < 80 and not paragraph["text"].rstrip().endswith("."):
                    heading = paragraph["text"]
                    continue
                parts = SENTENCE.split(paragraph["text"])
                of[str(paragraph["order"])] = range(len(statements), len(statements) + len(parts))
                statements += [f"Annual report, {heading}: {parts[at - 1][-160:] + ' » ' if at else ''}{part}" for at, part in enumerate(parts)]
            table = one["table"]["table"]
            heads = 2 if len(table) > 3 and not table[0][0] or not any(table[0][1:]) else 1
            first = len(statements)
            head = " | ".join(" ".join(part for part in cells if part) for cells in zip(*table[:heads]))
            statements += [f"{('Annual report, ' + head)[:CONTEXT]}: {' | '.join(row)}" for row in table[heads:]]
            questions = []
            for question in one["questions"]:
                if question["answer_type"] != "span":
                    continue
                answer = str(question["answer"][0] if isinstance(question["answer"], list) else question["answer"])
                if question["answer_from"] == "text":
                    places = [at for order in question["rel_paragraphs"] for at in of.get(str(order), [])]
                    says = [at for at in places if answer.lower() in statements[at].split(" » ")[-1].lower()]
                elif question["answer_from"] == "table":
                    places = []
                    says = [first + at for at, row in enumerate(table[heads:]) if any(cell.strip() == answer.strip() for cell in row)]
                else:
                    continue
                if len(says) == 1:
                    questions.append(asked(question["question"], says, list(places)))
            if questions:
                yield {"name": one["table"]["uid"], "statements": statements, "questions": questions}


def plain(text):
    """Tokens of a treebank as text."""
    text = text.replace("-LRB- ", "(").replace(" -RRB-", ")").replace("-lrb- ", "(").replace(" -rrb-", ")").replace("`` ", '"').replace(" ''", '"')
    return re.sub(r" (?=[,.;:!?%)]|'s\b|n't\b)", "", text).strip()


TOGETHER = 40
# Of the many questions on one sentence, every so many are taken.
EVERY = 5


def meanings(folder):
    sentences = dict(line.rstrip("\n").split("\t") for line in open(folder / "data/wiki-sentences.tsv", encoding="utf-8"))
    of = {}
    for name in ("dev", "test"):
        for line in open(folder / f"data/filtered/{name}.tsv", encoding="utf-8"):
            parts = line.rstrip("\n").split("\t")
            if parts[0] in sentences:
                of.setdefault(parts[0], dict.fromkeys([])).setdefault(parts[5])
    ids = list(of)
    for start in range(0, len(ids), TOGETHER):
        part = ids[start : start + TOGETHER]
        questions = [asked(question, [at], []) for at, one in enumerate(part) for question in list(of[one])[::EVERY]]
        yield {"name": f"qamr {start}", "statements": [f"Encyclopaedia: {plain(sentences[one])}" for one in part], "questions": questions}


def articles(folder):
    pairs = list(zip(*(map(plain, open(folder / f"data/processed/{name}-test.txt", encoding="utf-8")) for name in ("src", "tgt"))))
    for start in range(0, len(pairs), 3 * TOGETHER):
        part = pairs[start : start + 3 * TOGETHER]
        said = list(dict.fromkeys(sentence for sentence, _ in part))
        questions = [asked(question, [said.index(sentence)], []) for sentence, question in part]
        yield {"name": f"nqg {start}", "statements": [f"Encyclopaedia: {sentence}" for sentence in said], "questions": questions}


def main():
    out, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    sets = {"WikiTableQuestions": wiki_tables, "FeTaQA": feta, "TAT-QA": reports, "qamr": meanings, "nqg": articles}
    for name, read in sets.items():
        libraries = list(read(folder / name))
        print(name, len(libraries), sum(len(one["statements"]) for one in libraries), sum(len(one["questions"]) for one in libraries))
        (out / f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in libraries), encoding="utf-8")


main()
