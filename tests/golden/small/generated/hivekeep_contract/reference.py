"""The prose of the contract, for help answers and refusals. Loaded only when a sentence is needed.

Printed from registry/ by `make generate`; do not edit.
"""

from typing import Any, NamedTuple


class ParamText(NamedTuple):
    """`accepts` completes "must be"; `default` is `required`, `optional` or the default as JSON."""

    type: str
    required: bool
    default: str
    accepts: str
    doc: str


class VerbText(NamedTuple):
    """What a verb does; `examples` are calls that succeed."""

    summary: str
    description: str
    params: dict[str, ParamText]
    examples: tuple[str, ...]
    notes: tuple[str, ...]


class Rule(NamedTuple):
    """A relation between parameters, at the same index as in `allOf` of the verb's argument schema.

    `kind`: required, needs, only_when, exactly_one_of, at_least_one_of, mutually_exclusive, together, required_when.
    """

    kind: str
    params: tuple[str, ...]
    when: tuple[str, tuple[Any, ...]] | None
    says: str


class ErrorText(NamedTuple):
    """What an error means and what the caller can do."""

    doc: str
    repair: str


PACKS: dict[str, str] = {"base": "Notes.", "todo": "Things to do."}

IDENTIFIER_RESOLUTION: dict[str, str] = {"full_uuid": "Taken as it is."}

ERRORS: dict[str, ErrorText] = {
    "invalid_input": ErrorText("An argument is wrong.", "Read the message."),
    "record_missing": ErrorText("There is no such record.", "Check the id."),
    "not_found": ErrorText("It does not exist.", "Check the id."),
    "busy": ErrorText("The store was busy.", "Try again."),
    "unauthorized": ErrorText("No token.", "Send one."),
    "bad_body": ErrorText("The body is not JSON.", "Send JSON."),
}

RULES: dict[str, tuple[Rule, ...]] = {
    "find": (Rule("exactly_one_of", ("query", "id"), None, "give exactly one of 'query' or 'id'"),),
    "keep": (
        Rule("required", ("text",), None, "missing argument 'text'"),
        Rule("needs", ("at", "reply_to"), None, "'at' needs 'reply_to'"),
        Rule("only_when", ("loud",), ("mood", ("good",)), "'loud' is only allowed when 'mood' is 'good'"),
        Rule("mutually_exclusive", ("tags", "links"), None, "give at most one of 'tags' or 'links'"),
        Rule("together", ("at", "reply_to"), None, "a time belongs to an answer"),
        Rule("required_when", ("tint",), ("loud", (True,)), "'tint' is required when 'loud' is true"),
    ),
    "todo.import": (
        Rule("at_least_one_of", ("edges", "ids"), None, "give at least one of 'edges' or 'ids'"),
    ),
}

VERBS: dict[str, VerbText] = {
    "find": VerbText(
        "Find notes.",
        "",
        {
            "query": ParamText("text", False, "optional", "a string", "What to look for."),
            "id": ParamText("id", False, "optional", "a record id", "The note itself."),
            "limit": ParamText("count", False, "10", "a whole number from 0", "Notes of the answer."),
            "kind": ParamText(
                "entity_kind",
                False,
                "optional",
                "one of thing, place, goal, object, aim",
                "Only about this kind.",
            ),
            "moods": ParamText(
                "array<\"good\" | \"bad\">",
                False,
                "[\"good\"]",
                "a list, each item one of good, bad, fine",
                "Only in these moods.",
            ),
            "about": ParamText(
                "id | array<id>",
                False,
                "optional",
                "a record id, or a list, each item a record id",
                "Only about these.",
            ),
            "by_name": ParamText(
                "map<id>",
                False,
                "optional",
                "an object, each value a record id",
                "Names for ids.",
            ),
        },
        ("find(query=\"x\")",),
        (),
    ),
    "keep": VerbText(
        "Keep a note.",
        'The note is written once.\n\nA second paragraph with `code`.',
        {
            "text": ParamText("text", True, "required", "a string (at most 100 bytes)", "What it says."),
            "mood": ParamText("\"good\"", False, "\"good\"", "one of good, fine", "How it feels."),
            "tint": ParamText("base.tint", False, "optional", "one of red, green", "A colour."),
            "tags": ParamText(
                "array<text>",
                False,
                "optional",
                "a list, each item a string (at most 5 items)",
                "Tags.",
            ),
            "reply_to": ParamText(
                "id | null",
                False,
                "optional",
                "a record id",
                "The note it answers; null for none.",
            ),
            "at": ParamText("moment", False, "optional", "an ISO 8601 timestamp", "When."),
            "loud": ParamText("bool", False, "optional", "true or false", "Whether it is loud."),
            "links": ParamText(
                "array<object>",
                False,
                "optional",
                "a list, each item an object",
                "Edges of the note.",
            ),
            "dry_run": ParamText("bool", False, "false", "true or false", "Write nothing."),
        },
        ("keep(text=\"hello\")", "keep(text=\"yes\", reply_to=\"<id>\", at=\"2026-01-01T00:00:00Z\")"),
        ("Keeping a note twice answers the first one.",),
    ),
    "todo.import": VerbText(
        "Import tasks.",
        "",
        {
            "edges": ParamText(
                "array<map<text>>",
                False,
                "optional",
                "a list, each item an object, each value a string",
                "Edges.",
            ),
            "from": ParamText(
                "text | array<text>",
                True,
                "required",
                "a string, or a list, each item a string",
                "Where they come from.",
            ),
            "ids": ParamText(
                "array<id>",
                False,
                "optional",
                "a list, each item a record id (at least 1 items)",
                "Which ones.",
            ),
        },
        ("todo.import(from=[\"a\", \"b\"], ids=[\"1\"])",),
        (),
    ),
    "todo.list": VerbText("List what is to do.", "", {}, ("todo.list()",), ()),
}
