"""What a profile does to recalls: it serves its actor, learns from feedback, and nobody else notices."""

from typing import Any

import pytest

from hivekeep.tuning import passive
from support.client import Hive, open_hive

BUILTIN = "balanced-recall-v1"
QUERY = "warm cache"


@pytest.fixture
def memories(hive: Hive) -> tuple[str, str]:
    """Two memories that a recall finds equally well; the newer one comes first."""
    older, newer = (
        hive.call("memory.remember", content=f"The cache is warm in the {when}.", salience=0.3)["full_id"]
        for when in ("morning", "evening")
    )
    return older, newer


@pytest.fixture
def ada(hive: Hive) -> Hive:
    """A named caller, whom the profile `coder` serves."""
    hive.call("brain.create_profile", name="coder")
    hive.call("brain.bind", profile_id="coder", actor="ada", consumer_kind="recall")
    return hive.as_actor("ada")


def recall(hive: Hive, **args: Any) -> list[dict[str, Any]]:
    """The hits of the query."""
    hits = hive.call("memory.recall", query=QUERY, **args)
    assert isinstance(hits, list)
    return hits


def order(hive: Hive, **args: Any) -> list[str]:
    """The ids of the hits, best first."""
    return [hit["full_id"] for hit in recall(hive, **args)]


def test_a_bound_profile_changes_the_order_of_its_actor_and_of_nobody_else(
    hive: Hive, ada: Hive, memories: tuple[str, str]
) -> None:
    """Feedback of ada lifts one memory above the other for ada; for others the same recall is what it was."""
    older, newer = memories
    bob = hive.as_actor("bob")
    before = [[(hit["full_id"], hit["serve_attribution"]) for hit in recall(who)] for who in (hive, bob)]
    assert order(ada) == order(bob) == [newer, older]
    for signal, target in (("useful", older), ("wrong", newer)):
        ada.call("brain.feedback", target_id=target, signal=signal)
    assert order(ada) == [older, newer]
    assert [[(hit["full_id"], hit["serve_attribution"]) for hit in recall(who)] for who in (hive, bob)] == before
    hit = recall(ada, include_breakdown=True)[0]
    assert (hit["serve_attribution"], hit["served_by_profile_id"]) == ("profile", "coder")
    assert hit["breakdown"]["entity_posterior_mean"] == pytest.approx(2 / 3, abs=1e-12)
    assert {h["serve_attribution"] for h in recall(bob)} == {"unspecified"}


def test_feedback_of_a_memory_goes_to_the_profile_that_serves(ada: Hive, memories: tuple[str, str]) -> None:
    """`memory.feedback` and the chain with `brain.auto_feedback` both teach `coder`."""
    older, _newer = memories
    told = ada.call("memory.feedback", target_id=older, signal="useful")
    assert told["profile_id"] == "coder"
    chained = ada.ok(
        f'memory.recall(query="{QUERY}", limit=2) | brain.auto_feedback(query="{QUERY}", results=$prev, '
        'target_id=$prev[0].full_id, signal="implicit_positive")'
    )
    assert (chained["profile_id"], chained["result_count"]) == ("coder", 2)
    assert ada.call("brain.profile", profile_id="coder")["total_events"] == 2


def test_a_profile_can_be_named_for_one_recall(hive: Hive, ada: Hive, memories: tuple[str, str]) -> None:
    """Also by who is not bound to it; an unknown or archived one is refused."""
    ada.call("brain.feedback", target_id=memories[0], signal="useful")
    assert order(hive, profile_id="coder") == [memories[0], memories[1]]
    assert hive.refuses("memory.recall", query=QUERY, profile_id="nobody")["code"] == "not_found"
    for step in ("deactivate", "archive"):
        hive.call(f"brain.{step}", profile_id="coder")
    assert "archived" in hive.refuses("memory.recall", query=QUERY, profile_id="coder")["message"]
    assert {hit["serve_attribution"] for hit in recall(ada)} == {"unspecified"}


def test_a_damaged_profile_is_told_and_the_defaults_serve(ada: Hive, memories: tuple[str, str]) -> None:
    """The recall answers as without a profile, and says that nobody in particular served."""
    ada.call("brain.feedback", target_id=memories[0], signal="useful")
    ada.server.engine.run_write(lambda tx: tx.run("UPDATE brain_states SET salience_alpha = -1"))
    hits = recall(ada)
    assert [hit["full_id"] for hit in hits] == [memories[1], memories[0]]
    assert {hit["serve_attribution"] for hit in hits} == {"unattributed"}
    assert not any("served_by_profile_id" in hit for hit in hits)


