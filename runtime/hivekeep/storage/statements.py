"""Building SQL from constants of this program: what a caller wrote only ever travels as a bound argument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from hivekeep.storage import json_text

_MAX_ARMS: Final = 32
"""Beyond this many namespaces one sorted arm costs less than preparing the statement."""
_MAX_PLACES: Final = 100
"""Beyond this many values a list is one JSON text: all lists and arms together have 32,766 places in SQLite."""


class Statement(NamedTuple):
    """SQL with its arguments, ready for a `Tx`."""

    sql: str
    args: list[object]


_IDS_A_STATEMENT: Final = 500


def sql(text: str, **parts: str) -> str:
    """`text` with each `{name}` replaced by the constant of that name."""
    for name, part in parts.items():
        text = text.replace("{" + name + "}", part)
    return text


def batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """The ids in runs that fit into one statement each."""
    for start in range(0, len(ids), _IDS_A_STATEMENT):
        yield ids[start : start + _IDS_A_STATEMENT]


def beginning_with(prefix: str) -> tuple[str, str]:
    """The arguments of `id >= ? AND id < ?` for the ids that begin so.

    `prefix` is lower-case hex with hyphens at their places; the letter behind it sorts behind all of them.
    """
    return prefix, prefix + "g"


@lru_cache(maxsize=512)
def marks(count: int) -> str:
    """`count` argument places for an IN list."""
    return ",".join("?" * count)


def members(values: Sequence[object], each: str = "{value}") -> Statement:
    """What stands between the parentheses of `IN (...)`; `each` is an SQL expression of one `{value}`."""
    if len(values) <= _MAX_PLACES:
        return Statement(",".join([sql(each, value="?")] * len(values)), list(values))
    listed = sql("SELECT {each} FROM json_each(?)", each=sql(each, value="value"))
    return Statement(listed, [json_text.dump(list(values))])


class Where:
    """Conditions joined by AND, with the arguments in the order of their places."""

    __slots__ = ("_args", "_parts")

    def __init__(self, *conditions: str) -> None:
        self._parts = list(conditions)
        self._args: list[object] = []

    def add(self, condition: str, *args: object) -> None:
        """One more condition; `args` fill its places."""
        self._parts.append(condition)
        self._args.extend(args)

    def extend(self, other: Where) -> None:
        """Every condition of `other` as well."""
        self._parts += other._parts
        self._args += other._args

    def equal(self, column: str, value: object | None) -> None:
        """`column = value`, unless the value is None, which stands for no condition."""
        if value is not None:
            self.add(column + " = ?", value)

    def among(self, column: str, values: Sequence[object]) -> None:
        """`column` has one of the values; an empty list matches nothing."""
        wanted = members(values)
        self.add(column + " IN (" + wanted.sql + ")", *wanted.args)

    def any_tag(self, column: str, path: str, tags: Sequence[str]) -> None:
        """The JSON list at `path` of `column` holds one of the tags; the case of ASCII letters is ignored."""
        wanted = members(tags, each="lower({value})")
        self.add(
            sql(
                "EXISTS (SELECT 1 FROM json_each({column}, '{path}') AS tag WHERE tag.type = 'text'"
                " AND lower(tag.value) IN ({wanted}))",
                column=column,
                path=path,
                wanted=wanted.sql,
            ),
            *wanted.args,
        )

    @property
    def text(self) -> str:
        """The conditions as SQL."""
        return " AND ".join(self._parts)

    @property
    def args(self) -> list[object]:
        """The bound arguments."""
        return self._args


def newest_first(select: str, where: Where, namespaces: Sequence[str], limit: int, offset: int) -> Statement:
    """A page in offset order: created_at descending, then id descending.

    Each namespace is an arm of its own, so that every arm walks its index in order and SQLite merges the arms
    without sorting; `select` must name the columns `created_at` and `id` and end before WHERE.
    """
    apart = 0 < len(namespaces) <= _MAX_ARMS
    arms = []
    args: list[object] = []
    for group in [[namespace] for namespace in namespaces] if apart else [namespaces]:
        arm = Where()
        arm.among("namespace", group)
        arm.extend(where)
        arms.append(select + " WHERE " + arm.text)
        args += arm.args
    args += (limit, offset)
    return Statement(" UNION ALL ".join(arms) + " ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?", args)
