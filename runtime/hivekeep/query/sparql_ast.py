"""What a SPARQL text of the dialect says, before anybody asks what the store holds.

Invariant: a tree is immutable and holds only what the dialect can mean; every node that a later step may refuse
knows the character where it stands in the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Var:
    """A variable, without its `?` or `$`."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Iri:
    """A name of the graph: `:name`, `prefix:name`, or `<...>`, which has no prefix."""

    prefix: str | None
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A text, number or truth value."""

    value: str | int | float | bool
    at: int


Term = Var | Iri | Constant


# property paths


@dataclass(frozen=True, slots=True)
class Kind:
    """The predicate `a`."""

    at: int


@dataclass(frozen=True, slots=True)
class Inverse:
    """`^path`: walked from its end to its start."""

    path: Path


@dataclass(frozen=True, slots=True)
class Steps:
    """`path/path`: one after the other."""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """`path|path`: either."""

    parts: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`path?`, `path*`, `path+`, `path{a,b}`: walked `least` to `most` times; `most=None` has no end."""

    path: Path
    least: int
    most: int | None
    at: int


Path = Iri | Kind | Inverse | Steps | Alternative | Repeat


# expressions

Comparison = Literal["=", "!=", "<", ">", "<=", ">="]


@dataclass(frozen=True, slots=True)
class Or:
    """One of them holds."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class And:
    """All of them hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """It does not hold."""

    part: Expression


@dataclass(frozen=True, slots=True)
class Compare:
    """`left op right`."""

    op: Comparison
    left: Expression
    right: Expression
    at: int


@dataclass(frozen=True, slots=True)
class Among:
    """`left IN (...)`, or `NOT IN` when it is denied."""

    left: Expression
    items: tuple[Expression, ...]
    denied: bool
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the dialect; `name` in capitals."""

    name: str
    args: tuple[Expression, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Exists:
    """A pattern that has, or when it is denied has not, a solution."""

    group: Group
    denied: bool


@dataclass(frozen=True, slots=True)
class Count:
    """`COUNT(*)`, `COUNT(?x)` or `COUNT(DISTINCT ?x)`; `of=None` counts solutions."""

    of: Var | None
    distinct: bool
    at: int


Expression = Var | Iri | Constant | Or | And | Not | Compare | Among | Call | Exists


# patterns


@dataclass(frozen=True, slots=True)
class Triple:
    """Subject, path and object."""

    subject: Term
    path: Path
    object: Term


@dataclass(frozen=True, slots=True)
class Filter:
    """Keeps the solutions of its group for which the condition holds."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Optional:
    """Adds what it finds and keeps the solution when it finds nothing."""

    group: Group


@dataclass(frozen=True, slots=True)
class Branches:
    """The solutions of every branch; with one branch, a group of its own."""

    groups: tuple[Group, ...]


Element = Triple | Filter | Optional | Branches


@dataclass(frozen=True, slots=True)
class Group:
    """What stands between braces, in the order written; filters hold for the whole group."""

    elements: tuple[Element, ...]


# the query


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the answer: a variable, or a value under a name of its own."""

    value: Expression | Count
    name: Var


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of the order."""

    by: Expression | Count
    descending: bool


@dataclass(frozen=True, slots=True)
class Query:
    """A whole SELECT; `prefixes` are the declared ones with what they stand for, `limit=None` means all."""

    prefixes: Mapping[str, str]
    columns: tuple[Column, ...]
    distinct: bool
    where: Group
    group_by: tuple[Var, ...]
    order_by: tuple[OrderKey, ...]
    limit: int | None
