"""Memories that follow each other: what stands before and behind one in its source, thread or session.

Invariant: a neighbor is a live memory of the same namespace and the same thread, and no live memory of it lies between
the two in the order in which they were added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import sql

THREAD_PROPERTIES: Final = ("source_id", "thread_id", "thread", "session_id", "session")
"""The properties that say what a memory belongs to; the first one that is set counts."""


class Beside(NamedTuple):
    """A memory by `seq` with its neighbors, None at an end of its thread."""

    seq: int
    previous: int | None
    next: int | None


def thread(prefix: str) -> str:
    """The SQL of the thread of a note; `prefix` is the alias of its table with a dot, or nothing."""
    parts = (f"json_extract({prefix}properties, '$.{name}')" for name in THREAD_PROPERTIES)
    return "coalesce(" + ", ".join(parts) + ")"


_SAME_THREAD: Final = sql(
    "SELECT p.seq FROM notes p INDEXED BY notes_by_thread WHERE p.kind = 'memory' AND p.deleted_at IS NULL"
    " AND p.namespace = c.namespace AND {thread} = c.thread AND p.seq ",
    thread=thread("p."),
)
_BESIDE: Final = sql(
    "SELECT c.seq, ({same}< c.seq ORDER BY p.seq DESC LIMIT 1), ({same}> c.seq ORDER BY p.seq LIMIT 1)"
    " FROM (SELECT r.seq, r.namespace, {thread} AS thread FROM json_each(?) AS wanted"
    " CROSS JOIN notes r ON r.seq = wanted.value WHERE r.kind = 'memory') c WHERE c.thread IS NOT NULL",
    same=_SAME_THREAD,
    thread=thread("r."),
)


def beside(tx: Tx, seqs: Sequence[int]) -> list[Beside]:
    """The neighbors of those notes that are memories and belong to a thread."""
    return [Beside._make(row) for row in tx.all(_BESIDE, (json_text.dump(list(seqs)),))]
