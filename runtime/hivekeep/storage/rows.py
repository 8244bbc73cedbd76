"""What entities, notes and edges have in common: identity, fenced replacement, tombstones, pages.

Keeps two things true: a row only changes from the very version that its writer read, and the text index holds
exactly the live rows of its substrate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

from hivekeep.storage import ledger, text_index, text_places
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Where, marks, newest_first, sql
from hivekeep_contract.errors import ConcurrentChange


class Record(Protocol):
    """What a row NamedTuple has: `version` and `seq` are its last two fields."""

    @property
    def id(self) -> str: ...
    @property
    def deleted_at(self) -> int | None: ...
    @property
    def version(self) -> int: ...
    @property
    def seq(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...


R = TypeVar("R", bound=Record)


class IndexedText(NamedTuple):
    """The two texts of a record that search looks at, and what says where they lie in the index."""

    namespace: str
    kind: str
    title: str
    body: str

    def row(self, seq: int) -> tuple[int, str, str]:
        """Its row of the index: place, title, body."""
        return text_places.place(self.namespace, self.kind, seq), self.title, self.body


class RecordText(NamedTuple, Generic[R]):
    """The text index a table's records are in, and what goes into it of a row."""

    substrate: text_index.TextSubstrate
    of: Callable[[R], IndexedText]


class CursorPage(NamedTuple, Generic[R]):
    """One page of a walk by insertion sequence.

    `next_after` is the id to continue from, None at the end; `scan_incomplete` says that the scan ceiling
    ended the page before another match was proven.
    """

    rows: list[R]
    next_after: str | None
    scan_incomplete: bool


