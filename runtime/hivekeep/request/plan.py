"""What a parsed `ops` string is: a mode and its operations, with references still unresolved."""

from typing import Any, Literal, NamedTuple

Mode = Literal["single", "parallel", "chain"]


class PrevRef(NamedTuple):
    """A reference to the result of the operation before: its source text and the path it walks."""

    text: str
    steps: tuple[str | int, ...]


class Op(NamedTuple):
    """One call. `args` holds JSON values; a `PrevRef` may sit anywhere among them, never as a key."""

    verb: str
    args: dict[str, Any]


class Plan(NamedTuple):
    """All operations of one request, in the order written."""

    mode: Mode
    ops: tuple[Op, ...]
