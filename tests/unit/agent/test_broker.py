"""What a run is given: the budget, what it had before, which workspaces, and when an answer is repeated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import broker, delivery
from hivekeep.agent.broker import Candidate
from hivekeep.agent.curated import lifecycle
from hivekeep.agent.curated.lifecycle import Source
from hivekeep.storage import agent_feedback, agent_workspaces
from hivekeep.storage.agent_feedback import FeedbackRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.agent_workspaces import RepositoryRow
from hivekeep.storage.engine import Tx
from support.entries import BY, add_entry, add_run, profile, query, reasons, revised, titles
from support.stores import record_id


def content(tx: Tx, run: RunRow, budget: int) -> list[tuple[str, str | None, str, int, bool]]:
    """What is shown of each entry within a budget."""
    shown = [item.content for item in broker.rank(tx, query(run, "importer", budget=budget)).items]
    return [
        (one["title"], one["summary"], one["bodyPreview"], one["characterCount"], one["truncated"]) for one in shown
    ]


def judge(tx: Tx, run: RunRow, entry_id: str, verdict: str, *, number: int = 1, revision: int = 1) -> None:
    """A stored verdict of a run on an entry."""
    row = FeedbackRow(
        "context", record_id(number), run.seq, "ada", f"{number:064x}", 1000, verdict=verdict, entry_id=entry_id
    )
    agent_feedback.insert(tx, row._replace(entry_revision=revision, delivery_id="d"))


def later(run: RunRow, events: int = 1) -> RunRow:
    """The run after some more events."""
    return run._replace(last_sequence=run.last_sequence + events)


def deliver(tx: Tx, run: RunRow, **asked: Any) -> Candidate:
    """Ask and deliver as the run stands; its row in the store follows."""
    tx.run("UPDATE agent_runs SET last_sequence = ? WHERE seq = ?", (run.last_sequence, run.seq))
    candidate = broker.rank(tx, query(run, **asked))
    delivery.deliver(tx, candidate, 2_000_000)
    return candidate


# budget


@pytest.mark.parametrize(
    ("budget", "shown"),
    [
        (100, [("importer a", "one", "rows", 17, False), ("importer b", None, "cells", 15, False)]),
        (32, [("importer a", "one", "rows", 17, False), ("importer b", None, "cells", 15, False)]),
        (31, [("importer a", "one", "rows", 17, False), ("importer b", None, "cell", 14, True)]),
        (20, [("importer a", "one", "rows", 17, False), ("imp", None, "", 3, True)]),
        (17, [("importer a", "one", "rows", 17, False)]),
        (12, [("importer a", "on", "", 12, True)]),
        (1, [("i", None, "", 1, True)]),
    ],
)
def test_a_budget_is_filled_in_order_and_the_last_entry_is_cut(tx: Tx, budget: int, shown: list[Any]) -> None:
    """Title, then summary, then body of one entry after the other; the one that crosses the budget is cut."""
    add_entry(tx, "importer a", "rows", summary="one", status="verified")
    add_entry(tx, "importer b", "cells")
    assert content(tx, add_run(tx), budget) == shown


def test_characters_are_code_points(tx: Tx) -> None:
    """A character outside of the basic plane counts as one."""
    add_entry(tx, "importer 🐝🐝")
    assert content(tx, add_run(tx), 10) == [("importer 🐝", None, "", 10, True)]


@given(
    texts=st.lists(st.tuples(st.text("ab ", max_size=5), st.text("xy", max_size=9)), max_size=5),
    budget=st.integers(1, 60),
)
@settings(derandomize=True, deadline=None, max_examples=100)
def test_a_budget_is_never_exceeded_and_never_wasted(texts: list[tuple[str, str]], budget: int) -> None:
    """All texts together fill the budget to the last character, or are all there."""
    whole = [broker.RevisionText("t" + title, None, body) for title, body in texts]
    left, shown = budget, 0
    for text in whole:
        if left <= 0:
            break
        part = broker.fitted(text, left)
        left -= part["characterCount"]
        shown += part["characterCount"]
    size = sum(len(text.title) + len(text.body) for text in whole)
    assert shown == min(budget, size)


# the limit, and what cannot be ranked


def test_at_most_twenty_entries_are_shown(tx: Tx) -> None:
    """The best twenty by rank."""
    for number in range(21):
        add_entry(tx, f"importer {number:02}", confidence=number / 20)
    best = [f"importer {number:02}" for number in range(20, 0, -1)]
    assert titles(tx, add_run(tx), "importer") == best
    assert titles(tx, add_run(tx, 2), "importer", limit=3) == best[:3]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("title", "importer " + "x" * 2000),
        ("summary", "x" * 4001),
        ("body", "x" * 100_001),
        ("tags", "[" + ",".join(f'"{number}"' for number in range(501)) + "]"),
        ("scope", '{"a":' * 7 + "1" + "}" * 7),
    ],
)
def test_an_entry_beyond_the_bounds_is_passed_over(tx: Tx, column: str, value: str) -> None:
    """An entry that somebody stored larger than entries may be is left out, and the others are ranked."""
    add_entry(tx, "importer good")
    large = add_entry(tx, "importer large")
    tx.run("DROP TRIGGER agent_entry_revisions_never_change")
    tx.run(f"UPDATE agent_entry_revisions SET {column} = ? WHERE entry_seq = ?", (value, large.seq))
    assert titles(tx, add_run(tx), "importer") == ["importer good"]


# where a run looks


def test_a_known_project_is_given_the_global_workspace_as_well(tx: Tx) -> None:
    """The workspace of a known repository is joined by the global one; any other workspace stands alone."""
    add_entry(tx, "importer here")
    add_entry(tx, "importer everywhere", workspace="global")
    add_entry(tx, "importer elsewhere", workspace="other")
    run = add_run(tx)
    assert titles(tx, run, "importer") == ["importer here"]
    agent_workspaces.insert(tx, RepositoryRow("repo_local_1", "demo", None, 1))
    assert set(titles(tx, run, "importer")) == {"importer here", "importer everywhere"}


def test_where_an_entry_comes_from_is_told(tx: Tx) -> None:
    """The workspace of the run, the global one, and a managed source have reasons of their own."""
    agent_workspaces.insert(tx, RepositoryRow("repo_local_1", "demo", None, 1))
    add_entry(tx, "importer own")
    add_entry(tx, "importer managed", source=Source("docs", "a", "active"))
    add_entry(tx, "importer global", workspace="global")
    told = reasons(tx, add_run(tx), "importer")
    assert {title: why[:2] for title, why in told.items()} == {
        "importer own": ("project_origin", "scope_affinity"),
        "importer managed": ("ecosystem_origin", "scope_affinity"),
        "importer global": ("global_origin", "unscoped_global_prior"),
    }


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("importer in rust", "applicability_match"),
        ("importer in python", "applicability_mismatch"),
        ("importer", "applicability_unknown"),
    ],
)
def test_whether_an_entry_applies_is_told(tx: Tx, title: str, reason: str) -> None:
    """An entry matches what it applies to, mismatches another language of the memory, and else is unknown."""
    for language in ("rust", "python"):
        scope = {"schemaVersion": 2, "visibility": "project", "applicability": {"languages": [language]}}
        add_entry(tx, f"importer for {language}", scope=scope)
    told = reasons(tx, add_run(tx), title)["importer for rust"]
    assert [one for one in told if one.startswith("applicability")] == [reason]


def test_a_contradicted_entry_is_told_so(tx: Tx) -> None:
    """An entry that a retrievable one contradicts carries a warning, in both directions."""
    first, second = add_entry(tx, "importer a"), add_entry(tx, "importer b")
    run = add_run(tx)
    assert not any("contradiction_warning" in why for why in reasons(tx, run, "importer").values())
    lifecycle.link(tx, first.id, second.id, "contradicts", BY)
    assert all("contradiction_warning" in why for why in reasons(tx, run, "importer").values())
    lifecycle.disable(tx, second.id, BY)
    assert "contradiction_warning" not in reasons(tx, run, "importer")["importer a"]


# what the task says


def test_changed_paths_and_error_signatures_find_and_rank(tx: Tx) -> None:
    """A lesson about an error is found by the signature alone, an entry about a file by the changed path."""
    add_entry(tx, "Rows", "raises KeyError: 'row' at once", kind="lesson")
    add_entry(tx, "The lexer", "has states")
    add_entry(tx, "Coffee", "is downstairs")
    found = reasons(tx, add_run(tx), "nothing", changed_paths=["src/lexer.py"], error_signatures=["KeyError: 'row'"])
    assert set(found) == {"Rows", "The lexer"}
    assert "error_signature_match" in found["Rows"]
    assert "changed_path_match" in found["The lexer"]


def test_target_expected_and_tags_are_searched_beside_the_title(tx: Tx) -> None:
    """Each part of the task finds what it names."""
    for word in ("alpha", "beta", "gamma", "delta"):
        add_entry(tx, word)
    asked = {"profile": profile(taskType="debug", target="beta", expected="gamma"), "tags": ("delta",)}
    assert set(titles(tx, add_run(tx), "alpha", **asked)) == {"alpha", "beta", "gamma", "delta"}


# actionable


@pytest.mark.parametrize(
    ("title", "provenance", "actionable"),
    [
        ("importer", {}, True),
        ("importe", {}, False),
        ("importer", {"type": "external_skill", "reference": "x"}, False),
    ],
)
def test_a_candidate_is_actionable_by_its_items(
    tx: Tx, title: str, provenance: dict[str, str], actionable: bool
) -> None:
    """A word makes memory actionable; a mere substring and knowledge of elsewhere do not."""
    add_entry(tx, "importer", provenance=provenance)
    assert broker.rank(tx, query(add_run(tx), title)).actionable is actionable


def test_nothing_found_is_not_actionable(tx: Tx) -> None:
    """A candidate without items exists and is not actionable."""
    candidate = broker.rank(tx, query(add_run(tx), "importer"))
    assert (candidate.items, candidate.actionable) == ((), False)


# what the run had before


def test_an_entry_is_delivered_once_in_a_run(tx: Tx) -> None:
    """The next question leaves out what was delivered; another run is given it."""
    add_entry(tx, "importer")
    run = add_run(tx, title="importer")
    assert len(deliver(tx, run).items) == 1
    assert len(deliver(tx, later(run)).items) == 0
    assert len(deliver(tx, add_run(tx, 2, title="importer")).items) == 1


def test_a_newer_revision_comes_back_and_says_so(tx: Tx) -> None:
    """A revised entry is delivered again with revision_changed, and then again not."""
    entry = add_entry(tx, "importer")
    run = add_run(tx, title="importer")
    deliver(tx, run)
    revised(tx, entry, "importer of rows")
    (item,) = deliver(tx, later(run)).items
    assert (item.state.revision, item.reasons[-1]) == (2, "revision_changed")
    assert deliver(tx, later(run, 2)).items == ()


def test_a_helpful_entry_is_delivered_again(tx: Tx) -> None:
    """What this run found helpful last is not held back; a later other verdict holds it back again."""
    entry = add_entry(tx, "importer")
    run = add_run(tx, title="importer")
    deliver(tx, run)
    judge(tx, run, entry.id, "helpful")
    assert [item.reasons[-1] for item in deliver(tx, later(run)).items] == ["helpful_feedback"]
    judge(tx, run, entry.id, "irrelevant", number=2)
    assert deliver(tx, later(run, 2)).items == ()


def test_verdicts_of_all_runs_count_for_the_revision_judged(tx: Tx) -> None:
    """Of each verdict two runs count, one run counts once, and a new revision begins without any."""
    entry = add_entry(tx, "importer")
    runs = [add_run(tx, number, title="importer") for number in range(1, 5)]

    def points() -> int:
        return broker.rank(tx, query(runs[3])).items[0].components["feedback"]

    seen = [points()]
    for number, place in enumerate((0, 0, 1, 2), 1):
        judge(tx, runs[place], entry.id, "irrelevant", number=number)
        seen.append(points())
    judge(tx, runs[0], entry.id, "helpful", number=9)
    seen.append(points())
    revised(tx, entry, "importer of rows")
    seen.append(points())
    assert seen == [0, -3, -3, -4, -4, -3, 0]


# repeated questions


def test_an_equal_question_is_answered_by_the_stored_delivery(tx: Tx) -> None:
    """The same run, task and cursor give the same delivery, whatever was recorded since; nothing is written."""
    add_entry(tx, "importer")
    run = add_run(tx, title="importer")
    first = deliver(tx, run)
    add_entry(tx, "importer of rows")
    again = deliver(tx, run)
    assert (again.stored, again.delivery_id) == (True, first.delivery_id)
    assert [item.content for item in again.items] == [item.content for item in first.items]
    assert again.actionable is True
    assert tx.one("SELECT count(*) FROM agent_deliveries") == (1,)


@pytest.mark.parametrize("change", ["revise", "disable", "supersede", "purge"])
def test_a_stored_delivery_that_no_longer_holds_is_not_repeated(tx: Tx, change: str) -> None:
    """The question is ranked anew when a revision of the answer is not current any more."""
    entry, other = add_entry(tx, "importer"), add_entry(tx, "exporter")
    run = add_run(tx, title="importer")
    first = deliver(tx, run)
    if change == "revise":
        revised(tx, entry, "importer of rows")
    elif change == "disable":
        lifecycle.disable(tx, entry.id, BY)
    elif change == "supersede":
        lifecycle.supersede(tx, entry.id, other.id, BY)
    else:
        lifecycle.purge(tx, entry.id, BY)
    again = deliver(tx, run)
    assert (again.stored, again.delivery_id == first.delivery_id) == (False, False)
    assert [item.content["title"] for item in again.items] == (["importer of rows"] if change == "revise" else [])


def test_a_verdict_makes_it_another_question(tx: Tx) -> None:
    """After feedback of the run a retry is ranked anew with it."""
    entry = add_entry(tx, "importer")
    run = add_run(tx, title="importer")
    first = deliver(tx, run)
    judge(tx, run, entry.id, "irrelevant")
    again = deliver(tx, run)
    assert (again.stored, again.query_hash == first.query_hash) == (False, False)
    assert [item.components["feedback"] for item in again.items] == [-3]


def test_an_empty_answer_is_asked_anew_and_stored_once(tx: Tx) -> None:
    """A repeated question without an answer writes nothing; once there is one, it is delivered."""
    run = add_run(tx, title="importer")
    ids = {deliver(tx, run).delivery_id for _ in range(3)}
    assert tx.one("SELECT count(*) FROM agent_deliveries") == (1,)
    add_entry(tx, "importer")
    found = deliver(tx, run)
    assert len(found.items) == 1
    assert found.delivery_id not in ids


@pytest.mark.parametrize(
    "other",
    [
        {"profile": profile(target="x")},
        {"tags": ("skill:tdd",)},
        {"changed_paths": ("a",)},
        {"error_signatures": ("a",)},
        {"budget": 7999},
        {"limit": 19},
        {"title": "exporter"},
    ],
)
def test_the_hash_names_everything_that_is_asked_for(tx: Tx, other: dict[str, Any]) -> None:
    """Each part of a question changes its hash; the order of tags does not."""
    run = add_run(tx)
    plain = broker.rank(tx, query(run, "importer")).query_hash
    assert broker.rank(tx, query(run, **{"title": "importer", **other})).query_hash != plain
    tagged = [broker.rank(tx, query(run, tags=tags)).query_hash for tags in (("a", "b"), ("b", "a"))]
    assert tagged[0] == tagged[1]
    assert broker.rank(tx, query(later(run), "importer")).query_hash != plain
