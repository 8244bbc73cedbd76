"""Delivery: exactly the candidate is stored, or the request is a conflict and nothing is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hivekeep.agent import broker, delivery
from hivekeep.agent.broker import Candidate
from hivekeep.agent.curated import content, lifecycle
from hivekeep.agent.curated.lifecycle import Source
from hivekeep.storage import agent_deliveries, agent_entries, agent_runs, agent_workspaces
from hivekeep.storage.agent_entries import EntryRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.agent_workspaces import RepositoryRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine
from hivekeep_contract.gateway_errors import Conflict
from support.entries import BY, add_entry, add_run, query, revised

COUNTS = "SELECT (SELECT count(*) FROM agent_deliveries), (SELECT count(*) FROM agent_delivery_items)"


def candidate(store: SqliteEngine, run: RunRow) -> Candidate:
    """The candidate of a run, ranked on a reader."""
    with store.read() as tx:
        return broker.rank(tx, query(run))


def counts(store: SqliteEngine) -> Any:
    """How many deliveries and items are stored."""
    with store.read() as tx:
        return tx.one(COUNTS)


def test_a_delivery_is_stored_whole_without_text(store: SqliteEngine) -> None:
    """The context object has the fields of the contract, and the rows point at entry and revision alone."""
    run = store.run_write(lambda tx: add_run(tx, title="importer"))
    entry = store.run_write(lambda tx: add_entry(tx, "importer", "secretly reads rows", summary="rows"))
    ranked = candidate(store, run)
    context = store.run_write(lambda tx: delivery.deliver(tx, ranked, 5_000_000))
    (item,) = ranked.items
    assert context == {
        "deliveryId": ranked.delivery_id,
        "runId": run.id,
        "throughSequence": 3,
        "taskProfileHash": ranked.profile_hash,
        "queryHash": ranked.query_hash,
        "policyVersion": "context-ranking-v1+recommendations.v1",
        "items": [
            {
                "entryId": entry.id,
                "entryRevision": 1,
                "rank": 1,
                "scoreComponents": item.components,
                "selectionReasons": list(item.reasons),
                "content": {
                    "title": "importer",
                    "summary": "rows",
                    "bodyPreview": "secretly reads rows",
                    "characterCount": 31,
                    "truncated": False,
                },
                "origin": "project",
                "untrusted": True,
            }
        ],
        "untrusted": True,
    }
    assert context["deliveryId"].startswith("context-")
    with store.read() as tx:
        row = agent_deliveries.get(tx, ranked.delivery_id)
        assert row is not None
        assert row[1:4] == (run.seq, 3, run.id)
        assert (row.character_budget, row.character_count, row.truncated, row.created_at) == (8000, 31, 0, 5_000_000)
        (stored,) = agent_deliveries.items(tx, row.seq)
        assert stored[1:5] == (1, entry.id, 1, "project")
        assert "secretly" not in repr((row, stored))


def _revise(tx: Tx, entry: EntryRow) -> None:
    revised(tx, entry, "importer of rows")


def _disable(tx: Tx, entry: EntryRow) -> None:
    lifecycle.disable(tx, entry.id, BY)


def _disable_and_enable(tx: Tx, entry: EntryRow) -> None:
    lifecycle.disable(tx, entry.id, BY)
    lifecycle.enable(tx, entry.id, lifecycle.Author("ada", 7_000_000))


def _verify(tx: Tx, entry: EntryRow) -> None:
    lifecycle.verify(tx, entry.id, 1, BY)


def _supersede(tx: Tx, entry: EntryRow) -> None:
    lifecycle.supersede(tx, entry.id, add_entry(tx, "another").id, BY)


def _purge(tx: Tx, entry: EntryRow) -> None:
    lifecycle.purge(tx, entry.id, BY)


def _stale(tx: Tx, entry: EntryRow) -> None:
    agent_entries.change(tx, entry, source_state="stale")


def _source_disabled(tx: Tx, entry: EntryRow) -> None:
    agent_entries.change(tx, entry, source_state="disabled")


def _other_mapping(tx: Tx, entry: EntryRow) -> None:
    agent_entries.change(tx, entry, source_mapping="b")


def _other_source(tx: Tx, entry: EntryRow) -> None:
    agent_entries.change(tx, entry, source_id="manual")


def _refresh(tx: Tx, entry: EntryRow) -> None:
    says = content.read({"kind": "fact", "title": "importer", "body": "refreshed"})
    lifecycle.replace(tx, entry, says, BY, "refresh")


def _event(tx: Tx, _: EntryRow) -> None:
    tx.run("UPDATE agent_runs SET last_sequence = last_sequence + 1")


def _close(tx: Tx, _: EntryRow) -> None:
    tx.run("UPDATE agent_runs SET status = 'completed'")


def _become_project(tx: Tx, _: EntryRow) -> None:
    agent_workspaces.insert(tx, RepositoryRow("repo_local_1", "demo", None, 1))


def _deliver_other(tx: Tx, _: EntryRow) -> None:
    row = tx.one("SELECT id FROM agent_runs")
    assert row is not None
    run = agent_runs.get(tx, row[0])
    assert run is not None
    delivery.deliver(tx, broker.rank(tx, query(run, "another question")), 4_000_000)


PLAIN = (_revise, _disable, _disable_and_enable, _verify, _supersede, _purge, _event, _close, _become_project)
OF_THE_RUN = {_event: "run_moved_on", _close: "run_closed"}
MANAGED = (_stale, _source_disabled, _other_mapping, _other_source, _refresh)


@pytest.mark.parametrize("change", [*PLAIN, *MANAGED, _deliver_other])
def test_any_change_between_ranking_and_delivery_is_a_conflict(
    store: SqliteEngine, change: Callable[[Tx, EntryRow], None]
) -> None:
    """A revise, disable, stale, refresh or another change in between refuses the delivery; nothing is stored.

    Every refusal said that memory changed, also when only the run got an event: a client that reports from two threads
    was sent to look for a change of memory that there was not.
    """
    source = Source("docs", "a", "active") if change in MANAGED else None
    run = store.run_write(lambda tx: add_run(tx, title="importer"))
    entry = store.run_write(lambda tx: add_entry(tx, "importer", source=source))
    ranked = candidate(store, run)
    assert [item.state.id for item in ranked.items] == [entry.id]
    store.run_write(lambda tx: change(tx, entry))
    before = counts(store)
    with pytest.raises(Conflict) as refused:
        store.run_write(lambda tx: delivery.deliver(tx, ranked, 5_000_000))
    assert refused.value.reason == OF_THE_RUN.get(change, "context_changed")
    assert counts(store) == before


@pytest.mark.parametrize("change", [_revise, _disable, _event, _close])
def test_a_repeated_delivery_is_looked_at_once_more_as_well(
    store: SqliteEngine, change: Callable[[Tx, EntryRow], None]
) -> None:
    """A stored delivery whose entry or run changes before it is handed out again is a conflict."""
    run = store.run_write(lambda tx: add_run(tx, title="importer"))
    entry = store.run_write(lambda tx: add_entry(tx, "importer"))
    first = candidate(store, run)
    store.run_write(lambda tx: delivery.deliver(tx, first, 5_000_000))
    again = candidate(store, run)
    assert again.stored
    store.run_write(lambda tx: change(tx, entry))
    with pytest.raises(Conflict):
        store.run_write(lambda tx: delivery.deliver(tx, again, 5_000_000))
    assert counts(store) == (1, 1)


def test_what_is_not_selected_may_change(store: SqliteEngine) -> None:
    """A change of an entry that is no part of the candidate does not refuse it."""
    run = store.run_write(lambda tx: add_run(tx, title="importer"))
    store.run_write(lambda tx: add_entry(tx, "importer"))
    other = store.run_write(lambda tx: add_entry(tx, "other"))
    ranked = candidate(store, run)
    store.run_write(lambda tx: lifecycle.disable(tx, other.id, BY))
    assert store.run_write(lambda tx: delivery.deliver(tx, ranked, 5_000_000))["deliveryId"] == ranked.delivery_id


def test_a_candidate_is_delivered_once(store: SqliteEngine) -> None:
    """Of two candidates that were ranked on the same history, one is delivered and the other is a conflict."""
    run = store.run_write(lambda tx: add_run(tx, title="importer"))
    store.run_write(lambda tx: add_entry(tx, "importer"))
    first, second = candidate(store, run), candidate(store, run)
    store.run_write(lambda tx: delivery.deliver(tx, first, 5_000_000))
    with pytest.raises(Conflict):
        store.run_write(lambda tx: delivery.deliver(tx, second, 5_000_000))
    assert counts(store) == (1, 1)


def test_a_repeated_delivery_answers_the_same_object(store: SqliteEngine) -> None:
    """The stored delivery gives the context of the first time, to the letter."""
    run = store.run_write(lambda tx: add_run(tx, title="importer"))
    for number in range(3):
        store.run_write(lambda tx, n=number: add_entry(tx, f"importer {n}", "x" * 50))
    first = candidate(store, run)
    given = store.run_write(lambda tx: delivery.deliver(tx, first, 5_000_000))
    again = candidate(store, run)
    assert store.run_write(lambda tx: delivery.deliver(tx, again, 6_000_000)) == given


def test_newer_revisions_contradictions_and_counts_for_advice(store: SqliteEngine) -> None:
    """Advice is fed with revised entries, contradicting pairs of verified ones, and how many could be delivered."""

    def facts(tx: Tx, run: RunRow) -> tuple[list[str], list[tuple[str, str]], int]:
        return (
            delivery.newer_revisions(tx, run.seq),
            delivery.contradictions(tx, run.seq),
            delivery.stored_entry_count(tx, "demo"),
        )

    def told(tx: Tx) -> None:
        run = add_run(tx, title="importer")
        entries = [add_entry(tx, f"importer {name}") for name in "abc"]
        first, second, third = sorted(entries, key=lambda entry: entry.id)
        lifecycle.link(tx, second.id, first.id, "contradicts", BY)
        assert facts(tx, run) == ([], [], 3)
        delivery.deliver(tx, broker.rank(tx, query(run)), 5_000_000)
        assert facts(tx, run) == ([], [], 3)
        lifecycle.verify(tx, first.id, 1, BY)
        assert facts(tx, run) == ([], [], 3)
        lifecycle.verify(tx, second.id, 1, BY)
        assert facts(tx, run) == ([], [(first.id, second.id)], 3)
        revised(tx, third, "importer of rows")
        assert facts(tx, run) == ([third.id], [(first.id, second.id)], 3)
        lifecycle.disable(tx, first.id, BY)
        assert facts(tx, run) == ([third.id], [], 2)

    store.run_write(told)
