"""Which memories a recall may answer with, as conditions on the notes table `r`.

Invariant: a condition is part of the statement that finds candidates, so nothing is lost to a limit before it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple

from hivekeep.storage.statements import Where, sql
from hivekeep_contract.vocabulary import ENUMS

TagMode = Literal["any", "all"]

MEMORY_TYPES: Final = ENUMS["memory.memory_type"]
DEFAULT_TYPE: Final = MEMORY_TYPES[0]
"""The type of a memory that says none, or one that is not known."""

_BY_TYPE: Final = "CASE json_extract({properties}, '$.memory_type') {known} ELSE {default} END"


class MemoryFilter(NamedTuple):
    """Conditions on memories; None and empty sequences are no condition.

    `tags` by `tag_mode`, `without_tags` none of them, both without regard to the case of ASCII letters.
    `created_after` is inclusive, `created_before` exclusive, both in microseconds.
    """

    tags: Sequence[str] = ()
    tag_mode: TagMode = "any"
    without_tags: Sequence[str] = ()
    memory_type: str | None = None
    created_after: int | None = None
    created_before: int | None = None

    def conditions(self) -> Where:
        """As SQL on the notes table `r`."""
        where = Where()
        for tags in [self.tags] if self.tag_mode == "any" else [[tag] for tag in self.tags]:
            if tags:
                where.any_tag("r.properties", "$.tags", tags)
        if self.without_tags:
            tagged = Where()
            tagged.any_tag("r.properties", "$.tags", self.without_tags)
            where.add("NOT " + tagged.text, *tagged.args)
        if self.memory_type is not None:
            where.add(type_of("r.properties") + " = ?", self.memory_type)
        if self.created_after is not None:
            where.add("r.created_at >= ?", self.created_after)
        if self.created_before is not None:
            where.add("r.created_at < ?", self.created_before)
        return where


ANY_MEMORY: Final = MemoryFilter()


def type_of(properties: str) -> str:
    """The memory type that a properties column says, as an SQL expression."""
    return _by_type(properties, {name: f"'{name}'" for name in MEMORY_TYPES})


def or_default(column: str, properties: str, defaults: Mapping[str, float]) -> str:
    """A column, or the number of the memory's type where it is null, as an SQL expression."""
    by_type = _by_type(properties, {name: repr(number) for name, number in defaults.items()})
    return "coalesce(" + column + ", " + by_type + ")"


def _by_type(properties: str, values: Mapping[str, str]) -> str:
    others = (name for name in MEMORY_TYPES if name != DEFAULT_TYPE)
    known = " ".join(f"WHEN '{name}' THEN {values[name]}" for name in others)
    return sql(_BY_TYPE, properties=properties, known=known, default=values[DEFAULT_TYPE])
