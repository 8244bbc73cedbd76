"""The one tool `request` and the words of its language.

Printed from registry/request.yaml by `make generate`; do not edit.
"""

from typing import Any, Literal

Presentation = Literal["agent", "verbose"]
Format = Literal["json", "table"]
Mode = Literal["single", "chain"]

TOOL_NAME = "request"
TOOL_SUMMARY = "Run operations."
TOOL_DESCRIPTION = "One call: verb(arg=value)."

PRESENTATIONS: tuple[Presentation, ...] = ("agent", "verbose")
FORMATS: tuple[Format, ...] = ("json", "table")
MODES: tuple[Mode, ...] = ("single", "chain")

#: Fields of a tool call, in the order of the contract; the call is closed.
ENVELOPE_FIELDS: tuple[str, ...] = ("ops", "presentation", "format_per_op")
ENVELOPE_DEFAULTS: dict[str, Any] = {"presentation": "agent"}

#: Names that no verb takes, because they belong to the tool call.
RESERVED_ENVELOPE_ARGS: frozenset[str] = frozenset({"presentation"})
HELP_ARG = "help"

DISPOSITIONS: tuple[str, ...] = ("committed", "not_committed", "unknown")

#: Faults of the ops string, by the name that an answer carries as dsl_error.
DSL_ERRORS: dict[str, str] = {"Empty": "Nothing is left."}

ADVISORIES: dict[str, dict[str, str]] = {
    "not_persisted": {
        "code": "not_persisted",
        "severity": "warning",
        "component": "audit",
        "reason": "read_only",
        "message": "The audit row was not stored.",
    },
}
