"""How a presented result is written: the JSON value itself, or text for a reader (table, else compact JSON).

`json` is never reduced. The text formats leave out what only repeats itself, except in verbose mode.
"""

from collections.abc import Iterator
from typing import Any

from hivekeep.request.json_values import compact
from hivekeep.request.opaque import around_content, is_sequenced_record, map_content
from hivekeep_contract.presentation import (
    TABLE_CELL_MAX_CHARS,
    TABLE_DEFAULT_NAMESPACE,
    TABLE_HOISTED_PROPERTIES,
    TABLE_MIN_ROWS,
    TABLE_REDUNDANT_KEYS,
    TABLE_UNCUT_KEYS,
    TABLE_UNCUT_PREFIXES,
    TABLE_UNCUT_SUFFIXES,
)

_PROPERTIES = "properties"
_NAMESPACE = "namespace"
_CUT = "..."
_UNCUT_SUFFIXES = tuple(TABLE_UNCUT_SUFFIXES)
_UNCUT_PREFIXES = tuple(TABLE_UNCUT_PREFIXES)

Row = dict[str, Any]


def render(result: Any, format: str, mode: str, *, parsed_content: bool = False) -> Any:
    """Write one presented result in `format` ("json", "auto" or "table") for presentation `mode`.

    `json` answers the value itself, the others a string. `parsed_content` marks a result whose note content
    was parsed: it is never reduced; `auto` keeps it as JSON, `table` shows it as JSON text in a cell.
    """
    if format == "json":
        return result
    if parsed_content and format == "table":
        result = map_content(result, lambda content: compact(content) if isinstance(content, (dict, list)) else content)
    if mode != "verbose":
        result = around_content(result, _reduce) if parsed_content else _reduce(result)
    if parsed_content and format == "auto":
        return compact(result)
    return _table_or_text(result, cut=mode != "verbose")


def _reduce(value: Any) -> Any:
    """Leave out keys that repeat others, in every object outside `properties` and opaque records."""
    if isinstance(value, list):
        return [_reduce(member) for member in value]
    return _reduce_object(value) if isinstance(value, dict) else value


def _reduce_object(source: Row) -> Row:
    opaque = "record" if is_sequenced_record(source) else None
    out: Row = {}
    for key, value in source.items():
        if key in TABLE_REDUNDANT_KEYS or (key == _NAMESPACE and value == TABLE_DEFAULT_NAMESPACE):
            continue
        if key == _PROPERTIES and isinstance(value, dict):
            own = {name: held for name, held in value.items() if name not in source or source[name] != held}
            if own:
                out[key] = own
        else:
            out[key] = value if key == opaque else _reduce(value)
    return out


def _table_or_text(result: Any, *, cut: bool) -> str:
    name, rows = _record_array(result)
    if rows is None:
        return compact(result)
    rows = [_hoist(row) for row in rows]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [_line(_escape(column) for column in columns), _line("---" for _ in columns)]
    lines += [_line(_cell(row.get(column), column, cut) for column in columns) for row in rows]
    if isinstance(result, dict):
        beside = [f"{key}: {_sibling(value)}" for key, value in result.items() if key != name]
        if beside:
            lines += ["", *beside]
    return "\n".join(lines)


def _record_array(result: Any) -> tuple[str | None, list[Row] | None]:
    """The array to show as a table, and the key it stands under (None: it is the result itself)."""
    if _is_record_array(result):
        return None, result
    if isinstance(result, dict):
        for key, value in result.items():
            if _is_record_array(value):
                return key, value
    return None, None


def _is_record_array(value: Any) -> bool:
    """Whether a table can show it; rows that all lost every field (agent mode leaves out null) have no column."""
    return (
        isinstance(value, list)
        and len(value) >= TABLE_MIN_ROWS
        and all(isinstance(row, dict) for row in value)
        and any(value)
    )


def _hoist(row: Row) -> Row:
    """Move what a reader scans for out of `properties` into columns of its own."""
    properties = row.get(_PROPERTIES)
    if not isinstance(properties, dict):
        return row
    hoisted = {
        name: properties[name]
        for name in TABLE_HOISTED_PROPERTIES
        if name in properties and name not in row and not isinstance(properties[name], (dict, list))
    }
    rest = {name: value for name, value in properties.items() if name not in hoisted}
    out = {key: rest if key == _PROPERTIES else value for key, value in row.items() if key != _PROPERTIES or rest}
    return {**out, **hoisted}


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any, column: str, cut: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return "{…}"
    if isinstance(value, list):
        text = "[…]" if any(isinstance(member, (dict, list)) for member in value) else compact(value)
    else:
        text = value if isinstance(value, str) else compact(value)
    if cut and len(text) > TABLE_CELL_MAX_CHARS and not _is_uncut(column):
        text = text[: TABLE_CELL_MAX_CHARS - len(_CUT)] + _CUT
    return _escape(text)


def _is_uncut(column: str) -> bool:
    return column in TABLE_UNCUT_KEYS or column.endswith(_UNCUT_SUFFIXES) or column.startswith(_UNCUT_PREFIXES)


def _escape(text: str) -> str:
    """One line that cannot end its cell."""
    return " ".join(text.splitlines()).replace("|", "\\|")


def _sibling(value: Any) -> str:
    if isinstance(value, str) and "\n" not in value and "\r" not in value:
        return value
    return compact(value)
