"""The agent event gateway: its operations, and the tables that its rules look things up in.

Printed from registry/gateway/ by `make generate`; do not edit.
"""

from typing import Any, Literal, NamedTuple


class Field(NamedTuple):
    """A field of a query string, as the text or the decimal number that it is."""

    name: str
    type: Literal["text", "integer"]
    required: bool
    default: Any


class Operation(NamedTuple):
    """One operation.

    `name` is that of its envelope, `stem` its method of the handlers, `path` the whole path, with `{runId}` when it is on a
    run. `scope` says where the key of a write counts: `global`, or `run`; `none` for a read. `state_first`: the handler
    checks the body, when it has looked at the state of the run. `defaults` are those of the fields of its body or query.
    """

    name: str
    stem: str
    http_method: Literal["GET", "POST"]
    path: str
    scope: Literal["none", "global", "run"]
    has_run: bool
    writes: bool
    state_first: bool
    query: tuple[Field, ...]
    defaults: dict[str, Any]
    failures: tuple[str, ...]


class TextFormat(NamedTuple):
    """What a text of this format is: `pattern` for all of it, and at most `units_max` UTF-16 units."""

    pattern: str
    units_max: int | None


BASE_PATH = "/small"
API_VERSION = "1"

#: One for each write.
KEY_HEADER = "Small-Key"

#: Seconds to wait.
RETRY_HEADER = "Retry-After"

#: By name.
OPERATIONS: dict[str, Operation] = {
    "run.open": Operation(
        name="run.open",
        stem="open",
        http_method="POST",
        path="/small/runs",
        scope="global",
        has_run=False,
        writes=True,
        state_first=False,
        query=(),
        defaults={},
        failures=("validation_error", "conflict", "backpressure"),
    ),
    "run.note": Operation(
        name="run.note",
        stem="note",
        http_method="POST",
        path="/small/runs/{runId}/notes",
        scope="run",
        has_run=True,
        writes=True,
        state_first=True,
        query=(),
        defaults={"budget": 20},
        failures=("validation_error", "not_found", "backpressure"),
    ),
    "run.list": Operation(
        name="run.list",
        stem="list",
        http_method="GET",
        path="/small/runs",
        scope="none",
        has_run=False,
        writes=False,
        state_first=False,
        query=(
            Field("client", "text", True, None),
            Field("level", "text", False, None),
            Field("limit", "integer", False, 10),
        ),
        defaults={"limit": 10},
        failures=("validation_error",),
    ),
    "run.read": Operation(
        name="run.read",
        stem="read",
        http_method="GET",
        path="/small/runs/{runId}",
        scope="none",
        has_run=True,
        writes=False,
        state_first=False,
        query=(),
        defaults={},
        failures=("validation_error", "not_found"),
    ),
}

TEXT_FORMATS: dict[str, TextFormat] = {
    "line": TextFormat("^[ -~]+$", 20),
    "stamp": TextFormat("^[0-9]{4}$", None),
}

#: Points of a level.
POINTS: dict[str, float] = {"low": 1, "high": 2.5}

#: The levels that count.
LEVELS: tuple[str, ...] = ("high",)

#: Rules of the ranking.
RULES: tuple[dict[str, Any], ...] = (
    {"word": "a", "weight": 1, "next": None},
    {"word": "b", "weight": 2, "next": "a"},
)

#: Names of levels.
NAMES: dict[str, str | None] = {"low": None, "high": "High"}

#: Nothing yet.
NOTHING: tuple[Any, ...] = ()

#: Before the first.
GENESIS: str = "0000"
