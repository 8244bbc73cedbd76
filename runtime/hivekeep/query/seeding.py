"""Telling an inner pattern which records matter.

An optional, alternative or denied pattern is worked out on its own and then joined, so by itself it starts from every
record there is. Here it is told to start from those that the pattern around it can reach.

Invariant: the solutions of a plan stay the same; only patterns that a condition narrows down, and those with paths, are
changed, and the plan grows by a bounded number of parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hivekeep.query.bindings import all_variables, binds, find, surely_binds
from hivekeep.query.plan import (
    And,
    Bind,
    Compare,
    Condition,
    Const,
    Edge,
    Exists,
    Filter,
    Group,
    InList,
    Node,
    Not,
    Observed,
    Optional,
    Or,
    Part,
    Path,
    PathMeasure,
    Plan,
    Union,
    Within,
)
from hivekeep_contract.limits import QUERY_MAX_PARTS

_CHEAP: Final = (Node, Edge, Observed, Bind)


def seeded(plan: Plan) -> Plan:
    """The same plan, its inner patterns narrowed down."""
    return replace(plan, pattern=_Seeding().group(plan.pattern))


class _Seeding:
    """One pass over a plan; `left` is how many parts it may still add."""

    def __init__(self) -> None:
        self.left = QUERY_MAX_PARTS

    def group(self, group: Group) -> Group:
        """A group whose inner groups know where to start."""
        return Group(tuple(self._part(part, group) for part in group.parts))

    def _part(self, part: Part, around: Group) -> Part:
        match part:
            case Optional():
                return Optional(self._inner(part.group, around, part))
            case Union():
                return Union(tuple(self._walk(arm, around, part) for arm in part.arms))
            case Filter():
                return Filter(self._condition(part.condition, around, part))
        return part

    def _condition(self, condition: Condition, around: Group, holder: Part) -> Condition:
        match condition:
            case And() | Or():
                parts = tuple(self._condition(part, around, holder) for part in condition.parts)
                return replace(condition, parts=parts)
            case Not():
                return Not(self._condition(condition.part, around, holder))
            case Exists():
                return Exists(self._walk(condition.group, around, holder))
        return condition

    def _walk(self, group: Group, around: Group, holder: Part) -> Group:
        """A group that SQLite looks up row by row, unless there is a path in it."""
        return self._inner(group, around, holder) if _walks(group) else self.group(group)

    def _inner(self, group: Group, around: Group, holder: Part) -> Group:
        base = _base(around, holder)
        sure = {name for part in base for name in surely_binds(part)}
        start = next((name for name in _starts(group) if name in sure), None)
        size = sum(1 for _ in find(base, (*_CHEAP, Path, Filter)))
        if start is None or not (_walks(group) or any(map(_narrows, base))) or size > self.left:
            return self.group(group)
        self.left -= size
        return self.group(Group((*group.parts, Filter(Within(start, Group(base))))))


def _base(around: Group, holder: Part) -> tuple[Part, ...]:
    """What surely holds around an inner pattern, as far as it stands on its own and is cheap to work out twice."""
    walks = [part for part in around.parts if isinstance(part, Path)]
    kept = (*_CHEAP, Path) if len(walks) == 1 else _CHEAP
    joined = [part for part in around.parts if part is not holder and isinstance(part, kept)]
    sure = {name for part in joined for name in surely_binds(part)}
    filters = [
        part
        for part in around.parts
        if isinstance(part, Filter) and part is not holder and _stands_alone(part.condition, sure)
    ]
    return (*joined, *filters)


def _stands_alone(condition: Condition, sure: set[str]) -> bool:
    """Whether a condition reads nothing but what is surely bound, and looks into no other pattern."""
    return not any(find(condition, (Exists, PathMeasure))) and all_variables(condition) <= sure


def _narrows(part: Part) -> bool:
    if not isinstance(part, Filter):
        return False
    match part.condition:
        case Within() | InList():
            return True
        case Compare(op="="):
            return isinstance(part.condition.left, Const) or isinstance(part.condition.right, Const)
    return False


def _walks(group: Group) -> bool:
    return any(isinstance(part, Path) for part in group.parts)


def _starts(group: Group) -> Iterator[str]:
    """The records an inner pattern could start from, ends of paths first."""
    for wanted in (Path, Edge, Observed, Node):
        for part in group.parts:
            if isinstance(part, wanted):
                yield from sorted(binds(part), key=lambda name: name == _far_end(part))


def _far_end(part: Part) -> str | None:
    return part.target if isinstance(part, Path | Edge | Observed) else None
