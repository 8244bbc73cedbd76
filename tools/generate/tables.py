"""Tables of the gateway as Python: JSON values, lists as tuples, typed as closely as their members agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tools.generate.literal import comment, literal
from tools.generate.model import Table


def table_values(tables: Iterable[Table]) -> list[dict[str, str]]:
    """Name, type, source and doc comment of each table."""
    return [_row(table) for table in tables]


def annotation(values: list[Any]) -> str:
    """The narrowest type that all `values` have; where they have none in common, `Any`.

    Every value of a map is typed alike, so `{priority: 1, message: x}` is a `dict[str, Any]`.
    """
    given = [value for value in values if value is not None]
    if not given:
        return "None" if values else "Any"
    found = _shared(given)
    return found if len(given) == len(values) or found == "Any" else f"{found} | None"


def _shared(values: list[Any]) -> str:
    kinds = {type(value) for value in values}
    if kinds == {dict}:
        return f"dict[str, {annotation([member for value in values for member in value.values()])}]"
    if kinds == {list}:
        return f"tuple[{annotation([member for value in values for member in value])}, ...]"
    if kinds == {int, float}:
        return "float"
    return kinds.pop().__name__ if len(kinds) == 1 else "Any"


def _row(table: Table) -> dict[str, str]:
    name, kind = table.name.upper(), annotation([table.value])
    value = literal(_frozen(table.value), len(name) + len(kind) + 5)
    return {"name": name, "type": kind, "value": value, "doc": comment(table.doc)}


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return value
