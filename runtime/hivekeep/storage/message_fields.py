"""What the statements and indexes over messages read out of the properties of a note, as SQL expressions.

Invariant: a message without a recipient, or without a sender, counts as one of the caller that nobody named, and one is
read only when its property says the JSON value true, wherever messages are filtered or counted. The expressions are
those of the indexes in the schema, letter for letter: a statement that writes them otherwise would not find its index.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.statements import Where, sql

KIND: Final = "message"
INBOUND: Final = "inbound"
OUTBOUND: Final = "outbound"
NOBODY: Final = "local"
"""The label of a caller that nobody named."""

LIVE_MESSAGE: Final = "{p}kind = 'message' AND {p}deleted_at IS NULL"


class MessageTraits(NamedTuple):
    """Conditions on any copy of a message; None is no condition. `delivered`: the copy of the recipient is stored."""

    thread_id: str | None = None
    direction: str | None = None
    sender: str | None = None
    recipient: str | None = None
    read: bool | None = None
    delivered: bool | None = None

    def conditions(self) -> Where:
        """The conditions on the table `notes`."""
        where = Where(live_message())
        where.equal(root(), self.thread_id)
        where.equal(direction(), self.direction)
        where.equal(_shown_sender(), self.sender)
        where.equal(_shown_recipient(), self.recipient)
        if self.read is not None:
            where.add(is_read() if self.read else unread())
        if self.delivered is not None:
            where.add(_DELIVERED if self.delivered else "NOT (" + _DELIVERED + ")")
        return where


def live_message(prefix: str = "") -> str:
    """The condition of every index over live messages; `prefix` is the alias of the table with a dot, or nothing."""
    return sql(LIVE_MESSAGE, p=prefix)


def _extract(prefix: str, name: str) -> str:
    return f"json_extract({prefix}properties, '$.{name}')"


def owner(prefix: str = "") -> str:
    """Whose inbox a copy of the recipient is in."""
    return f"coalesce({_extract(prefix, 'to_actor')}, '{NOBODY}')"


def sender(prefix: str = "") -> str:
    """Whose sent box a copy of the sender is in."""
    return f"coalesce({_extract(prefix, 'from_actor')}, '{NOBODY}')"


def from_actor(prefix: str = "") -> str:
    """The label of who wrote it, null when there is none."""
    return _extract(prefix, "from_actor")


def subject(prefix: str = "") -> str:
    """What it is about, null when nothing is said."""
    return _extract(prefix, "subject")


def direction(prefix: str = "") -> str:
    """Which copy it is."""
    return _extract(prefix, "direction")


def inbound(prefix: str = "") -> str:
    """Whether it is a copy of a recipient."""
    return f"{direction(prefix)} = '{INBOUND}'"


def outbound(prefix: str = "") -> str:
    """Whether it is a copy of a sender."""
    return f"{direction(prefix)} = '{OUTBOUND}'"


def is_read(prefix: str = "") -> str:
    """Whether its recipient marked it."""
    return f"json_type({prefix}properties, '$.read') IS 'true'"


def unread(prefix: str = "") -> str:
    """Whether its recipient has not marked it."""
    return f"json_type({prefix}properties, '$.read') IS NOT 'true'"


def root(prefix: str = "") -> str:
    """The conversation that it says it belongs to, null when it says nothing."""
    return _extract(prefix, "thread_id")


def outbound_ref(prefix: str = "") -> str:
    """The copy of the sender that a copy of the recipient names."""
    return _extract(prefix, "outbound_ref")


def external_id(prefix: str = "") -> str:
    """Its id outside of this store, null when it has none."""
    return _extract(prefix, "external_id")


def channel_kind(prefix: str = "") -> str:
    """The sort of channel that it came through."""
    return _extract(prefix, "channel_kind")


def channel_slug(prefix: str = "") -> str:
    """Which channel of its sort that was."""
    return _extract(prefix, "channel_slug")


def parked(prefix: str = "") -> str:
    """Whether it is quarantined: JSON true, or the text of it."""
    return f"{prefix}properties -> '$.quarantined' IN ('true', '\"true\"')"


def _shown_sender() -> str:
    return f"coalesce({_extract('', 'from_actor')}, {_extract('', 'from')})"


def _shown_recipient() -> str:
    return f"coalesce({_extract('', 'to_actor')}, {_extract('', 'to')})"


_DELIVERED: Final = sql(
    "({inbound} OR EXISTS (SELECT 1 FROM notes AS twin INDEXED BY notes_message_twins WHERE {live} AND {twin_inbound}"
    " AND twin.namespace = notes.namespace AND {ref} = +notes.id))",
    inbound=inbound(),
    live=live_message("twin."),
    twin_inbound=inbound("twin."),
    ref=outbound_ref("twin."),
)

INDEXES: Final = tuple(
    sql(
        text,
        live=live_message(),
        owner=owner(),
        sender=sender(),
        inbound=inbound(),
        outbound=outbound(),
        unread=unread(),
        root=root(),
        ref=outbound_ref(),
        external=external_id(),
        kind=channel_kind(),
        slug=channel_slug(),
        parked=parked(),
    )
    for text in (
        "CREATE INDEX notes_inbox ON notes (namespace, {owner}, created_at DESC, id) WHERE {live} AND {inbound}",
        "CREATE INDEX notes_unread ON notes (namespace, {owner}, created_at DESC, id)"
        " WHERE {live} AND {inbound} AND {unread}",
        "CREATE INDEX notes_sent ON notes (namespace, {sender}, created_at DESC, id) WHERE {live} AND {outbound}",
        "CREATE INDEX notes_conversations ON notes (namespace, {root}, created_at, id) WHERE {live}",
        "CREATE INDEX notes_message_twins ON notes (namespace, {ref}) WHERE {live} AND {inbound}",
        "CREATE INDEX notes_external ON notes (namespace, {external})"
        " WHERE kind = 'message' AND {external} IS NOT NULL",
        "CREATE INDEX notes_parked ON notes (namespace, {kind}, {slug}) WHERE {live} AND {parked}",
    )
)
"""The indexes as the schema must have them."""
