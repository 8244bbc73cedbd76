"""What the generic verbs may do to messages and heartbeats.

Invariant: only this pack says who wrote to whom, what was said, whether it was read, and what a channel did. Generic
verbs may make a message, and add tags and further properties to one.
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from hivekeep.packs.comm import letters
from hivekeep.packs.context import Context
from hivekeep.packs.note_rules import NoteRules
from hivekeep.storage import channels, message_fields, messages
from hivekeep.storage.json_text import load_object
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import MESSAGE_SCHEMA_VERSION
from hivekeep_contract.vocabulary import ENUMS

TRANSPORT = ("channel_kind", "channel_slug", "quarantined")
"""Where a message came through and whether it is parked: comm.ingest alone says so."""
ADDRESS = ("direction", "from_actor", "to_actor", "thread_id", "outbound_ref", "external_id")
"""Who wrote to whom in which conversation: for life, whoever made the message."""
SAID = ("subject", "sent_at", "from", "to", "sent_by_process")
"""What a message that this pack stored says besides its text."""
VERSION = "comm_schema_version"
_ALWAYS = ("direction", "from_actor", "to_actor", "from", "to", "thread_id", "sent_at")
_TEXTS = (*_ALWAYS, "outbound_ref", "external_id")
_MISSING = object()


class MessageRules(NoteRules):
    """Rules of the kind `message`."""

    def prepare(self, ctx: Context, row: NoteRow) -> NoteRow:
        """A message that is made by create, as another program may keep its own mail here."""
        properties = load_object(row.properties)
        for name in TRANSPORT:
            if name in properties:
                _refuse(ctx, f"properties.{name} of a message is set by comm.ingest alone")
        if properties.get("read") is True:
            _refuse(ctx, "properties.read of a new message must be false; comm.mark_read marks it")
        _check_types(ctx, properties)
        return row

    def made(self, ctx: Context, row: NoteRow) -> None:
        """It arrives like every other one."""
        messages.arrived(ctx.tx, row)

    def change(self, ctx: Context, old: NoteRow, new: NoteRow) -> NoteRow:
        """Only what has no meaning of its own changes."""
        before, after = load_object(old.properties), load_object(new.properties)
        fixed: tuple[str, ...] = (*TRANSPORT, *ADDRESS, VERSION)
        if VERSION in before:
            fixed += SAID
            if (old.name, old.content) != (new.name, new.content):
                _refuse(ctx, "the text of a message stays as it was sent; accepted: tags and further properties")
        for name in fixed:
            if _differ(before, after, name):
                _refuse(ctx, f"properties.{name} of a message cannot be changed; accepted: tags and further properties")
        if _differ(before, after, "read"):
            _refuse(
                ctx, "properties.read of a message is changed by its recipient with comm.read and comm.mark_read alone"
            )
        return new

    def merge(self, ctx: Context, into: NoteRow, gone: NoteRow) -> None:
        """Two messages never become one."""
        _refuse(ctx, "messages cannot be merged")


class HeartbeatRules(NoteRules):
    """Rules of the kind `channel_health`."""

    def prepare(self, ctx: Context, row: NoteRow) -> NoteRow:
        """None is made by hand."""
        self._refuse(ctx)

    def change(self, ctx: Context, old: NoteRow, new: NoteRow) -> NoteRow:
        """None is changed by hand."""
        if old != new:
            self._refuse(ctx)
        return new

    def merge(self, ctx: Context, into: NoteRow, gone: NoteRow) -> None:
        """Each channel has its own."""
        self._refuse(ctx)

    def _refuse(self, ctx: Context) -> NoReturn:
        _refuse(ctx, "a channel_health note is written by comm.heartbeat alone; delete is accepted")


RULES: Mapping[str, NoteRules] = {message_fields.KIND: MessageRules(), channels.KIND: HeartbeatRules()}


def _differ(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> bool:
    """Whether a property changed; true and 1 are two values."""
    old, new = before.get(name, _MISSING), after.get(name, _MISSING)
    return type(old) is not type(new) or bool(old != new)


def _check_types(ctx: Context, properties: Mapping[str, Any]) -> None:
    """Refuse properties that no message of the schema has, so that no list has to guess what they mean."""
    directions = ENUMS["comm.direction"]
    if properties.get("direction", directions[0]) not in directions:
        _refuse(ctx, f"properties.direction of a message must be one of {', '.join(directions)}")
    if not isinstance(properties.get("read", False), bool):
        _refuse(ctx, "properties.read of a message must be true or false")
    for name in _TEXTS:
        if not isinstance(properties.get(name, ""), str):
            _refuse(ctx, f"properties.{name} of a message must be a string")
    if VERSION not in properties:
        return
    if properties[VERSION] != MESSAGE_SCHEMA_VERSION or isinstance(properties[VERSION], bool):
        _refuse(ctx, f"properties.{VERSION} of a message must be {MESSAGE_SCHEMA_VERSION}")
    missing = [name for name in _ALWAYS if name not in properties]
    if missing:
        _refuse(ctx, f"a message of schema version {MESSAGE_SCHEMA_VERSION} lacks properties.{missing[0]}")
    if letters.canonical_root(properties["thread_id"]) != properties["thread_id"]:
        _refuse(ctx, "properties.thread_id of a message must be a full UUID in lower case with hyphens")


def _refuse(ctx: Context, sentence: str) -> NoReturn:
    raise InvalidInput(f"{ctx.verb}: {sentence}")
