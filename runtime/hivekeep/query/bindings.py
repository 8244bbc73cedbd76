"""Which variables the parts of a plan bind, and which its conditions read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from hivekeep.query.plan import (
    Bind,
    Condition,
    Edge,
    Exists,
    Field,
    Filter,
    Node,
    Observed,
    Optional,
    Part,
    Path,
    PathMeasure,
    Union,
    Value,
    Within,
)


def binds(part: Part) -> set[str]:
    """The variables that some solution of a part binds, record and value ones."""
    match part:
        case Node() | Bind():
            return {part.var}
        case Edge() | Path():
            return {part.source, part.target} | ({part.var} if part.var else set())
        case Observed():
            return {part.event, part.target}
        case Optional():
            return {name for inner in part.group.parts for name in binds(inner)}
        case Union():
            return {name for arm in part.arms for inner in arm.parts for name in binds(inner)}
        case Filter():
            return set()


def surely_binds(part: Part) -> set[str]:
    """The variables that every solution of a part binds."""
    if isinstance(part, Optional):
        return set()
    if isinstance(part, Union):
        arms = [{name for inner in arm.parts for name in surely_binds(inner)} for arm in part.arms]
        return set.intersection(*arms)
    return binds(part)


def record_variables(condition: Condition) -> set[str]:
    """The record variables a condition reads."""
    if isinstance(condition, Within):
        return {condition.var}
    return {field.var for field in find(condition, Field)}


def all_variables(condition: Condition) -> set[str]:
    """The variables a condition reads, record and value ones."""
    if isinstance(condition, Within):
        return {condition.var}
    return record_variables(condition) | {value.var for value in find(condition, Value)}


def is_plain(condition: Condition) -> bool:
    """Whether a condition looks at fields of records alone."""
    return isinstance(condition, Within) or not any(find(condition, (Exists, Value, PathMeasure)))


def find(thing: Any, wanted: Any) -> Iterator[Any]:
    """Everything of a class (or one of several) inside a plan, at any depth."""
    stack = [thing]
    while stack:
        found = stack.pop()
        if isinstance(found, wanted):
            yield found
        if isinstance(found, tuple):
            stack += reversed(found)
        elif is_dataclass(found):
            stack += [getattr(found, field.name) for field in reversed(fields(found))]
