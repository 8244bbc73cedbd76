"""Data sets in the form of BEIR: documents, queries, and judgments of pairs of them.

What it keeps true: a judgment names a query and a document that exist; a pair is judged once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hivekeep.evaluation.datasets import Dataset, Item, Question, file
from hivekeep.evaluation.lines import Line, read_objects, read_text_lines, refusal, shown
from hivekeep_contract.errors import InvalidInput

CORPUS = "corpus.jsonl"
QUERIES = "queries.jsonl"
QRELS = "qrels"
SPACE = "documents"

Grades = dict[str, float]


def read(folder: Path, corpus: Path, questions: Path | None) -> Dataset:
    """Read the data set of `folder`. Raises InvalidInput with file and line."""
    documents = _documents(corpus)
    asked: dict[str, tuple[str, Grades]] = {}
    for line in read_objects(file(folder, QUERIES, questions)):
        query = line.id("_id", "id")
        if query in asked:
            line.refuse(f"the query {query!r} stands twice")
        asked[query] = (line.text("text"), _own_grades(line, documents))
    if not any(grades for _, grades in asked.values()):
        _add_judgments(folder, asked, documents)
    answered = [Question(query, text, SPACE, grades) for query, (text, grades) in asked.items() if grades]
    name = folder.resolve().name
    return Dataset(name, "documents", {SPACE: tuple(documents.values())}, tuple(answered), len(asked) - len(answered))


def _documents(corpus: Path) -> dict[str, Item]:
    found: dict[str, Item] = {}
    for line in read_objects(corpus):
        document = line.id("_id", "id")
        if document in found:
            line.refuse(f"the document {document!r} stands twice")
        title = line.optional_text("title")
        text = line.optional_text("text") or title
        if text is None:
            line.refuse("'text' is missing; it must be a text that is not blank")
        found[document] = Item(document, text, title)
    if not found:
        raise InvalidInput(f"{corpus} holds no document")
    return found


def _own_grades(line: Line, documents: Mapping[str, Item]) -> Grades:
    """The judgments that stand with a query: an object of grades, or a list of relevant documents."""
    qrels = line.fields.get("qrels")
    if qrels is None:
        return {}
    if isinstance(qrels, list) and all(isinstance(document, str) for document in qrels):
        qrels = dict.fromkeys(qrels, 1)
    if not isinstance(qrels, dict):
        line.refuse(f"'qrels' must be an object of grades by document or a list of documents, not {shown(qrels)}")
    grades: Grades = {}
    for document, grade in qrels.items():
        if document not in documents:
            line.refuse(f"'qrels' names the document {document!r}, which the corpus does not hold")
        if not _is_grade(grade):
            line.refuse(f"the grade of {document!r} must be a number from 0, not {shown(grade)}")
        if grade > 0:
            grades[document] = float(grade)
    return grades


def _is_grade(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _add_judgments(folder: Path, asked: Mapping[str, tuple[str, Grades]], documents: Mapping[str, Item]) -> None:
    """Add the judgments of `qrels/test.tsv`, or of the only table there is."""
    tables = sorted((folder / QRELS).glob("*.tsv"))
    table = next((path for path in tables if path.stem == "test"), tables[0] if len(tables) == 1 else None)
    if table is None:
        found = ", ".join(path.name for path in tables) or "none"
        raise InvalidInput(
            f"{folder}: no query has 'qrels', so {QRELS}/test.tsv or one table {QRELS}/*.tsv is needed; found: {found}"
        )
    judged: set[tuple[str, str]] = set()
    for number, text in read_text_lines(table):
        query, document, grade = _judgment(table, number, text)
        if number == 1 and grade is None:
            continue
        if grade is None:
            raise refusal(table, number, "the grade must be a whole number; accepted: query, document, grade")
        if (query, document) in judged:
            raise refusal(table, number, f"the pair {query!r}, {document!r} stands twice")
        if document not in documents:
            raise refusal(table, number, f"the corpus holds no document {document!r}")
        judged.add((query, document))
        # The table may judge queries of more than this file of queries.
        if query in asked and grade > 0:
            asked[query][1][document] = float(grade)


def _judgment(table: Path, number: int, text: str) -> tuple[str, str, int | None]:
    """Query, document and grade of a line (tab-separated, or TREC's four columns); no grade in the head line."""
    columns = text.split("\t") if "\t" in text else text.split()
    if len(columns) == 4:
        del columns[1]
    if len(columns) != 3:
        raise refusal(table, number, f"has {len(columns)} columns; accepted: query, document, grade, tab-separated")
    grade = columns[2].strip()
    return columns[0].strip(), columns[1].strip(), int(grade) if grade.lstrip("-").isdecimal() else None