class RecordTable(Generic[R]):
    """The prepared statements of one table, over rows of one NamedTuple type."""

    def __init__(
        self,
        table: str,
        row_type: type[R],
        *,
        text: RecordText[R] | None = None,
        derived: dict[str, Callable[[R], object]] | None = None,
    ) -> None:
        """`text` says how search sees a row, `derived` are columns that are computed when it is stored."""
        fields: tuple[str, ...] = row_type._fields  # type: ignore[attr-defined]
        self._make = cast(Callable[[Iterable[Any]], R], row_type._make)  # type: ignore[attr-defined]
        self._text = text
        self._derived = tuple((derived or {}).values())
        self._updated_at = fields.index("updated_at")
        self._deleted_at = fields.index("deleted_at")
        columns = ", ".join(fields)
        stored = (*fields, *(derived or {}))
        self.name = table
        self.select = sql("SELECT {columns} FROM {table}", columns=columns, table=table)
        self._take_seq = ledger.insert_statement(table)
        self._insert = sql(
            "INSERT INTO {table} ({columns}) VALUES ({marks})",
            table=table,
            columns=", ".join(stored),
            marks=marks(len(stored)),
        )
        self._update = sql(
            "UPDATE {table} SET {columns} WHERE seq = ? AND version = ?",
            table=table,
            columns=", ".join(column + " = ?" for column in stored if column != "seq"),
        )
        self._erase = sql("DELETE FROM {table} WHERE seq = ?", table=table)
        self._by_id = self.select + " WHERE id = ?"
        self._live_by_id = self._by_id + " AND deleted_at IS NULL"

    def get(self, tx: Tx, record_id: str, *, include_deleted: bool = False) -> R | None:
        """The record of a full id in any namespace; None when it is absent, or deleted and not asked for."""
        row = tx.one(self._by_id if include_deleted else self._live_by_id, (record_id,))
        return None if row is None else self._make(row)

    def get_many(self, tx: Tx, ids: Sequence[str], *, include_deleted: bool = False) -> dict[str, R]:
        """The records of many ids at once, keyed by id; what does not exist is left out."""
        where = Where() if include_deleted else Where("deleted_at IS NULL")
        where.among("id", ids)
        return {row.id: row for row in self._rows(tx, " WHERE " + where.text, where.args)}

    def insert(self, tx: Tx, row: R) -> int:
        """Store a new record, index its text, and answer its insertion sequence (`row.seq` is ignored)."""
        seq = tx.insert(self._take_seq, (row.id,))
        tx.run(self._insert, (*tuple(row)[:-1], seq, *[compute(row) for compute in self._derived]))
        if self._text is not None and row.deleted_at is None:
            text_index.put(tx, self._text.substrate, *self._text.of(row).row(seq))
        return seq

    def insert_many(self, tx: Tx, rows: Sequence[R]) -> None:
        """Store new live records in their order, as `insert` does one by one; a write transaction must be open."""
        if not rows:
            return
        # Nobody else takes numbers meanwhile, so those behind the first one follow it without a gap.
        first = tx.insert(self._take_seq, (rows[0].id,))
        tx.many(self._take_seq, [(row.id,) for row in rows[1:]])
        numbered = list(enumerate(rows, first))
        derived = self._derived
        tx.many(
            self._insert, [(*tuple(row)[:-1], seq, *(compute(row) for compute in derived)) for seq, row in numbered]
        )
        if self._text is not None:
            text_of = self._text.of
            text_index.put_many(tx, self._text.substrate, (text_of(row).row(seq) for seq, row in numbered))

    def update(self, tx: Tx, old: R, new: R) -> R:
        """Replace `old`, as it was read, by `new`, and answer what is stored: `new` with the next version.

        Every column but the sequence is written. The text index follows: an entry appears, changes or goes as
        the row becomes live, changes its texts, or becomes deleted. Raises `ConcurrentChange` when the stored
        row is no longer `old`.
        """
        stored = self._make((*tuple(new)[:-2], old.version + 1, old.seq))
        derived = (compute(stored) for compute in self._derived)
        tx.run(self._update, (*tuple(stored)[:-1], *derived, old.seq, old.version))
        if tx.changes() == 0:
            raise ConcurrentChange(
                f"the record {old.id} was changed between the read and the write; read it again and repeat",
                details={"reason": "concurrent_change", "id": old.id},
            )
        self._follow_text(tx, old, stored)
        return stored

    def soft_delete(self, tx: Tx, row: R, now: int) -> R:
        """Make a live record a tombstone."""
        return self._mark(tx, row, now, now)

    def restore(self, tx: Tx, row: R, now: int) -> R:
        """Make a tombstone live again."""
        return self._mark(tx, row, now, None)

    def erase(self, tx: Tx, row: R) -> None:
        """Remove the row itself; what hangs on it is the caller's matter."""
        if self._text is not None and row.deleted_at is None:
            text_index.remove(tx, self._text.substrate, self._text.of(row).row(row.seq)[0])
        tx.run(self._erase, (row.seq,))

    def page(
        self, tx: Tx, namespaces: Sequence[str], where: Where, *, limit: int, offset: int, index: str | None = None
    ) -> list[R]:
        """A page in offset order, newest first; `index` leads to the few records that meet the conditions."""
        live = Where("deleted_at IS NULL")
        live.extend(where)
        select = self.select if index is None else self.select + " INDEXED BY " + index
        statement = newest_first(select, live, namespaces, limit, offset)
        return [self._make(row) for row in tx.all(statement.sql, statement.args)]

    def walk(
        self,
        tx: Tx,
        namespaces: Sequence[str],
        where: Where,
        *,
        limit: int,
        after_seq: int,
        ceiling: int | None = None,
        index: str | None = None,
    ) -> CursorPage[R]:
        """A page by insertion sequence, behind `after_seq` (0 = from the start); `limit` is at least 1.

        With `ceiling` at most that many live records of the namespaces are looked at. `index` leads to
        the few records that meet the conditions; without it the table is read in its order and no further than
        the page needs, where SQLite would rather collect and sort everything.
        """
        scope = Where("deleted_at IS NULL")
        scope.among("namespace", namespaces)
        scope.add("seq > ?", after_seq)
        boundary = None if ceiling is None else self._boundary(tx, scope, ceiling)
        if boundary is not None:
            scope.add("seq <= ?", boundary[0])
        scope.extend(where)
        source = " NOT INDEXED" if index is None else " INDEXED BY " + index
        found = self._rows(tx, source + " WHERE " + scope.text + " ORDER BY seq LIMIT ?", [*scope.args, limit + 1])
        if len(found) > limit:
            return CursorPage(found[:limit], found[limit - 1].id, False)
        if boundary is None:
            return CursorPage(found, None, False)
        return CursorPage(found, boundary[1], True)

    def count(self, tx: Tx, namespaces: Sequence[str], where: Where) -> int:
        """How many live records of the namespaces meet the conditions."""
        scope = Where("deleted_at IS NULL")
        scope.among("namespace", namespaces)
        scope.extend(where)
        row = tx.one(sql("SELECT count(*) FROM {table} WHERE {where}", table=self.name, where=scope.text), scope.args)
        assert row is not None
        return int(row[0])

    def _rows(self, tx: Tx, tail: str, args: Sequence[object]) -> list[R]:
        return [self._make(row) for row in tx.all(self.select + tail, args)]

    def _mark(self, tx: Tx, row: R, now: int, deleted_at: int | None) -> R:
        values = list(row)
        values[self._updated_at] = now
        values[self._deleted_at] = deleted_at
        return self.update(tx, row, self._make(values))

    def _boundary(self, tx: Tx, scope: Where, ceiling: int) -> tuple[int, str] | None:
        """(seq, id) of the last record under the ceiling when there are more behind it."""
        rows = tx.all(
            sql(
                "SELECT seq, id FROM {table} NOT INDEXED WHERE {where} ORDER BY seq LIMIT 2 OFFSET ?",
                table=self.name,
                where=scope.text,
            ),
            [*scope.args, ceiling - 1],
        )
        return (int(rows[0][0]), str(rows[0][1])) if len(rows) == 2 else None

    def _follow_text(self, tx: Tx, old: R, new: R) -> None:
        if self._text is None:
            return
        substrate = self._text.substrate
        before = None if old.deleted_at is not None else self._text.of(old).row(old.seq)
        after = None if new.deleted_at is not None else self._text.of(new).row(new.seq)
        if before is not None and (after is None or after[0] != before[0]):
            text_index.remove(tx, substrate, before[0])
            before = None
        if after is not None and before is None:
            text_index.put(tx, substrate, *after)
        elif after is not None and after != before:
            text_index.replace(tx, substrate, *after)
