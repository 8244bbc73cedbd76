"""The fields of a task inside the properties of its note: what each may be, and its one stored spelling.

Invariant: what passes here is stored as the verbs of the pack would have stored it, whichever verb it came with. A
value of a wrong type is refused and never taken for a default.
"""

from collections.abc import Callable, Mapping
from typing import Any

from hivekeep import values
from hivekeep.packs.context import Context
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.task_fields import OPEN_STATUSES
from hivekeep_contract import vocabulary
from hivekeep_contract.errors import InvalidInput

COMPUTED = ("blocked_by", "dependency_state", "actionable")
"""Answers of the pack that are never stored."""
OF_REPAIR = "gtd_repair"
OF_VERBS = {
    "completed_at": "gtd.complete",
    "transition_history": "gtd.transition",
    "duplicate_of": "gtd.complete with status='cancelled'",
    OF_REPAIR: "gtd.repair",
}
"""Properties that only the verbs of the pack write, with the verb for each."""
SHOWN_CHARS = 80


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a string")
    return value


def _name(value: Any) -> str:
    return values.name(_text(value))


def _moment(value: Any) -> str:
    return values.moment(_text(value))


def _uuid(value: Any) -> str:
    return values.full_uuid(_text(value))


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("a list of strings")
    return value


def _word(enum: str, accepted: tuple[str, ...]) -> Callable[[Any], str]:
    """Reads a word of an enum, or another spelling of it, that leads to one of `accepted`."""
    aliases = vocabulary.ENUM_ALIASES[enum]

    def read(value: Any) -> str:
        word = aliases.get(value, value) if isinstance(value, str) else None
        if word not in accepted:
            raise ValueError("one of " + ", ".join(accepted))
        return word

    return read


READERS: Mapping[str, Callable[[Any], Any]] = {
    "status": _word("gtd.status", OPEN_STATUSES),
    "priority": _word("gtd.priority", vocabulary.ENUMS["gtd.priority"]),
    "assignee": _name,
    "due": _moment,
    "start": _moment,
    "end": _moment,
    "description": _text,
    "tags": _texts,
    "depends_on": _texts,
    "context_entity_id": _uuid,
}
"""From what a caller wrote to what is stored, or ValueError with a phrase that fits behind "must be"."""
_EMPTY: tuple[object, ...] = ("", [])
"""Values that say as much as none."""


def read(ctx: Context, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The properties in their stored spelling; null and empty fields are left out. Raises InvalidInput."""
    stored: dict[str, Any] = {}
    for name, value in properties.items():
        reader = READERS.get(name)
        if reader is None:
            stored[name] = value
        elif value is not None and (told := _read(ctx, name, value, reader)) not in _EMPTY:
            stored[name] = told
    return stored


def _read(ctx: Context, name: str, value: Any, reader: Callable[[Any], Any]) -> Any:
    try:
        return reader(value)
    except ValueError as error:
        raise InvalidInput(f"{ctx.verb}: {name!r} of a task must be {error}; got {shown(value)}") from None


def shown(value: Any) -> str:
    """A value for a message, never more of a long one than its beginning."""
    text = dump(value)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "..."


def refuse_foreign(ctx: Context, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Refuse a change of what only this pack writes; raises InvalidInput."""
    for name in COMPUTED:
        if name in after and (name not in before or differs(before, after, name)):
            raise InvalidInput(f"{ctx.verb}: {name!r} of a task is computed from depends_on and cannot be written")
    for name, verb in OF_VERBS.items():
        if differs(before, after, name):
            raise InvalidInput(f"{ctx.verb}: {name!r} of a task is written by {verb} alone")


def differs(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    """Whether a member has another JSON value; a missing one is as good as null."""
    old, new = before.get(name), after.get(name)
    return dump(old) != dump(new)


def titled(ctx: Context, row: NoteRow, title: Any) -> str:
    """The title of a new task: its name, or the `title` of its properties. Raises InvalidInput."""
    told = title if row.name is None else row.name
    if told is None:
        raise InvalidInput(f"{ctx.verb}: 'title' (or 'name') is required for a task; it must be a string")
    return str(_read(ctx, "title", told, _name))
