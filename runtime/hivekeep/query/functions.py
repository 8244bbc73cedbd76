"""Functions of values as SQL.

Invariant: a missing argument, or one of a type the function does not take, makes null, never another value; the text of
a nested call stays short enough for SQLite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from hivekeep.query.expressions import Sql, tag_of
from hivekeep.query.plan import Function
from hivekeep_contract.errors import Unsupported

_SQL_MAX_CHARS: Final = 50_000
_NULL: Final = "NULL"


def apply(name: Function, given: Sequence[Sql]) -> Sql:
    """A call; raises Unsupported when calls are nested so that the statement would grow beyond bounds."""
    value = _coalesce(given) if name == "coalesce" else _MADE[name](given)
    if len(value.text) + len(value.tag) > _SQL_MAX_CHARS:
        raise Unsupported("query: functions are nested too deep for one statement; split the query")
    return value


def truth(value: Sql) -> str:
    """Whether a value counts as true."""
    if value.type == "json":
        return (
            f"CASE {value.tag} WHEN 'true' THEN 1 WHEN 'false' THEN 0 WHEN 'text' THEN {value.text} <> ''"
            f" WHEN 'integer' THEN {value.text} <> 0 WHEN 'real' THEN {value.text} <> 0 END"
        )
    empty = {"text": "''", "id": "''", "number": "0", "bool": "0"}.get(value.type)
    return _NULL if empty is None else f"({value.text} <> {empty})"


def _lower(given: Sequence[Sql]) -> Sql:
    return Sql(f"lower({_text_of(given[0])})", "text")


def _upper(given: Sequence[Sql]) -> Sql:
    return Sql(f"upper({_text_of(given[0])})", "text")


def _length(given: Sequence[Sql]) -> Sql:
    return Sql(f"length({_text_of(given[0])})", "number")


def _slice(given: Sequence[Sql]) -> Sql:
    text, start, length = given
    places = start.text if length.literal == -1 else f"{start.text}, {length.text}"
    return Sql(f"substr({_text_of(text)}, {places})", "text")


def _before(given: Sequence[Sql]) -> Sql:
    # Without an occurrence the length is -1, and what stands before the first character is "".
    text, part = (_text_of(each) for each in given)
    return Sql(f"substr({text}, 1, instr({text}, {part}) - 1)", "text")


def _after(given: Sequence[Sql]) -> Sql:
    text, part = (_text_of(each) for each in given)
    found = f"instr({text}, {part})"
    return Sql(
        f"CASE WHEN {found} > 0 THEN substr({text}, {found} + length({part})) WHEN {found} = 0 THEN '' END", "text"
    )


def _concat(given: Sequence[Sql]) -> Sql:
    return Sql("(" + " || ".join(_text_of(each) for each in given) + ")", "text")


def _as_text(given: Sequence[Sql]) -> Sql:
    (value,) = given
    if value.type in ("text", "id"):
        return Sql(value.text, "text")
    if value.type == "json":
        return Sql(
            f"CASE {value.tag} WHEN 'text' THEN {value.text} WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
            f" WHEN 'integer' THEN CAST({value.text} AS TEXT) WHEN 'real' THEN CAST({value.text} AS TEXT) END",
            "text",
        )
    if value.type == "bool":
        return Sql(f"CASE {value.text} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END", "text")
    if value.type == "time":
        seconds = f"strftime('%Y-%m-%dT%H:%M:%S', {value.text} / 1000000, 'unixepoch')"
        return Sql(f"({seconds} || printf('.%06dZ', {value.text} % 1000000))", "text")
    return Sql(f"CAST({value.text} AS TEXT)" if value.type == "number" else _NULL, "text")


def _coalesce(given: Sequence[Sql]) -> Sql:
    there = [value for value in given if value.text != _NULL]
    if len(there) < 2:
        return there[0] if there else Sql(_NULL, "text")
    text = f"coalesce({', '.join(value.text for value in there)})"
    types = {value.type for value in there}
    if len(types) == 1 and "json" not in types:
        return Sql(text, types.pop())
    return Sql(text, "json", tag=f"coalesce({', '.join(tag_of(value) for value in there)})")


def _text_of(value: Sql) -> str:
    """The value where it is a text."""
    if value.type == "json":
        return f"CASE WHEN {value.tag} = 'text' THEN {value.text} END"
    return value.text if value.type in ("text", "id") else _NULL


_MADE: Final[dict[Function, Callable[[Sequence[Sql]], Sql]]] = {
    "lower": _lower,
    "upper": _upper,
    "length": _length,
    "slice": _slice,
    "before": _before,
    "after": _after,
    "concat": _concat,
    "text": _as_text,
}
