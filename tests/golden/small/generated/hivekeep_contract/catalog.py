"""The verb table: what dispatch needs to know about a verb, without prose.

Printed from registry/packs/ by `make generate`; do not edit.
"""

from typing import Any, Literal, NamedTuple


class Param(NamedTuple):
    """One parameter. `many`: a list, the normaliser is for its items. `attr`: its attribute on the arguments class."""

    name: str
    required: bool
    nullable: bool
    default: Any
    has_default: bool
    aliases: tuple[str, ...]
    normaliser: str | None
    many: bool
    scope: tuple[str, ...]
    attr: str


class WriteKey(NamedTuple):
    """What an operation writes: each member of `params` is a name and its aliases.

    `each` names the list parameter that holds the edges; the key does not count while the parameter `unless` is true.
    """

    kind: Literal["record", "edge"]
    params: tuple[tuple[str, ...], ...]
    each: str | None
    unless: str | None


class Verb(NamedTuple):
    """One verb. `errors`: every error it can have, those that all verbs share included.

    `wait`: its handler may answer a `Wait` and is asked again when the store has changed, or the wait is over.
    `embeds`: whether it stores texts that get vectors, and whether those come from its arguments alone (`given`).
    """

    name: str
    pack: str
    method: str
    category: str
    tx: Literal["read", "write", "self", "none"]
    cost: Literal["quick", "slow"]
    resource: str
    action: str
    presentation: Literal["agent", "always_verbose"]
    params: tuple[Param, ...]
    write_keys: tuple[WriteKey, ...]
    internal: bool
    wait: bool
    schedulable: bool
    bulk_atomic: bool
    audit_cost: Literal["models", "one"] | None
    embeds: Literal["given", "stored"] | None
    errors: tuple[str, ...]


class Wait(NamedTuple):
    """The answer of a handler that has nothing to tell yet; `deadline_us` (since the epoch) is when it must answer."""

    deadline_us: int


class Pack(NamedTuple):
    """One pack; `bare` verbs carry no pack prefix."""

    name: str
    title: str
    order: int
    requires: tuple[str, ...]
    bare: bool


PACKS: dict[str, Pack] = {
    "base": Pack("base", "Base", 1, (), True),
    "todo": Pack("todo", "To do", 2, ("base",), False),
}

VERBS: dict[str, Verb] = {
    "find": Verb(
        name="find",
        pack="base",
        method="find",
        category="Assertive",
        tx="read",
        cost="slow",
        resource="note",
        action="search",
        presentation="always_verbose",
        params=(
            Param("query", False, False, None, False, (), None, False, (), "query"),
            Param("id", False, False, None, False, (), "id", False, (), "id"),
            Param("limit", False, False, 10, True, (), "integer", False, (), "limit"),
            Param("kind", False, False, None, False, (), "entity_kind", False, (), "kind"),
            Param("moods", False, False, ["good"], True, (), "enum:base.mood", True, (), "moods"),
            Param("about", False, False, None, False, (), None, False, (), "about"),
            Param("by_name", False, False, None, False, (), None, False, (), "by_name"),
        ),
        write_keys=(),
        internal=False,
        wait=False,
        schedulable=False,
        bulk_atomic=False,
        audit_cost=None,
        embeds=None,
        errors=("invalid_input", "record_missing"),
    ),
    "keep": Verb(
        name="keep",
        pack="base",
        method="keep",
        category="Commissive",
        tx="write",
        cost="quick",
        resource="note",
        action="create",
        presentation="agent",
        params=(
            Param("text", True, False, None, False, ("body",), None, False, (), "text"),
            Param("mood", False, False, "good", True, (), "enum:base.mood", False, (), "mood"),
            Param("tint", False, False, None, False, (), "tint", False, (), "tint"),
            Param("tags", False, False, None, False, (), None, True, ("note",), "tags"),
            Param("reply_to", False, True, None, False, (), "id", False, (), "reply_to"),
            Param("at", False, False, None, False, (), "moment", False, (), "at"),
            Param("loud", False, False, None, False, (), None, False, (), "loud"),
            Param("links", False, False, None, False, (), None, True, (), "links"),
            Param("dry_run", False, False, False, True, (), None, False, (), "dry_run"),
        ),
        write_keys=(WriteKey("record", (("reply_to",),), None, "dry_run"),),
        internal=False,
        wait=False,
        schedulable=False,
        bulk_atomic=True,
        audit_cost="one",
        embeds="given",
        errors=("invalid_input", "busy"),
    ),
    "todo.import": Verb(
        name="todo.import",
        pack="todo",
        method="import_",
        category="Commissive",
        tx="self",
        cost="quick",
        resource="note",
        action="import",
        presentation="agent",
        params=(
            Param("edges", False, False, None, False, (), None, True, (), "edges"),
            Param("from", True, False, None, False, (), None, False, (), "from_"),
            Param("ids", False, False, None, False, (), "id", True, (), "ids"),
        ),
        write_keys=(WriteKey("edge", (("source",), ("target",), ("relation",)), "edges", None),),
        internal=True,
        wait=False,
        schedulable=True,
        bulk_atomic=False,
        audit_cost=None,
        embeds=None,
        errors=("invalid_input", "busy"),
    ),
    "todo.list": Verb(
        name="todo.list",
        pack="todo",
        method="list_",
        category="Assertive",
        tx="read",
        cost="quick",
        resource="note",
        action="list",
        presentation="agent",
        params=(),
        write_keys=(),
        internal=False,
        wait=True,
        schedulable=False,
        bulk_atomic=False,
        audit_cost=None,
        embeds=None,
        errors=("invalid_input",),
    ),
}
