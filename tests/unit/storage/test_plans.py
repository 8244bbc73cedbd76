"""How SQLite carries the lists out: by the index that was made for them, and never by sorting a whole namespace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hivekeep.storage import brain_profiles, brain_states, edges, entities, event_counts, notes, sessions
from hivekeep.storage.edges import EdgeFilter, NeighborFilter
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import EntityFilter
from hivekeep.storage.event_counts import Window
from hivekeep.storage.notes import NoteFilter
from hivekeep.storage.sessions import SessionFilter
from support.stores import Explained, record_id

LOCAL = ("local",)
BOTH = ("local", "team")
ONE = record_id(1)

_READS: list[tuple[str, Callable[[Any], object], str]] = [
    ("newest entities", lambda tx: entities.list_page(tx, BOTH, EntityFilter(), limit=5), "entities_listed"),
    ("of a kind", lambda tx: entities.list_page(tx, BOTH, EntityFilter(kind="x"), limit=5), "entities_by_kind"),
    (
        "entity walk",
        lambda tx: entities.list_after(tx, BOTH, EntityFilter(kind="x"), limit=5, after_seq=1),
        "INTEGER PRIMARY KEY (rowid>?)",
    ),
    ("notes of a kind", lambda tx: notes.list_page(tx, LOCAL, NoteFilter(kind="x"), limit=5), "notes_by_kind"),
    (
        "note walk",
        lambda tx: notes.list_after(tx, LOCAL, NoteFilter(kind="x"), limit=5, after_seq=1),
        "INTEGER PRIMARY KEY (rowid>?)",
    ),
    ("newest edges", lambda tx: edges.list_page(tx, LOCAL, EdgeFilter(), limit=5), "edges_listed"),
    ("edge walk", lambda tx: edges.list_after(tx, LOCAL, EdgeFilter(), limit=5, after_seq=1), "(rowid>?)"),
    ("a name", lambda tx: entities.find_by_name(tx, "local", "x"), "entities_by_name"),
    ("sessions", lambda tx: sessions.page(tx, "local", SessionFilter(since=1), limit=5, offset=0), "notes_by_kind"),
    (
        "sessions of a provider",
        lambda tx: sessions.page(tx, "local", SessionFilter("x", since=1), limit=5, offset=0),
        "notes_sessions_provider (namespace=? AND <expr>=? AND created_at>?)",
    ),
    (
        "sessions of an agent",
        lambda tx: sessions.page(tx, "local", SessionFilter(agent_id="x"), limit=5, offset=0),
        "notes_sessions_agent (namespace=? AND <expr>=?)",
    ),
    ("a key", lambda tx: notes.find_by_key(tx, "local", "x", "y"), "notes_by_key"),
    ("a natural key", lambda tx: edges.find_natural(tx, "local", ONE, ONE, "extends"), "edges_natural"),
]


@pytest.mark.parametrize(("read", "index"), [row[1:] for row in _READS], ids=[row[0] for row in _READS])
def test_lists_follow_an_index_in_its_order(tx: Tx, read: Callable[[Any], object], index: str) -> None:
    """Every step searches by the index and nothing is sorted."""
    explained = Explained(tx)
    read(explained)
    assert any(index in step for step in explained.steps), explained.steps
    assert not [step for step in explained.steps if "TEMP B-TREE" in step or step.startswith("SCAN")]


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        (EdgeFilter(source_id=ONE), "edges_by_source (source_id=?)"),
        (EdgeFilter(target_id=ONE), "edges_by_target (target_id=?)"),
    ],
)
def test_the_edges_of_a_record_are_found_by_it(tx: Tx, filters: EdgeFilter, index: str) -> None:
    """Offset pages and cursor walks start from the record, not from its namespace."""
    for read in (
        lambda tx: edges.list_page(tx, LOCAL, filters, limit=5),
        lambda tx: edges.list_after(tx, LOCAL, filters, limit=5, after_seq=1),
    ):
        explained = Explained(tx)
        read(explained)
        assert any(index in step for step in explained.steps), explained.steps


def test_neighbors_are_found_from_the_node(tx: Tx) -> None:
    """Both arms search by an end of the edge, and the neighbours by their ids."""
    explained = Explained(tx)
    edges.neighbors(explained, ONE, LOCAL, NeighborFilter())
    searches = [step.removeprefix("SEARCH ") for step in explained.steps if step.startswith("SEARCH")]
    assert [step for step in searches if "source_id=?" in step]
    assert [step for step in searches if "edges_by_target (target_id=?)" in step]
    assert "entity USING INDEX entities_id (id=?) LEFT-JOIN" in searches


def test_more_namespaces_than_a_statement_has_arms_are_one_condition(tx: Tx) -> None:
    """600 namespaces are listed, and so are none."""
    many = [f"n{number}" for number in range(600)]
    assert entities.list_page(tx, many, EntityFilter(), limit=5) == []
    assert entities.list_page(tx, [], EntityFilter(), limit=5) == []


ALL_KINDS = Window(BOTH, 1, 9, None, ())


@pytest.mark.parametrize(
    ("read", "index"),
    [
        (lambda tx: event_counts.newest_by_share(tx, ALL_KINDS, 5), "events_listed"),
        (lambda tx: event_counts.newest_by_share(tx, ALL_KINDS, 5), "events_told"),
        (lambda tx: event_counts.newest(tx, ALL_KINDS._replace(kind="audit"), 5), "events_listed"),
        (lambda tx: event_counts.newest(tx, ALL_KINDS._replace(kind="note_created"), 5), "events_by_kind"),
        (lambda tx: event_counts.step(tx, ALL_KINDS, "local", (3, ONE), 5), "events_listed"),
        (lambda tx: event_counts.step(tx, ALL_KINDS._replace(kind="note_created"), "local", None, 5), "events_by_kind"),
    ],
)
def test_counts_of_events_sort_nothing_but_their_groups(tx: Tx, read: Callable[[Any], object], index: str) -> None:
    """A page or step is found by an index in its order; the only sorting is by what is counted together."""
    explained = Explained(tx)
    read(explained)
    assert any(index in step for step in explained.steps), explained.steps
    assert not [step for step in explained.steps if step.startswith("SCAN events") or "FOR ORDER BY" in step]


def test_the_beliefs_of_a_profile_are_found_by_their_keys(tx: Tx) -> None:
    """State, records, the oldest record and the matching bindings, whatever else there is."""
    explained = Explained(tx)
    brain_states.get(explained, "local", "p")
    brain_states.targets(explained, "local", "p", [ONE])
    brain_states.newest_targets(explained, "local", "p", 5)
    brain_profiles.matching(explained, "local", "ada", "local", "recall", "*")
    assert [step for step in explained.steps if step.startswith("SEARCH")] == [
        "SEARCH brain_states USING PRIMARY KEY (namespace=? AND profile_id=?)",
        "SEARCH brain_targets USING INDEX brain_targets_natural (namespace=? AND profile_id=? AND target_id=?)",
        "SEARCH brain_targets USING INDEX brain_targets_oldest (namespace=? AND profile_id=?)",
        "SEARCH brain_bindings USING PRIMARY KEY (namespace=? AND actor=? AND for_namespace=? AND consumer_kind=?)",
    ]
