"""Channels to the outside: what is parked for them, and how far they were read.

A channel is a pair of kind and slug. Parked is a live message whose properties say that it is quarantined.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage import message_fields as fields
from hivekeep.storage.engine import Tx
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.statements import sql

KIND: Final = "channel_health"
"""The kind of the note that holds the heartbeat of a channel."""


class Channel(NamedTuple):
    """The identity of a channel."""

    kind: str
    slug: str


class CursorRow(NamedTuple):
    """How far a channel was read; `updated_at` in microseconds."""

    source: str
    generation: str
    high_water: str
    updated_at: int


class Parked(NamedTuple):
    """How many messages are parked: by channel, in the order of the channels, and without a whole channel."""

    by_channel: dict[Channel, int]
    unattributed: int


_PARKED: Final = sql(
    "FROM notes INDEXED BY notes_parked WHERE namespace = ? AND {live} AND {parked}",
    live=fields.live_message(),
    parked=fields.parked(),
)
_COUNT_PARKED: Final = sql(
    "SELECT {kind}, {slug}, count(*) {parked} GROUP BY {kind}, {slug} ORDER BY {kind}, {slug}",
    kind=fields.channel_kind(),
    slug=fields.channel_slug(),
    parked=_PARKED,
)
_EXPIRED: Final = sql(
    "SELECT {columns} {parked} AND {kind} = ? AND {slug} = ? AND expires_at <= ?",
    columns=", ".join(NoteRow._fields),
    parked=_PARKED,
    kind=fields.channel_kind(),
    slug=fields.channel_slug(),
)
_HEARTBEATS: Final = sql(
    "SELECT {columns} FROM notes WHERE namespace = ? AND kind = 'channel_health' AND deleted_at IS NULL"
    " ORDER BY {kind}, {slug} LIMIT ?",
    columns=", ".join(NoteRow._fields),
    kind=fields.channel_kind(),
    slug=fields.channel_slug(),
)
_GET_CURSOR: Final = (
    "SELECT source, generation, high_water, updated_at FROM channel_cursors"
    " WHERE namespace = ? AND channel_kind = ? AND channel_slug = ?"
)
_PUT_CURSOR: Final = (
    "INSERT OR REPLACE INTO channel_cursors (namespace, channel_kind, channel_slug, source, generation, high_water,"
    " updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)"
)


def parked(tx: Tx, namespace: str) -> Parked:
    """What is parked in a namespace."""
    by_channel: dict[Channel, int] = {}
    unattributed = 0
    for kind, slug, count in tx.all(_COUNT_PARKED, (namespace,)):
        if isinstance(kind, str) and isinstance(slug, str) and kind and slug:
            by_channel[Channel(kind, slug)] = count
        else:
            unattributed += count
    return Parked(by_channel, unattributed)


def expired(tx: Tx, namespace: str, channel: Channel, now: int) -> list[NoteRow]:
    """The parked messages of a channel that have expired."""
    return [NoteRow._make(row) for row in tx.all(_EXPIRED, (namespace, *channel, now))]


def heartbeats(tx: Tx, namespace: str, limit: int) -> list[NoteRow]:
    """The heartbeats of a namespace, in the order of their channels."""
    return [NoteRow._make(row) for row in tx.all(_HEARTBEATS, (namespace, limit))]


def cursor(tx: Tx, namespace: str, channel: Channel) -> CursorRow | None:
    """How far a channel was read; None when it never was."""
    row = tx.one(_GET_CURSOR, (namespace, *channel))
    return None if row is None else CursorRow._make(row)


def put_cursor(tx: Tx, namespace: str, channel: Channel, row: CursorRow) -> None:
    """Remember how far a channel was read, instead of what was known before."""
    tx.run(_PUT_CURSOR, (namespace, *channel, *row))
