"""Running a query: one page of rows, in bounded time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hivekeep.query.cache import Query, prepared
from hivekeep.storage.engine import OutOfTime, Row, TooComplex, Tx
from hivekeep.storage.json_text import load
from hivekeep.times import iso
from hivekeep_contract.errors import QueryTooExpensive, Unsupported
from hivekeep_contract.limits import QUERY_BUDGET_MS


class Page(NamedTuple):
    """Rows in the order of the query; `terminal`: the text itself said where they end."""

    query: Query
    rows: list[dict[str, Any]]
    has_more: bool


def run(tx: Tx, text: str, namespaces: Sequence[str], page_size: int) -> Page:
    """One page of a query.

    A LIMIT of the text that fits the page ends the rows there; else one row more is read, to know whether another page
    follows. Raises InvalidQuery, InvalidInput, Unsupported or QueryTooExpensive.
    """
    query = prepared(text, namespaces)
    limit = query.plan.limit
    ends_here = limit is not None and limit <= page_size
    wanted = limit if limit is not None and ends_here else page_size + 1
    statement = query.compiled.statement
    try:
        rows = tx.all_within(statement.sql, [*statement.args, wanted, query.plan.skip], QUERY_BUDGET_MS)
    except OutOfTime:
        raise QueryTooExpensive(
            f"query: stopped after {QUERY_BUDGET_MS} ms; give kinds, relations or exact names, or fewer hops",
            details={"budget_ms": QUERY_BUDGET_MS},
        ) from None
    except TooComplex as refused:
        raise Unsupported(f"query: is larger than one statement may be ({refused}); split it into several") from None
    shown = rows if ends_here else rows[:page_size]
    return Page(query, _shown(shown, query.compiled.columns), len(rows) > len(shown))


def _shown(rows: list[Row], columns: tuple[tuple[str, str], ...]) -> list[dict[str, Any]]:
    names = [name for name, _ in columns]
    readers = [(place, _READERS[type_]) for place, (_, type_) in enumerate(columns) if type_ in _READERS]
    if not readers:
        return [dict(zip(names, row, strict=True)) for row in rows]
    shown = []
    for row in rows:
        values = list(row)
        for place, read in readers:
            if values[place] is not None:
                values[place] = read(values[place])
        shown.append(dict(zip(names, values, strict=True)))
    return shown


_READERS: dict[str, Callable[[Any], Any]] = {"time": iso, "json": load, "object": load, "bool": bool}
