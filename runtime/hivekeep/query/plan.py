"""The logical plan: what a query means, whichever language it was written in.

A plan is a pattern that yields solutions, and what is shown of them. Everything here is immutable data without SQL and
without syntax; a parser (`gql`, `sparql`) makes it, `compile` turns it into one statement.

Variables are plain names. There are two sorts, and one name is only ever of one sort in a plan:

- a *record variable* is bound to a live, visible record: by `Node`, as an end or as the `var` of an `Edge`, as an end
  of a `Path` or an `Observed`. Used again it means the same record, so repeated variables join.
- a *value variable* is bound to a scalar by `Bind`. Used again it means an equal value (exact, binary).

A variable that only an `Optional`, or only some arms of a `Union`, binds may be unbound in a solution; its fields are
null then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Substrate = Literal["entity", "note", "event", "edge"]
SUBSTRATES: Final[tuple[Substrate, ...]] = ("entity", "note", "event", "edge")

Scalar: TypeAlias = str | int | float | bool
CompareOp = Literal["=", "<>", "<", "<=", ">", ">="]
TextOp = Literal["like", "contains", "starts", "ends"]
Measure = Literal["depth", "weight"]
Function = Literal["lower", "upper", "length", "slice", "before", "after", "concat", "text", "coalesce"]

# expressions


@dataclass(frozen=True, slots=True)
class Const:
    """A literal of the query."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the record behind a record variable; null where the record has no such field.

    `name` is one of `fields.NODE_FIELDS` (or `fields.EDGE_FIELDS` for the `var` of an `Edge`). With `path` it is the
    value at that path below `properties`; `Field(var, "properties", ())` is the whole object.
    """

    var: str
    name: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a value variable."""

    var: str


@dataclass(frozen=True, slots=True)
class PathMeasure:
    """What is known of a `Path` by its `var`: hops of the shallowest path, or the best sum of weights at that depth.

    Only a path without revisits is measured.
    """

    path: str
    measure: Measure


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of values; null when an argument is missing or of another type (`coalesce`: the first one there is).

    `lower` and `upper` change ASCII letters; `length` counts characters; `slice` takes a text, a start from 1 and a
    length, both integers (a negative length means all that follows); `before` and `after` give what stands before or
    after the first occurrence of a text, "" when there is none; `concat` joins texts; `text` writes a scalar as text.
    """

    name: Function
    args: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison. Null when a side is missing; values of different types are unequal and have no order.

    `exact=False` ignores the case of ASCII letters in `=` and `<>`; the orders are always binary. A time field is
    compared with an ISO text or an integer of microseconds. `Field(a, "id")` on both sides compares records.
    """

    op: CompareOp
    left: Operand
    right: Operand
    exact: bool = False


@dataclass(frozen=True, slots=True)
class TextTest:
    """A test of a text against a text; null when a side is missing or is no text.

    `like` takes the wildcards `%` and `_` and never minds ASCII case; the others are literal and mind it when `exact`.
    """

    op: TextOp
    left: Operand
    right: Operand
    exact: bool = False


@dataclass(frozen=True, slots=True)
class InList:
    """Whether a value equals one of the literals; an empty list holds nothing."""

    left: Operand
    items: tuple[Scalar, ...]
    exact: bool = False


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether an operand has no value (JSON null counts as none); `IsNull(Field(x, "id"))` asks for unbound."""

    of: Operand


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether a value counts as true: true, a number other than 0, a text that is not empty; null when missing."""

    of: Operand


@dataclass(frozen=True, slots=True)
class And:
    """Every part holds; true without parts."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One part holds; false without parts."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold; null stays null, as in SQL."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether the group has a solution that agrees with the variables bound around it."""

    group: Group


@dataclass(frozen=True, slots=True)
class Within:
    """Whether a record is one that the group, on its own, binds the variable to. Only `seeding` writes it."""

    var: str
    group: Group


@dataclass(frozen=True, slots=True)
class Count:
    """How many solutions of a group have a value (`of=None`: how many there are). Only in outputs and order keys."""

    of: Operand | None = None
    distinct: bool = False