def test_a_served_hit_can_be_graded(ada: Hive, memories: tuple[str, str]) -> None:
    """The ledger gets a row for each hit after the answer; its grade teaches the profile of the row."""
    recall(ada)
    engine = ada.server.engine

    def rows() -> list[Any]:
        with engine.read() as tx:
            return tx.all("SELECT id, target_id, accounting_profile_id FROM brain_serve_ledger ORDER BY seq")

    engine.settle()
    assert [row[1:] for row in rows()] == [(memories[1], "coder"), (memories[0], "coder")]
    answer = ada.call(
        "brain.feedback",
        target_id=memories[1],
        signal="implicit_negative",
        scorer_run_id="run",
        serve_ledger_id=rows()[0][0],
    )
    assert answer["profile_id"] == "coder"


def test_the_event_of_a_recall_tells_a_scorer_what_to_grade(ada: Hive, memories: tuple[str, str]) -> None:
    """Nothing told the ids of the ledger: the event holds them in the order of the targets, and each can be graded."""
    recall(ada)
    ada.server.engine.settle()
    (event,) = ada.events(event_kind="recall_executed")
    assert event["payload"]["target_ids"] == [memories[1], memories[0]]
    for target, row in zip(event["payload"]["target_ids"], event["payload"]["serve_ledger_ids"], strict=True):
        graded = {"signal": "implicit_positive", "scorer_run_id": "run", "serve_ledger_id": row}
        assert ada.call("brain.feedback", target_id=target, **graded)["profile_id"] == "coder"
    assert ada.call("memory.recall", query="zebra crossing") == []
    assert "serve_ledger_ids" not in ada.events(event_kind="recall_executed")[0]["payload"]


def test_operations_are_counted_where_nobody_is_served(hive: Hive, memories: tuple[str, str]) -> None:
    """Two remembered, one search, one profile before; a refused one and what a profile is given do not count."""
    hive.call("search", kind="note", query="cache")
    hive.refuses("search", kind="note", query=" ")
    hive.call("brain.feedback", target_id=memories[0], signal="useful")
    recall(hive)
    state = hive.call("brain.profile", profile_id=BUILTIN)["state_snapshot"]
    assert (state["total_events"], state["observed"]["total_events"]) == (1, 4)
    assert hive.call("brain.profile", profile_id=BUILTIN)["state_snapshot"]["observed"]["total_events"] == 5


def test_recalls_are_observed_and_tune_nothing(ada: Hive, memories: tuple[str, str]) -> None:
    """The process counts hits and misses beside what was learned; the scores of the next recall are the same."""
    first = [hit["rank_score"] for hit in recall(ada, entity_names=[])]
    assert ada.call("memory.recall", query="zebra crossing") == []
    state = ada.call("brain.profile", profile_id="coder")["state_snapshot"]
    assert (state["observed"]["relevance"]["alpha"], state["observed"]["relevance"]["beta"]) == (8.0, 4.0)
    assert (state["observed"]["total_events"], state["total_events"], state["relevance"]["alpha"]) == (2, 0, 7.0)
    again = [hit["rank_score"] for hit in recall(ada, entity_names=[])]
    assert again == pytest.approx(first, abs=1e-6)
    assert passive.of(ada.server.engine).seen("local", "coder").total_events == 3


def test_without_the_pack_brain_nothing_is_tuned() -> None:
    """Recalls are unspecified, feedback is acknowledged, a named profile is refused, no ledger is kept."""
    with open_hive(runtime_packs=("kg", "memory")) as hive:
        memory = hive.call("memory.remember", content="The cache is warm.")["full_id"]
        assert [hit["serve_attribution"] for hit in recall(hive)] == ["unspecified"]
        assert hive.call("memory.feedback", target_id=memory, signal="useful") == {
            "ok": True,
            "target_id": memory,
            "signal": "useful",
        }
        assert hive.refuses("memory.recall", query=QUERY, profile_id=BUILTIN)["code"] == "unsupported"
        with hive.server.engine.read() as tx:
            assert tx.one("SELECT count(*) FROM brain_serve_ledger") == (0,)
