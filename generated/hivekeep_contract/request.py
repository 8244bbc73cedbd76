"""The one tool `request` and the words of its language.

Printed from registry/request.yaml by `make generate`; do not edit.
"""

from typing import Any, Literal

Presentation = Literal["agent", "verbose", "human"]
Format = Literal["json", "auto", "table"]
Mode = Literal["single", "parallel", "chain"]

TOOL_NAME = "request"
TOOL_SUMMARY = "Run one operation, a batch or a chain against the hivekeep store."
TOOL_DESCRIPTION = "ops takes one call `verb(arg=value, ...)`, a batch `[a(...), b(...)]`, a chain `a(...) | b(id=$prev.id)`, or JSON `[{\"tool\": \"verb\", \"args\": {...}}]`. Strings are double-quoted, arguments are named. `verb(help=true)` explains one verb; `verbs()` lists them."

PRESENTATIONS: tuple[Presentation, ...] = ("agent", "verbose", "human")
FORMATS: tuple[Format, ...] = ("json", "auto", "table")
MODES: tuple[Mode, ...] = ("single", "parallel", "chain")

#: Fields of a tool call, in the order of the contract; the call is closed.
ENVELOPE_FIELDS: tuple[str, ...] = (
    "ops",
    "presentation",
    "presentation_per_op",
    "format",
    "format_per_op",
    "save_to",
    "request_id",
)
ENVELOPE_DEFAULTS: dict[str, Any] = {"presentation": "agent", "format": "json"}

#: Names that no verb takes, because they belong to the tool call.
RESERVED_ENVELOPE_ARGS: frozenset[str] = frozenset({"presentation", "presentation_per_op"})
HELP_ARG = "help"

DISPOSITIONS: tuple[str, ...] = ("committed", "not_committed", "unknown")

#: Faults of the ops string, by the name that an answer carries as dsl_error.
DSL_ERRORS: dict[str, str] = {
    "Empty": "Nothing is left after trimming.",
    "TooManyOps": "More operations than one request may hold.",
    "InputTooLarge": "The ops string is longer than the limit.",
    "NestingTooDeep": "Arrays and objects are nested deeper than the limit.",
    "UnexpectedChar": "A delimiter stands where another was expected.",
    "UnexpectedEof": "The input ends before a needed token.",
    "InvalidIdentifier": "A verb or argument name is not made of ASCII letters, digits and underscores.",
    "DuplicateArg": "One argument is given twice in one operation.",
    "InvalidValue": "A value is neither a JSON literal nor a reference to the result before.",
    "InvalidJson": "The JSON form is malformed or has the wrong shape.",
    "UnclosedString": "A string has no closing quote.",
    "UnclosedBracket": "An array, object or parenthesis is not closed.",
    "PrevRefOutsideChain": "$prev stands where there is no result before it.",
    "PrevRefInJsonForm": "$prev stands in the JSON form, which has no chains.",
    "MixedSeparators": "Comma and bar are mixed at the top level.",
    "EmptyBatch": "The batch holds no operation.",
    "UnsupportedVerbNesting": "A verb name has more than one dot.",
    "WriteKeyConflict": "Two operations of one batch write the same record.",
    "ReservedEnvelopeArg": "A field of the request tool was given as a verb argument.",
    "TrailingComma": "A comma stands right before the end of the batch.",
}

ADVISORIES: dict[str, dict[str, str]] = {
    "audit_persistence_skipped_read_only": {
        "code": "audit_persistence_skipped_read_only",
        "severity": "warning",
        "component": "audit_event_store",
        "reason": "read_only_backend",
        "message": "operation completed, but its dispatch audit event was not persisted because the audit backend is read-only",
    },
    "recall_filtered": {
        "code": "recall_filtered",
        "severity": "info",
        "component": "memory_recall",
        "reason": "candidates_left_out",
        "message": "the counts say what was found and what was left out of it",
    },
}
