"""The indexes of curated entries: what they miss is found, and building them anew repairs it."""

from __future__ import annotations

import pytest

from hivekeep.agent import retrieval
from hivekeep.agent.curated import indexing, lifecycle
from hivekeep.storage import agent_retrieval
from hivekeep.storage.engine import Tx
from support.entries import BY, add_entry, revised

NAMES = ["agent_entries_words", "agent_entries_trigrams"]


def fill(tx: Tx) -> list[int]:
    """Three entries, one of them revised and one disabled; answers their numbers."""
    scope = {"schemaVersion": 2, "visibility": "project", "signals": {"symbols": ["parse_line"]}}
    first = add_entry(tx, "importer", tags=["rows"], scope=scope)
    second = revised(tx, add_entry(tx, "exporter"), "exporter of rows")
    third = lifecycle.disable(tx, add_entry(tx, "other", workspace="global").id, BY).entry
    return [first.seq, second.seq, third.seq]


def dumped(tx: Tx) -> list[object]:
    """The rows of tags and signals, and what a search finds."""
    rows = [tx.all(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in ("agent_entry_tags", "agent_entry_signals")]
    hits = retrieval.search(tx, ["demo", "global"], ["importer parse_line", "rows"], limit=9).hits
    return [*rows, hits]


def test_nothing_is_missing_after_writes(tx: Tx) -> None:
    """Record, revise, disable and purge leave the indexes as they should be."""
    fill(tx)
    assert agent_retrieval.differences(tx) == ([], [])
    lifecycle.purge(tx, add_entry(tx, "going").id, BY)
    assert agent_retrieval.differences(tx) == ([], [])


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM agent_entries_words",
        "DELETE FROM agent_entries_trigrams",
        "DELETE FROM agent_entry_signals WHERE kind = 'text'",
        "UPDATE agent_entry_signals SET revision = 9",
    ],
)
def test_what_an_index_lacks_is_found_and_repaired(tx: Tx, statement: str) -> None:
    """Entries without a row in one of the indexes are named; afterwards everything is as it was."""
    seqs = fill(tx)
    before = dumped(tx)
    tx.run(statement)
    assert agent_retrieval.differences(tx) == (seqs, [])
    assert indexing.rebuild(tx) == NAMES
    assert agent_retrieval.differences(tx) == ([], [])
    assert dumped(tx) == before


def test_a_row_without_an_entry_is_found(tx: Tx) -> None:
    """An index row whose entry is gone is named by the number of the entry."""
    fill(tx)
    said = agent_retrieval.IndexedEntry(77, "demo", 1, "ghost", None, "", (), ())
    tx.run("PRAGMA foreign_keys = OFF")
    agent_retrieval.index_entry(tx, said)
    assert agent_retrieval.differences(tx) == ([], [77])


def test_tags_are_compared_without_case_and_width() -> None:
    """The key of a tag is folded."""
    assert [agent_retrieval.tag_key(tag) for tag in ("Data  Loader", "ＤＡＴＡ loader")] == ["data loader"] * 2


def test_a_transaction_leaves_one_part_of_each_text_index(tx: Tx) -> None:
    """A statement with OR REPLACE sets a savepoint, at which a text index writes out what it holds: one part an entry.

    An import took twice as long, and searches read all the parts.
    """
    tx.run("BEGIN IMMEDIATE")
    for number in range(20):
        add_entry(tx, f"entry {number}", tags=["rows", "more"])
    tx.run("COMMIT")
    for table in NAMES:
        assert tx.all(f"SELECT count(DISTINCT segid) FROM {table}_idx") == [(1,)]
