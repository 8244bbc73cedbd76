"""An evaluation asks the product itself, counts what it answers, and says what it was refused."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivekeep.evaluation import VERBS
from hivekeep.evaluation.report import to_json, to_table
from hivekeep.evaluation.run import FLOOR, Report, Run, Wanted, evaluate
from hivekeep.evaluation.store import Shown
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.settings import Settings
from support.pages import ROOT

DATA = ROOT / "tests/data/retrieval"
LEXICAL = Settings(embedding_models=("none",), storage_disk_reserve_bytes=0)
RECALL = "memory.recall"


@contextlib.contextmanager
def silent(_label: str) -> Iterator[Any]:
    """Steps that nobody watches."""
    yield lambda _taken, _all: None


SHOWN = Shown(lambda _label, items: items, silent)


def measured(name: str, settings: Settings = LEXICAL, **wanted: Any) -> Report:
    """The report on a data set of the tests."""
    return evaluate(Wanted(DATA / name, **wanted), settings, SHOWN)


def run_of(report: Report, verb: str) -> Run:
    """The only run of a verb."""
    (run,) = (run for run in report.runs if run.verb == verb)
    return run


def ranks(run: Run, question: str) -> dict[str, int | None]:
    """The ranks of what is relevant for one question."""
    (found,) = (outcome.ranks for outcome in run.outcomes if outcome.question.id == question)
    return found


def timeless(report: Report) -> Any:
    """The JSON report without its times, and without the names of hits: those of equal score change places."""
    told = to_json(report)
    for run in told["runs"]:
        del run["latency_ms"]
        for question in run["questions"]:
            question["hits"] = [hit["score"] for hit in question["hits"]]
    return json.loads(json.dumps(told))


def test_documents_are_asked_of_both_verbs() -> None:
    """Search over notes and recall over memories find the only document about bees, and so does the floor."""
    report = measured("documents")
    assert [(run.verb, run.strategy) for run in report.runs] == [
        (FLOOR, "plain"),
        ("search", "default"),
        (RECALL, "default"),
    ]
    assert [ranks(run, "q08") for run in report.runs] == [{"d15": 1}] * 3
    assert all(set(run.figures) == {"recall", "hit", "ndcg_10", "mrr"} for run in report.runs)
    assert report.refused == {"notes": [], "memories": []}


def test_an_answer_without_a_word_of_the_question_is_found_beside_its_neighbour() -> None:
    """ "How did the marathon go?" is answered by the turn after it, which says nothing of it but a time.

    Recall finds the answer next to the question when the turns of a session share their source; alone it has no
    neighbours, and nothing finds it.
    """
    together, alone = (ranks(run_of(measured("conversations", shape=s), RECALL), "10") for s in ("turns", "loose"))
    assert ranks(run_of(measured("conversations"), FLOOR), "10") == alone == {"s3-2": None}
    assert together["s3-2"] is not None


def test_sessions_are_counted_in_the_order_of_their_turns() -> None:
    """A question with a session as evidence has session figures only; one with turns has both."""
    outcomes = {outcome.question.id: outcome.figures for outcome in run_of(measured("conversations"), RECALL).outcomes}
    assert outcomes["7"] == {"session_recall": 1.0, "session_hit": 1.0}
    assert set(outcomes["1"]) == {"recall", "hit", "ndcg_10", "mrr", "session_recall", "session_hit"}


def test_whole_sessions_are_items_of_their_own() -> None:
    """One memory a session: its own figures, and no others."""
    run = run_of(measured("conversations", shape="sessions", verbs=VERBS["recall"]), RECALL)
    assert set(run.figures) == {"recall", "hit", "ndcg_10", "mrr"}
    assert ranks(run, "9") == {"s2": 1}


def test_vectors_are_made_before_the_first_question() -> None:
    """With an embedder vector_only answers, which has nothing to rank by otherwise."""
    hashed = Settings(embedding_models=("hashed",), storage_disk_reserve_bytes=0)
    wanted = {"verbs": VERBS["recall"], "strategies": ("vector_only", "keyword_only")}
    with_vectors, without = (measured("documents", settings, **wanted) for settings in (hashed, LEXICAL))
    assert [run.strategy for run in with_vectors.runs] == ["plain", "vector_only", "keyword_only"]
    assert all(outcome.answer.hits for outcome in with_vectors.runs[1].outcomes)
    assert not any(outcome.answer.hits for outcome in without.runs[1].outcomes)
    assert [outcome.ranks for outcome in with_vectors.runs[2].outcomes] == [
        outcome.ranks for outcome in without.runs[2].outcomes
    ]


def test_two_runs_differ_in_their_times_only() -> None:
    """The same data and settings: the same figures, ranks and scores."""
    first, second = (timeless(measured("documents")) for _ in range(2))
    assert first == second


def test_the_report_says_what_was_measured() -> None:
    """Version, data, k and settings; each question with its ranks, hits and figures."""
    told = to_json(measured("documents", verbs=VERBS["search"], k=3, limit=2))
    assert told["dataset"] == {
        "name": "documents",
        "form": "documents",
        "shape": "turns",
        "spaces": 1,
        "items": 24,
        "questions": 2,
        "questions_without_answer": 1,
    }
    assert (told["k"], told["settings"]["embedding.models"]) == (3, ("none",))
    assert not any("openai.key" in key and "variable" not in key for key in told["settings"])
    question = told["runs"][1]["questions"][0]
    assert (question["id"], question["ranks"], question["hits"][0]["id"]) == ("q01", {"d01": 1}, "d01")
    assert question["figures"] == {"recall": 1.0, "hit": 1.0, "ndcg_10": 1.0, "mrr": 1.0}


def test_a_refused_question_counts_as_not_answered(tmp_path: Path) -> None:
    """Recall refuses "???"; the figure is 0, the reason is told."""
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"conversation": "mira-tom", "text": "???", "evidence": ["s1-1"]}\n')
    report = measured("conversations", questions=questions, verbs=VERBS["recall"])
    (outcome,) = run_of(report, RECALL).outcomes
    assert outcome.answer.refused is not None
    assert outcome.answer.refused.code == "invalid_input"
    assert outcome.figures["recall"] == 0.0
    assert f"{RECALL} (default): 1 questions were refused" in to_table(report)
    assert to_json(report)["runs"][1]["questions"][0]["refused"]["code"] == "invalid_input"


def test_a_kept_store_is_used_again(tmp_path: Path) -> None:
    """The second run finds what the first stored and answers alike; other data in the same store is refused."""
    kept = {"stores": tmp_path / "stores", "verbs": VERBS["recall"]}
    first, second = (timeless(measured("documents", **kept)) for _ in range(2))
    assert first == second
    with pytest.raises(InvalidInput, match="the store does not hold 's1-1' as the data set has it"):
        measured("conversations", **kept)


@pytest.mark.parametrize(
    ("name", "wanted", "says"),
    [
        ("documents", {"k": 0}, "k must be from 1 to 100, not 0"),
        ("documents", {"strategies": ("best",)}, "there is no strategy 'best'; accepted: weighted, rrf, union"),
        (
            "documents",
            {"shape": "sessions"},
            "the shape 'sessions' is for conversations, and documents holds documents",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(name: str, wanted: Any, says: str) -> None:
    """Numbers, strategies and shapes are checked before anything is stored."""
    with pytest.raises(InvalidInput) as refused:
        measured(name, **wanted)
    assert says in str(refused.value)
