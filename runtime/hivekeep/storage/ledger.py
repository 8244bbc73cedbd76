"""Insertion sequences: one ever-increasing number for each new id of a substrate.

A number is given once and stays taken after its record is hard-deleted, so a cursor walk that goes by it
cannot miss a record that was added behind its back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql

LEDGERS: Final = {"entities": "entity_ledger", "notes": "note_ledger", "edges": "edge_ledger"}


def insert_statement(table: str) -> str:
    """The statement that takes the next number of a table for one id; run it with `Tx.insert`."""
    return sql("INSERT INTO {ledger} (id) VALUES (?)", ledger=LEDGERS[table])


def cursor_seq(tx: Tx, table: str, record_id: str, namespaces: Sequence[str]) -> int | None:
    """The number behind a cursor: None when its record is hard-deleted, unknown or in another namespace.

    A soft-deleted record still is a boundary.
    """
    row = tx.one(
        sql(
            "SELECT seq FROM {table} WHERE id = ? AND namespace IN ({marks})",
            table=table,
            marks=marks(len(namespaces)),
        ),
        (record_id, *namespaces),
    )
    return None if row is None else int(row[0])


def counts(tx: Tx) -> dict[str, tuple[int, int]]:
    """Per table: (rows of all namespaces, live and soft-deleted; numbers ever given)."""
    found = {}
    for table, ledger in LEDGERS.items():
        row = tx.one(
            sql(
                "SELECT (SELECT count(*) FROM {table}), (SELECT count(*) FROM {ledger})",
                table=table,
                ledger=ledger,
            )
        )
        assert row is not None
        found[table] = (int(row[0]), int(row[1]))
    return found
