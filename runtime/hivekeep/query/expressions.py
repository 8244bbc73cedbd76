"""Conditions and values as SQL.

Invariant: every operand knows its type, so no comparison depends on how SQLite would convert a value; a comparison with
a missing value is null, and one between values of different types is unequal and without order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hivekeep.query.plan import Compare, InList, Scalar, TextTest
from hivekeep.storage.entities import name_key
from hivekeep.times import parse_iso
from hivekeep_contract.errors import InvalidInput

SqlType = Literal["text", "id", "number", "time", "bool", "object", "json"]
"""`json`: known only when a row is looked at; the operand's `tag` says then which JSON type it has."""

_CLASS: Final[dict[SqlType, str]] = {
    "text": "text", "id": "text", "number": "number", "time": "time", "bool": "bool", "object": "object",
}  # fmt: skip
_TAGS: Final = {"text": "('text')", "number": "('integer','real')", "bool": "('true','false')"}
_NEVER_NULL: Final = "0"


class Args:
    """The bound arguments of a statement, each once, named by number."""

    def __init__(self) -> None:
        self.values: list[object] = []
        self._places: dict[tuple[type, object], str] = {}

    def add(self, value: object) -> str:
        """The place of a value."""
        key = (type(value), value)
        if key not in self._places:
            self.values.append(value)
            self._places[key] = f"?{len(self.values)}"
        return self._places[key]

    def add_all(self, values: Sequence[object]) -> str:
        """The places of several values, for an IN list."""
        return ",".join(self.add(value) for value in values)


@dataclass(frozen=True, slots=True)
class Sql:
    """A value as SQL.

    `tag` reads the JSON type of a `json` value (null when there is none). `key` is the indexed form of a name, where
    there is one; `literal` the constant behind it, if any.
    """

    text: str
    type: SqlType
    tag: str = ""
    key: str = ""
    literal: Scalar | None = None

    @property
    def shown(self) -> str:
        """The column that shows it: JSON text for a `json` value, the value itself for any other."""
        if self.type != "json":
            return self.text
        return (
            f"CASE {self.tag} WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' WHEN 'array' THEN {self.text}"
            f" WHEN 'object' THEN {self.text}"
            f" ELSE CASE WHEN {self.text} IS NOT NULL THEN json_quote({self.text}) END END"
        )


def const(args: Args, value: Scalar) -> Sql:
    """A literal."""
    if isinstance(value, bool):
        return Sql(args.add(int(value)), "bool", literal=value)
    if isinstance(value, str):
        return Sql(args.add(value), "text", literal=value)
    return Sql(args.add(value), "number", literal=value)


def compare(args: Args, condition: Compare, left: Sql, right: Sql) -> str:
    """A comparison."""
    left, right = _alike(args, left, right), _alike(args, right, left)
    if condition.op == "=":
        return _equal(args, left, right, exact=condition.exact)
    if condition.op == "<>":
        return f"NOT {_equal(args, left, right, exact=condition.exact)}"
    return _ordered(condition.op, left, right)


def in_list(args: Args, condition: InList, left: Sql) -> str:
    """Whether a value is one of the literals."""
    groups: dict[tuple[str, SqlType], list[Sql]] = {}
    for item in condition.items:
        wanted = _alike(args, const(args, item), left)
        groups.setdefault((_CLASS[wanted.type], wanted.type), []).append(wanted)
    if not groups:
        return _NEVER_NULL
    tests = []
    for (kind, _), items in groups.items():
        if left.type != "json" and _CLASS[left.type] != kind:
            tests.append(_unequal_types(left))
            continue
        fold = _collation(left, items[0], exact=condition.exact)
        places = ",".join(item.text for item in items)
        tests.append(_guarded(left, kind, f"({left.text}{fold}) IN ({places})"))
        if left.key and not condition.exact:
            keys = args.add_all([name_key(str(item.literal)) for item in items])
            tests[-1] = f"({tests[-1]} AND {left.key} IN ({keys}))"
    return "(" + " OR ".join(tests) + ")"


def text_test(condition: TextTest, left: Sql, right: Sql) -> str:
    """A test of a text against another one."""
    if not (_may_be_text(left) and _may_be_text(right)):
        return "NULL"
    a, b = left.text, right.text
    if condition.op != "like" and not condition.exact:
        a, b = f"lower({a})", f"lower({b})"
    test = {
        "like": f"{a} LIKE {b}",
        "contains": f"instr({a}, {b}) > 0",
        "starts": f"substr({a}, 1, length({b})) = {b}",
        "ends": f"substr({a}, max(length({a}) - length({b}), 0) + 1) = {b}",
    }[condition.op]
    guards = [f"{side.tag} IN {_TAGS['text']}" for side in (left, right) if side.type == "json"]
    return f"CASE WHEN {' AND '.join(guards)} THEN {test} END" if guards else f"({test})"