Operand: TypeAlias = Const | Field | Value | PathMeasure | Apply
Condition: TypeAlias = Compare | TextTest | InList | IsNull | Truth | And | Or | Not | Exists | Within
Expression: TypeAlias = Operand | Count

# patterns


@dataclass(frozen=True, slots=True)
class Node:
    """Binds `var` to a record of one of the substrates, of exactly this stored kind when one is given."""

    var: str
    substrates: tuple[Substrate, ...] = SUBSTRATES
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """One live edge from `source` to `target` (record variables; they need no `Node` of their own).

    `relations=()` takes every relation; an unknown one is refused by the parser. `directed=False` matches both
    orientations, one solution each. `var` binds the edge itself: its fields are `fields.EDGE_FIELDS`.
    """

    source: str
    target: str
    relations: tuple[str, ...] = ()
    directed: bool = True
    var: str | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """`event` refers to `target` in one of the roles (`candidate`, `selected`, `target`, `signal`)."""

    event: str
    target: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """One edge of a step: of these relations (() = all), along it, against it, or either way."""

    relations: tuple[str, ...] = ()
    direction: Literal["out", "in", "any"] = "out"


@dataclass(frozen=True, slots=True)
class Path:
    """`least` to `most` steps from `source` to `target`; one solution for each pair of ends, however many paths.

    A step follows one of the chains of `steps`: `((Hop(("a",)),),)` is `a`, `((Hop(("a",)), Hop(("b",))),)` is `a/b`,
    `((Hop(("a",)),), (Hop(("b",), "in"),))` is `a|^b`. `most=None` has no bound. Every node on the way is live and
    visible.

    `revisits=False`: no path meets a node twice, the start included, so a cycle never leads back; needs a bound, a
    `least` of 1 or more and one step of one hop; may be measured. `revisits=True`: walks, so a cycle leads back to its
    start; `least=0` also joins every node to itself.
    """

    source: str
    target: str
    steps: tuple[tuple[Hop, ...], ...]
    least: int = 1
    most: int | None = None
    revisits: bool = True
    var: str | None = None


@dataclass(frozen=True, slots=True)
class Bind:
    """Binds the value variable `var` to `of`; no solution where that is null."""

    var: str
    of: Operand


@dataclass(frozen=True, slots=True)
class Filter:
    """Keeps the solutions for which the condition is true. Holds for its whole group, wherever it stands in it.

    In the group of an `Optional` it may also use variables of the group around it.
    """

    condition: Condition


@dataclass(frozen=True, slots=True)
class Optional:
    """The solutions so far, extended by those of the group where there are any (SPARQL's OPTIONAL, a left join).

    Its left side is every part of its group that is no `Optional`, and the `Optional`s before it. A variable that one
    of those binds may be used in a later one; a part that is no `Optional` or `Filter` must not need it.
    """

    group: Group


@dataclass(frozen=True, slots=True)
class Union:
    """The solutions of one group and those of the others, one after the other, joined with the rest."""

    arms: tuple[Group, ...]


Part: TypeAlias = Node | Edge | Observed | Path | Bind | Filter | Optional | Union


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that hold together: their solutions joined on the variables they share. Empty: one solution, unbound."""

    parts: tuple[Part, ...]


# what is shown


@dataclass(frozen=True, slots=True)
class Output:
    """A column. Times are shown as ISO text and what comes from `properties` as its JSON value; the compiler knows."""

    name: str
    of: Expression


@dataclass(frozen=True, slots=True)
class OrderKey:
    """Sorts by a value; texts compare binary. `nulls_first` says where missing values stand in the answer."""

    of: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole query.

    `group=None` shows solutions; a tuple makes groups of equal values and lets outputs count (() = one group, present
    even when nothing matched); every other output must be in it then. `distinct` drops equal rows. `order` should
    decide every tie: it is all that makes the pages of a plan fit together. In a distinct or grouped plan a key that is
    neither output nor group key sorts by its best value among the solutions behind the row.
    """

    pattern: Group
    outputs: tuple[Output, ...]
    distinct: bool = False
    group: tuple[Operand, ...] | None = None
    order: tuple[OrderKey, ...] = ()
    skip: int = 0
    limit: int | None = None
    warnings: tuple[str, ...] = ()
