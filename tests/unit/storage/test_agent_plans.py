"""How SQLite carries out what the context broker asks: by indexes, and never by walking over a table of the gateway."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hivekeep.storage import agent_deliveries, agent_feedback, agent_memory_links, agent_retrieval
from hivekeep.storage.engine import Tx
from support.stores import Explained, record_id

ONE = record_id(1)
PLACES = "VIRTUAL TABLE INDEX"

OF_FEW = ("SCAN had", "SCAN a", "SCAN b", "SCAN (subquery")
"""Walks over rows that the statement itself found before."""

READS: list[tuple[str, Callable[[Any], object], str]] = [
    ("words", lambda tx: agent_retrieval.words(tx, "demo", '"x"'), PLACES),
    ("trigrams", lambda tx: agent_retrieval.trigrams(tx, "demo", '"xyz"'), PLACES),
    ("a tag", lambda tx: agent_retrieval.tagged(tx, "demo", "x"), "PRIMARY KEY (workspace=? AND tag_key=?)"),
    (
        "a signal",
        lambda tx: agent_retrieval.signalled(tx, "demo", "paths", "x"),
        "PRIMARY KEY (workspace=? AND kind=? AND value_key=?)",
    ),
    (
        "known signals",
        lambda tx: agent_retrieval.present_signals(tx, "demo", ["paths"], ["x"]),
        "PRIMARY KEY (workspace=? AND kind=? AND value_key=?)",
    ),
    ("known tags", lambda tx: agent_retrieval.present_tags(tx, "demo", ["x"]), "(workspace=? AND tag_key=?)"),
    ("a text", lambda tx: agent_retrieval.says(tx, "demo", "x"), "(workspace=? AND kind=? AND value_key=?)"),
    ("a comparison", lambda tx: agent_retrieval.holding(tx, "demo", ["x"]), "agent_entries_listed (workspace=?)"),
    ("states", lambda tx: agent_retrieval.states(tx, [ONE]), "agent_entries_id (id=?)"),
    ("what is ranked", lambda tx: agent_retrieval.ranked_rows(tx, [1]), "agent_entry_revisions_natural"),
    ("contradictions", lambda tx: agent_retrieval.contradicted(tx, [1]), "agent_entry_links_natural"),
    ("contradicted", lambda tx: agent_retrieval.contradicted(tx, [1]), "agent_entry_links_by_target"),
    ("a delivery", lambda tx: agent_deliveries.get(tx, "x"), "agent_deliveries_id"),
    (
        "an answer",
        lambda tx: agent_deliveries.newest(tx, 1, "x"),
        "agent_deliveries_of_run (run_seq=? AND query_hash=?)",
    ),
    ("the newest", lambda tx: agent_deliveries.newest_id(tx, 1), "agent_deliveries_in_order (run_seq=?)"),
    ("items", lambda tx: agent_deliveries.items(tx, 1), "PRIMARY KEY (delivery_seq=?)"),
    ("an item", lambda tx: agent_deliveries.held_revision(tx, 1, "x"), "(delivery_seq=?)"),
    ("had before", lambda tx: agent_deliveries.delivered_before(tx, 1, 2), "PRIMARY KEY (delivery_seq=?)"),
    ("outdated", lambda tx: agent_deliveries.outdated(tx, 1), "agent_entries_id (id=?)"),
    ("contradicting", lambda tx: agent_deliveries.contradicting(tx, 1), "agent_entry_links_natural"),
    (
        "verdicts",
        lambda tx: agent_feedback.verdicts(tx, [(ONE, 1)]),
        "agent_feedback_by_entry (entry_id=? AND entry_revision=? AND verdict=?)",
    ),
    ("own verdicts", lambda tx: agent_feedback.last_verdicts(tx, 1), "agent_feedback_key (run_seq=?)"),
    ("an id", lambda tx: agent_feedback.is_used(tx, "run", "x"), "agent_feedback_id (category=? AND feedback_id=?)"),
    ("a key", lambda tx: agent_feedback.is_keyed(tx, 1, "a", "x"), "agent_feedback_key"),
    ("a proposal", lambda tx: agent_memory_links.proposal(tx, 1, "x"), "agent_events_id (event_id=?)"),
    ("a link", lambda tx: agent_memory_links.of_event(tx, "x"), "agent_memory_links_event"),
    (
        "proposals",
        lambda tx: agent_memory_links.unpromoted(tx, 1),
        "agent_events_by_type (run_seq=? AND event_type=?)",
    ),
]


@pytest.mark.parametrize(("read", "index"), [row[1:] for row in READS], ids=[row[0] for row in READS])
def test_each_read_follows_its_index(tx: Tx, read: Callable[[Any], object], index: str) -> None:
    """The index that was made for it is used, and no table of the gateway is scanned."""
    explained = Explained(tx)
    read(explained)
    assert [step for step in explained.steps if index in step]
    scanned = [step for step in explained.steps if step.startswith("SCAN") and "VIRTUAL TABLE" not in step]
    assert [step for step in scanned if not step.startswith(OF_FEW)] == []