def same_value(left: Sql, right: Sql) -> str:
    """Whether two values are equal in type and to the letter."""
    if "json" in (left.type, right.type):
        return f"({tag_of(left)} = {tag_of(right)} AND {left.text} = {right.text})"
    return f"{left.text} = {right.text}" if _CLASS[left.type] == _CLASS[right.type] else "0"


def tag_of(value: Sql) -> str:
    """The JSON type of a value of any type."""
    if value.type == "json":
        return value.tag
    if value.type in ("number", "time"):
        return f"nullif(typeof({value.text}), 'null')"
    if value.type == "bool":
        return f"CASE {value.text} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
    return f"CASE WHEN {value.text} IS NOT NULL THEN '{'object' if value.type == 'object' else 'text'}' END"


def _alike(args: Args, value: Sql, other: Sql) -> Sql:
    """A literal in the form in which the other side is stored."""
    if value.literal is None:
        return value
    if other.type == "time" and isinstance(value.literal, str):
        return Sql(args.add(_moment(value.literal)), "time", literal=value.literal)
    if other.type == "time" and value.type == "number":
        return Sql(value.text, "time", literal=value.literal)
    if other.type == "id" and isinstance(value.literal, str):
        return Sql(args.add(value.literal.lower()), "id", literal=value.literal)
    return value


def _moment(text: str) -> int:
    try:
        return parse_iso(text)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"query: {text!r} is compared with a time; give ISO 8601 such as '2026-01-31T00:00:00Z'"
            " or an integer of microseconds"
        ) from None


def _equal(args: Args, left: Sql, right: Sql, *, exact: bool) -> str:
    if left.type == right.type == "json":
        return _equal_json(left, right, exact=exact)
    known = right if left.type == "json" else left
    if left.type != "json" and right.type != "json" and _CLASS[left.type] != _CLASS[right.type]:
        return _unequal_types(left, right)
    kind = _CLASS[known.type]
    if "json" in (left.type, right.type) and kind not in _TAGS:
        return _unequal_types(left, right)
    fold = _collation(left, right, exact=exact)
    test = f"{left.text} = {right.text}{fold}"
    for side, other in ((left, right), (right, left)):
        test = _guarded(side, kind, test) if side.type == "json" else test
        if side.key and isinstance(other.literal, str):
            # Names that differ in ASCII case only have the same key, and the key has an index.
            test = f"{test} AND {side.key} = {args.add(name_key(other.literal))}"
    return f"({test})"


def _equal_json(left: Sql, right: Sql, *, exact: bool) -> str:
    fold = "" if exact else " COLLATE NOCASE"
    a, b, same = left.tag, right.tag, f"{left.text} = {right.text}"
    return (
        f"CASE WHEN {a} IS NULL OR {b} IS NULL THEN NULL WHEN {a} = 'text' AND {b} = 'text' THEN {same}{fold}"
        f" WHEN {a} IN {_TAGS['number']} AND {b} IN {_TAGS['number']} THEN {same} WHEN {a} = {b} THEN {same} ELSE 0 END"
    )


def _ordered(op: str, left: Sql, right: Sql) -> str:
    test = f"{left.text} {op} {right.text}"
    if left.type == right.type == "json":
        kinds = [
            f"WHEN {left.tag} IN {tags} AND {right.tag} IN {tags} THEN {test}"
            for kind, tags in _TAGS.items()
            if kind != "bool"
        ]
        return f"CASE {' '.join(kinds)} END"
    value, known = (left, right) if left.type == "json" else (right, left)
    kind = _CLASS[known.type]
    if kind not in ("text", "number", "time"):
        return "NULL"
    if value.type == "json":
        return f"CASE WHEN {value.tag} IN {_TAGS[kind]} THEN {test} END" if kind in _TAGS else "NULL"
    return f"({test})" if _CLASS[value.type] == kind else "NULL"


def _guarded(value: Sql, kind: str, test: str) -> str:
    return f"({value.tag} IN {_TAGS[kind]} AND {test})" if value.type == "json" else test


def _collation(left: Sql, right: Sql, *, exact: bool) -> str:
    types = {left.type, right.type}
    return "" if exact or "id" in types or not types & {"text"} else " COLLATE NOCASE"


def _unequal_types(*values: Sql) -> str:
    missing = " OR ".join(f"{value.text} IS NULL" for value in values)
    return f"CASE WHEN {missing} THEN NULL ELSE 0 END"


def _may_be_text(value: Sql) -> bool:
    return value.type in ("text", "id", "json")
