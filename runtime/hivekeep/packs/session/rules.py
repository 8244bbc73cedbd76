"""What makes a note a session, whichever verb writes it.

Invariant: a stored session has content, and its title, provider, provider's name and tags are texts that are not blank.
"""

from hivekeep import values
from hivekeep.packs.context import Context
from hivekeep.packs.note_rules import NoteRules
from hivekeep.storage.json_text import dump, load_object
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.errors import InvalidInput

NAMES = ("provider", "provider_session_id")
"""Properties that name something when they are there; null stands for nothing."""


class SessionRules(NoteRules):
    """A session is checked when it is made and when it is changed; all else is free."""

    def prepare(self, ctx: Context, row: NoteRow) -> NoteRow:
        """The session to store; raises InvalidInput."""
        return checked(ctx.verb, row)

    def change(self, ctx: Context, old: NoteRow, new: NoteRow) -> NoteRow:
        """The session to store after a patch; raises InvalidInput."""
        return checked(ctx.verb, new)


def checked(verb: str, row: NoteRow) -> NoteRow:
    """The session without white space round its names; raises InvalidInput that says what is wrong with which."""
    if not row.content.strip():
        raise InvalidInput(f"{verb}: 'content' of a session must be a string that is not blank")
    properties = load_object(row.properties)
    for name in NAMES:
        if properties.get(name) is not None:
            properties[name] = _named(verb, name, properties[name])
    if properties.get("tags") is not None:
        properties["tags"] = _tags(verb, properties["tags"])
    title = None if row.name is None else _named(verb, "name", row.name)
    return row._replace(name=title, properties=dump(properties))


def _named(verb: str, name: str, value: object) -> str:
    try:
        if isinstance(value, str):
            return values.name(value)
    except ValueError:
        pass
    raise InvalidInput(f"{verb}: '{name}' of a session must be a string that is not blank")


def _tags(verb: str, value: object) -> list[str]:
    if not isinstance(value, list):
        raise InvalidInput(f"{verb}: 'tags' of a session must be a list of strings that are not blank")
    return [_named(verb, f"tags[{place}]", tag) for place, tag in enumerate(value)]
