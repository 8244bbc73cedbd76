"""The texts of live records that vectors are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import members, sql


class Source(NamedTuple):
    """A live record as an embedder sees it: name, and description or content."""

    substrate: str
    seq: int
    namespace: str
    kind: str
    title: str | None
    body: str | None


SUBSTRATES: Final = ("entity", "note")

_SELECT: Final = {
    "entity": "SELECT 'entity', seq, namespace, kind, name, description FROM entities",
    "note": "SELECT 'note', seq, namespace, kind, name, content FROM notes",
}
# Read in the order of the table, where SQLite would rather walk an index and sort.
_PAGE: Final = " NOT INDEXED WHERE deleted_at IS NULL AND seq > ? ORDER BY seq LIMIT ?"
_COUNT: Final = (
    "SELECT (SELECT count(*) FROM entities WHERE deleted_at IS NULL) + "
    "(SELECT count(*) FROM notes WHERE deleted_at IS NULL)"
)


def page(tx: Tx, substrate: str, after_seq: int, limit: int) -> list[Source]:
    """The next live records of a substrate behind a number (0 = from the start), in the order of their numbers."""
    return [Source(*row) for row in tx.all(_SELECT[substrate] + _PAGE, (after_seq, limit))]


def live(tx: Tx, substrate: str, seqs: Sequence[int]) -> dict[int, Source]:
    """Those of the numbered records that are live, by number."""
    wanted = members(seqs)
    statement = sql(
        "{select} WHERE deleted_at IS NULL AND seq IN ({wanted})", select=_SELECT[substrate], wanted=wanted.sql
    )
    return {row[1]: Source(*row) for row in tx.all(statement, wanted.args)}


def count(tx: Tx) -> int:
    """How many live entities and notes there are."""
    row = tx.one(_COUNT)
    assert row is not None
    return int(row[0])
