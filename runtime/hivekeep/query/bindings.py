"""Which variables the parts of a plan bind."""

from __future__ import annotations

from hivekeep.query.plan import Bind, Edge, Filter, Node, Observed, Optional, Part, Path, Union


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
