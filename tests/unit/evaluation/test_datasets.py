"""Data sets are read whole, or refused with the place and with what is accepted."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hivekeep.evaluation.datasets import Dataset, Item, Question, as_sessions, read_dataset
from hivekeep_contract.errors import InvalidInput
from support.pages import ROOT

DATA = ROOT / "tests/data/retrieval"
DOCUMENT = {"_id": "1", "title": "T", "text": "body"}
TURN = {"id": "t1", "session": "s1", "text": "hello"}


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    """Files of JSON lines, or of raw text or bytes."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, list):
            content = "".join(json.dumps(line) + "\n" for line in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def test_documents_with_a_table_of_judgments() -> None:
    """Grades come from the table, grade 0 is not relevant, a query without any judgment is counted apart."""
    data = read_dataset(DATA / "documents")
    assert (data.name, data.form, data.size, len(data.questions), data.unanswered) == (
        "documents",
        "documents",
        24,
        13,
        1,
    )
    assert data.questions[3] == Question(
        "q04", "signs of rain and frost in the weather", "documents", {"d04": 2.0, "d22": 1.0}
    )
    assert data.questions[0].grades == {"d01": 2.0}


def test_conversations_with_evidence() -> None:
    """A turn is said by its speaker, evidence is a turn with its session or a session alone."""
    data = read_dataset(DATA / "conversations")
    assert (data.form, list(data.spaces), data.size) == ("conversations", ["mira-tom", "dario-ines"], 32)
    assert (len(data.questions), data.unanswered) == (10, 1)
    turn = Item("s1-2", "Tom: Cold, but we grilled trout over an open fire.", group="s1", time="2024-03-02")
    assert data.spaces["mira-tom"][1] == turn
    assert data.questions[2].grades == {"s1-5": 1.0, "s1-7": 1.0}
    assert data.questions[2].groups == {"s1"}
    assert (data.questions[6].grades, data.questions[6].groups) == ({}, {"s3"})


def test_sessions_are_the_turns_of_one_session_below_its_time() -> None:
    """One item a session in the order of the turns; what is relevant is the session."""
    data = as_sessions(read_dataset(DATA / "conversations"))
    assert [item.id for item in data.spaces["dario-ines"]] == ["s1", "s2", "s3"]
    assert data.spaces["dario-ines"][2].text.split("\n")[:2] == ["2024-05-30", "Ines: How did the marathon go?"]
    assert data.questions[2] == Question(
        "3", "What color is the hallway of Mira?", "mira-tom", {"s1": 1.0}, category="joined"
    )


def test_names_may_begin_otherwise_and_judgments_stand_with_the_queries(tmp_path: Path) -> None:
    """`x_corpus.jsonl` and `x_test_queries.jsonl` with lists or grades are read as they are; ids may be numbers."""
    write(
        tmp_path,
        {
            "x_corpus.jsonl": [DOCUMENT, {"_id": 2, "text": "b"}, {"_id": "3", "title": "only a title", "text": ""}],
            "x_test_queries.jsonl": [
                {"_id": "a", "text": "list", "qrels": ["1", "2"]},
                {"_id": "b", "text": "grades", "qrels": {"2": 0, "3": 2}},
            ],
        },
    )
    data = read_dataset(tmp_path)
    assert data.spaces == {
        "documents": (Item("1", "body", "T"), Item("2", "b"), Item("3", "only a title", "only a title"))
    }
    assert [question.grades for question in data.questions] == [{"1": 1.0, "2": 1.0}, {"3": 2.0}]


def test_other_questions_may_be_asked(tmp_path: Path) -> None:
    """A file of questions stands in for that of the folder."""
    file = (
        write(tmp_path, {"mine.jsonl": [{"text": "?", "conversation": "mira-tom", "evidence": ["s2"]}]}) / "mine.jsonl"
    )
    data: Dataset = read_dataset(DATA / "conversations", file)
    assert [(question.id, question.groups) for question in data.questions] == [("1", {"s2"})]


def test_a_table_of_four_columns_is_that_of_trec(tmp_path: Path) -> None:
    """The second of four columns says nothing; a table without a head line is read from its first line."""
    files = {"corpus.jsonl": [DOCUMENT], "queries.jsonl": [{"_id": "q", "text": "x"}], "qrels/dev.tsv": "q 0 1 1\n"}
    assert read_dataset(write(tmp_path, files)).questions[0].grades == {"1": 1.0}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "holds no data set; accepted: corpus.jsonl with queries.jsonl"),
        (
            {"a_corpus.jsonl": [DOCUMENT], "b_corpus.jsonl": [DOCUMENT]},
            "several files *corpus.jsonl: a_corpus.jsonl, b_",
        ),
        ({"corpus.jsonl": [DOCUMENT]}, "holds no queries.jsonl"),
        ({"corpus.jsonl": "\n", "queries.jsonl": []}, "corpus.jsonl holds no document"),
        ({"corpus.jsonl": "{\n"}, "corpus.jsonl:1: is not JSON"),
        ({"corpus.jsonl": "\n[]\n"}, "corpus.jsonl:2: is []; accepted: one JSON object a line"),
        ({"corpus.jsonl": b"\xff\n"}, "corpus.jsonl:1: is not UTF-8"),
        ({"corpus.jsonl": [DOCUMENT, DOCUMENT]}, "corpus.jsonl:2: the document '1' stands twice"),
        ({"corpus.jsonl": [{"_id": "1", "text": 5}]}, "corpus.jsonl:1: 'text' must be a text, not 5"),
        ({"corpus.jsonl": [{"text": "x"}]}, "corpus.jsonl:1: '_id' or 'id' is missing"),
        ({"corpus.jsonl": [{"_id": "1"}]}, "corpus.jsonl:1: 'text' is missing"),
    ],
)
def test_a_bad_corpus_is_refused_by_place(tmp_path: Path, files: Mapping[str, Any], says: str) -> None:
    """The message names file and line, what was found and what is accepted."""
    with pytest.raises(InvalidInput) as refused:
        read_dataset(write(tmp_path, files))
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"_id": "q", "text": " "}, ":1: 'text' is missing"),
        ({"_id": "q", "text": "x", "qrels": "1"}, ":1: 'qrels' must be an object of grades by document or a list"),
        (
            {"_id": "q", "text": "x", "qrels": ["9"]},
            ":1: 'qrels' names the document '9', which the corpus does not hold",
        ),
        ({"_id": "q", "text": "x", "qrels": {"1": "much"}}, ":1: the grade of '1' must be a number from 0, not 'much'"),
        ({"_id": "q", "text": "x", "qrels": {"1": True}}, ":1: the grade of '1' must be a number from 0, not True"),
        (
            {"_id": "q", "text": "x"},
            "no query has 'qrels', so qrels/test.tsv or one table qrels/*.tsv is needed; found: none",
        ),
    ],
)
def test_a_bad_query_is_refused_by_place(tmp_path: Path, query: Mapping[str, Any], says: str) -> None:
    """Judgments are of documents that exist, with grades that are numbers."""
    with pytest.raises(InvalidInput) as refused:
        read_dataset(write(tmp_path, {"corpus.jsonl": [DOCUMENT], "queries.jsonl": [query]}))
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("q\t1\n", "test.tsv:1: has 2 columns; accepted: query, document, grade, tab-separated"),
        ("q\t1\t1\nq\t1\t0\n", "test.tsv:2: the pair 'q', '1' stands twice"),
        ("q\t1\t1\nq\t9\t0\n", "test.tsv:2: the corpus holds no document '9'"),
        ("q\t1\t1\nq\t1\thigh\n", "test.tsv:2: the grade must be a whole number"),
    ],
)
def test_a_bad_judgment_is_refused_by_place(tmp_path: Path, table: str, says: str) -> None:
    """A pair is judged once, with a whole number."""
    files = {"corpus.jsonl": [DOCUMENT], "queries.jsonl": [{"_id": "q", "text": "x"}], "qrels/test.tsv": table}
    with pytest.raises(InvalidInput) as refused:
        read_dataset(write(tmp_path, files))
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("turns", "question", "says"),
    [
        ([TURN, TURN], {}, "turns.jsonl:2: the turn 't1' stands twice in its conversation"),
        ([{"id": "t", "text": "x"}], {}, "turns.jsonl:1: 'session' is missing"),
        (
            [{"id": "t", "session": "s", "speaker": 1, "text": "x"}],
            {},
            "turns.jsonl:1: 'speaker' must be a text, not 1",
        ),
        ([TURN], {"text": "x"}, "questions.jsonl:1: 'evidence' must be a list of ids of turns or sessions, not None"),
        (
            [TURN],
            {"text": "x", "evidence": ["t9"]},
            "questions.jsonl:1: 'evidence' names 't9', which is no turn and no",
        ),
        ([TURN], {"text": "x", "evidence": [], "conversation": "c"}, "questions.jsonl:1: there is no conversation 'c'"),
        (
            [TURN, {**TURN, "conversation": "c"}],
            {"text": "x", "evidence": []},
            "'conversation' is missing; there are 2",
        ),
    ],
)
def test_a_bad_conversation_is_refused_by_place(tmp_path: Path, turns: Any, question: Any, says: str) -> None:
    """Evidence belongs to the conversation that is asked."""
    with pytest.raises(InvalidInput) as refused:
        read_dataset(write(tmp_path, {"turns.jsonl": turns, "questions.jsonl": [question]}))
    assert says in str(refused.value)


def test_a_question_stands_once(tmp_path: Path) -> None:
    """The same id twice is refused at the second."""
    question = {"id": "q", "text": "x", "evidence": ["t1"]}
    files = {"turns.jsonl": [TURN], "questions.jsonl": [question, question]}
    with pytest.raises(InvalidInput, match=r"questions.jsonl:2: the question 'q' stands twice"):
        read_dataset(write(tmp_path, files))


def test_a_folder_of_data_sets_names_them() -> None:
    """The folder of the examples holds one of each form, and the refusal did not say so."""
    with pytest.raises(InvalidInput, match=r"one is in each of its folders conversations, documents$"):
        read_dataset(DATA)


def test_a_folder_must_be_one(tmp_path: Path) -> None:
    """A path that leads nowhere is named."""
    with pytest.raises(InvalidInput, match="nowhere is not a folder"):
        read_dataset(tmp_path / "nowhere")
