"""The tables of a mirror of local transcripts, and how large they and their database are.

Invariant: a size is what SQLite counted; where it cannot count there is an error and no figure. Nothing writes these
tables yet: the mirror is a service of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from hivekeep.storage.connections import MEMORY, wal_path
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import sql
from hivekeep_contract.errors import Unsupported

TEXT_INDEX: Final = "session_messages_fts"
TABLES: Final = ("sessions", "session_messages", "session_mirror_cursor", TEXT_INDEX)


class TableSize(NamedTuple):
    """One table: its rows in all namespaces, and the bytes of its pages, indexes and shadow tables."""

    rows: int
    allocated_bytes: int


class Pages(NamedTuple):
    """The pages of a database; `page_size` is in bytes."""

    page_size: int
    page_count: int


class OnDisk(NamedTuple):
    """The bytes of the files of a database; both None in memory."""

    file_bytes: int | None
    wal_bytes: int | None


# The text index has its rows in `docsize`: the virtual table itself would read those of the messages.
_ROWS: Final = (
    "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM session_messages),"
    " (SELECT count(*) FROM session_mirror_cursor), (SELECT count(*) FROM session_messages_fts_docsize)"
)
_OWNER: Final = "CASE WHEN object.tbl_name GLOB '{index}_*' THEN '{index}' ELSE object.tbl_name END"
_BYTES: Final = sql(
    "SELECT {owner}, sum(stat.pgsize) FROM dbstat AS stat JOIN sqlite_schema AS object ON object.name = stat.name"
    " WHERE stat.aggregate = TRUE AND {owner} IN ({tables}) GROUP BY 1",
    owner=sql(_OWNER, index=TEXT_INDEX),
    tables=", ".join(f"'{name}'" for name in TABLES),
)
_CAN_COUNT: Final = "SELECT count(*) FROM pragma_module_list WHERE name = 'dbstat'"
_PAGES: Final = "SELECT page_size, page_count FROM pragma_page_size, pragma_page_count"


def table_sizes(tx: Tx) -> dict[str, TableSize]:
    """Every table by name; raises Unsupported where SQLite was built without `dbstat`."""
    if tx.one(_CAN_COUNT) == (0,):
        raise Unsupported(
            "session.stats: this SQLite was built without dbstat, so the pages of a table are not counted"
        )
    rows = tx.one(_ROWS)
    assert rows is not None
    allocated: dict[str, int] = dict(tx.all(_BYTES))
    return {name: TableSize(rows[place], allocated[name]) for place, name in enumerate(TABLES)}


def pages(tx: Tx) -> Pages:
    """The pages of the database as a reader sees it."""
    row = tx.one(_PAGES)
    assert row is not None
    return Pages._make(row)


def on_disk(path: str) -> OnDisk:
    """The files of a database; a log that is not there has no bytes."""
    if path == MEMORY:
        return OnDisk(None, None)
    return OnDisk(Path(path).stat().st_size, _size_or_nothing(wal_path(path)))


def _size_or_nothing(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
