"""Messages: notes of the kind `message`, as inboxes, threads and probes see them.

Invariant: an arrival is numbered in the transaction that stores the message, and writers follow each other, so the
numbers have the order of the commits: nobody who remembers one misses a message that came later. Each list and count
walks the index of its mailbox or thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage import json_text, notes
from hivekeep.storage import message_fields as fields
from hivekeep.storage.connections import LOWER
from hivekeep.storage.engine import Tx
from hivekeep.storage.message_fields import INBOUND, NOBODY
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.statements import Where, beginning_with, sql
from hivekeep_contract.limits import UNREAD_COUNT_CAP

UNREAD: Final = "unread"
READ: Final = "read"

BEFORE_ALL: Final = ""
BEHIND_ALL: Final = "g"


class BoxFilter(NamedTuple):
    """Conditions on a mailbox; None is no condition. Moments in microseconds; `contains` texts in lower case."""

    sent: bool = False
    status: str | None = None
    from_actor: str | None = None
    from_prefix: str | None = None
    exclude_from_actor: str | None = None
    to_actor: str | None = None
    since: int | None = None
    before: int | None = None
    subject_contains: str | None = None
    content_contains: str | None = None


class View(NamedTuple):
    """Whose view of the messages of which namespace."""

    namespace: str
    actor: str


class Place(NamedTuple):
    """A place in a thread: at the message `id` of that moment; ids sort between `BEFORE_ALL` and `BEHIND_ALL`."""

    created_at: int
    id: str


class ThreadRow(NamedTuple):
    """A message of a thread, and whether its recipient marked it read."""

    note: NoteRow
    read: bool


class Arrivals(NamedTuple):
    """What a probe counts: the last arrival of an actor, the last of all, and the stale unread messages."""

    newest: int
    of_all: int
    stale: int


class Arrival(NamedTuple):
    """A message behind a cursor; sender and subject are None when it has none."""

    id: str
    created_at: int
    from_actor: object
    subject: object


_COLUMNS: Final = ", ".join(NoteRow._fields)
_N_COLUMNS: Final = ", ".join("n." + column for column in NoteRow._fields)

_ARRIVED: Final = (
    "INSERT INTO message_arrivals (note_seq, namespace, actor) SELECT seq, namespace, ? FROM notes WHERE id = ?"
)

_BOX: Final = (
    "SELECT {columns} FROM notes INDEXED BY {index} WHERE {where} ORDER BY created_at DESC, id LIMIT ? OFFSET ?"
)
_UNREAD_BOX: Final = sql(
    "notes INDEXED BY notes_unread WHERE namespace = ?1 AND {owner} = ?2 AND {live} AND {inbound} AND {unread}",
    owner=fields.owner(),
    live=fields.live_message(),
    inbound=fields.inbound(),
    unread=fields.unread(),
)
_COUNT_UNREAD: Final = sql("SELECT count(*) FROM (SELECT 1 FROM {box} LIMIT ?3)", box=_UNREAD_BOX)

_ARRIVALS: Final = sql(
    "SELECT coalesce((SELECT max(seq) FROM message_arrivals WHERE namespace = ?1 AND actor = ?2), 0),"
    " coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'message_arrivals'), 0),"
    " (SELECT count(*) FROM {box} AND created_at < ?3)",
    box=_UNREAD_BOX,
)
_ARRIVED_AFTER: Final = sql(
    "SELECT n.id, n.created_at, {sender}, {subject} FROM message_arrivals AS a"
    " CROSS JOIN notes AS n ON n.seq = a.note_seq"
    " WHERE a.namespace = ? AND a.actor = ? AND a.seq > ? AND n.deleted_at IS NULL ORDER BY a.seq DESC LIMIT ?",
    sender=fields.from_actor("n."),
    subject=fields.subject("n."),
)

# The plus takes its affinity from a column: the index holds an expression, which has none.
_TWINS_OF: Final = sql(
    "FROM notes AS twin INDEXED BY notes_message_twins WHERE twin.namespace = {namespace} AND {ref} = {id}"
    " AND {live} AND {inbound}",
    ref=fields.outbound_ref("twin."),
    live=fields.live_message("twin."),
    inbound=fields.inbound("twin."),
)
_DELIVERED: Final = sql(
    "SELECT count(*) {twins} AND {sender} = ?",
    twins=sql(_TWINS_OF, namespace="?", id="?"),
    sender=fields.from_actor("twin."),
)
# The copy of the recipient stands for the message when it is the one who asks, or the other copy is gone.
_SHOWN: Final = sql(
    "CASE WHEN {outbound} THEN NOT EXISTS (SELECT 1 {twins} AND {twin_owner} = ?2)"
    " WHEN {inbound} AND {owner} <> ?2 THEN NOT EXISTS (SELECT 1 FROM notes AS mine WHERE mine.id = {ref}"
    " AND {mine_live} AND mine.namespace = n.namespace AND {mine_outbound}) ELSE 1 END",
    outbound=fields.outbound("n."),
    inbound=fields.inbound("n."),
    owner=fields.owner("n."),
    twins=sql(_TWINS_OF, namespace="n.namespace", id="+n.id"),
    twin_owner=fields.owner("twin."),
    ref=fields.outbound_ref("n."),
    mine_live=fields.live_message("mine."),
    mine_outbound=fields.outbound("mine."),
)
_IS_READ: Final = sql(
    "coalesce(CASE WHEN {outbound} THEN (SELECT max({twin_read}) {twins}) END, {read})",
    outbound=fields.outbound("n."),
    twins=sql(_TWINS_OF, namespace="n.namespace", id="+n.id"),
    twin_read=fields.is_read("twin."),
    read=fields.is_read("n."),
)
# A root that names no thread is not found by it, but by its id.
_THREAD: Final = sql(
    "SELECT {columns}, {is_read} FROM notes AS n WHERE n.seq IN ("
    "SELECT n.seq FROM notes AS n INDEXED BY notes_conversations WHERE n.namespace = ?1 AND {root} = ?3 AND {live}"
    "{place} AND {shown} ORDER BY n.created_at {order}, n.id {order} LIMIT ?6)"
    " OR (n.id = ?7 AND n.namespace = ?1 AND {live}{place})"
    " ORDER BY n.created_at {order}, n.id {order} LIMIT ?6",
    columns=_N_COLUMNS,
    is_read=_IS_READ,
    root=fields.root("n."),
    live=fields.live_message("n."),
    shown=_SHOWN,
)
_BEHIND: Final = {
    "asc": sql(_THREAD, place=" AND (n.created_at, n.id) > (?4, ?5)", order="ASC"),
    "desc": sql(_THREAD, place=" AND (n.created_at, n.id) < (?4, ?5)", order="DESC"),
}
_BEGIN: Final = {"asc": Place(-(1 << 63), BEFORE_ALL), "desc": Place((1 << 63) - 1, BEHIND_ALL)}

_SHOWN_COPY: Final = sql(
    "SELECT {columns} FROM notes AS n INDEXED BY notes_id WHERE n.namespace = ?1 AND {live} AND n.id IN ("
    "SELECT ?3 UNION ALL SELECT {ref} FROM notes AS n WHERE n.id = ?3 UNION ALL SELECT twin.id {twins})"
    " AND {shown} ORDER BY n.seq LIMIT 1",
    columns=_N_COLUMNS,
    live=fields.live_message("n."),
    ref=fields.outbound_ref("n."),
    twins=sql(_TWINS_OF, namespace="?1", id="?3"),
    shown=_SHOWN,
)
_NAMED: Final = sql(
    "SELECT 1 FROM notes INDEXED BY notes_conversations WHERE namespace = ? AND {root} = ? AND {live} LIMIT 1",
    root=fields.root(),
    live=fields.live_message(),
)
_ROOTS: Final = sql(
    "SELECT DISTINCT {root} FROM notes INDEXED BY notes_conversations WHERE namespace = ? AND {root} >= ?"
    " AND {root} < ? AND {live} ORDER BY {root} LIMIT ?",
    root=fields.root(),
    live=fields.live_message(),
)
_ROOT_IN_ANY_CASE: Final = sql(
    "SELECT {root} FROM notes INDEXED BY notes_conversations WHERE namespace = ? AND lower({root}) = lower(?)"
    " AND {live} LIMIT 1",
    root=fields.root(),
    live=fields.live_message(),
)
_EXTERNAL: Final = sql(
    "SELECT {columns} FROM notes INDEXED BY notes_external WHERE namespace = ? AND {external} IN (?, ?)"
    " AND kind = 'message' AND {external} IS NOT NULL",
    columns=_COLUMNS,
    external=fields.external_id(),
)
_TAKEN_IN: Final = sql(
    _EXTERNAL + " AND {inbound} AND coalesce({kind}, '') = ? AND coalesce({slug}, '') = ? ORDER BY seq LIMIT 1",
    inbound=fields.inbound(),
    kind=fields.channel_kind(),
    slug=fields.channel_slug(),
)
_SENT_OUT: Final = sql(
    _EXTERNAL + " AND deleted_at IS NULL AND {outbound} ORDER BY seq LIMIT 1", outbound=fields.outbound()
)
_FIRST_OF_THREAD: Final = sql(
    "SELECT {columns} FROM notes INDEXED BY notes_conversations WHERE namespace = ? AND {root} = ? AND {live}"
    " AND {outbound} ORDER BY created_at, id LIMIT 1",
    columns=_COLUMNS,
    root=fields.root(),
    live=fields.live_message(),
    outbound=fields.outbound(),
)
_MARK: Final = sql(
    "UPDATE notes SET properties = json_set(properties, '$.read', json('true')), updated_at = ?, version = version + 1"
    " WHERE seq = ? AND {live} AND {inbound} AND {unread}",
    live=fields.live_message(),
    inbound=fields.inbound(),
    unread=fields.unread(),
)


def insert(tx: Tx, row: NoteRow) -> NoteRow:
    """Store a new message and number its arrival; answers the row with its `seq`."""
    row = row._replace(seq=notes.insert(tx, row))
    arrived(tx, row)
    return row


def arrived(tx: Tx, row: NoteRow) -> None:
    """Number the arrival of a message that was just stored; a copy of a sender arrives nowhere."""
    properties = json_text.load_object(row.properties)
    actor = properties.get("to_actor", NOBODY)
    if properties.get("direction") == INBOUND and isinstance(actor, str):
        tx.run(_ARRIVED, (actor, row.id))


def page(tx: Tx, namespace: str, actor: str, filters: BoxFilter, *, limit: int, offset: int) -> list[NoteRow]:
    """Messages of a mailbox, newest first, ties by id."""
    where = Where("namespace = ?", fields.live_message())
    args: list[object] = [namespace]
    if filters.sent:
        index = "notes_sent"
        where.add(fields.outbound())
        where.equal(fields.sender(), actor)
    else:
        index = "notes_unread" if filters.status == UNREAD else "notes_inbox"
        where.add(fields.inbound())
        where.equal(fields.owner(), actor)
    where.extend(_conditions(filters))
    statement = sql(_BOX, columns=_COLUMNS, index=index, where=where.text)
    return [NoteRow._make(row) for row in tx.all(statement, (*args, *where.args, limit, offset))]


def _conditions(filters: BoxFilter) -> Where:
    where = Where()
    if filters.status == UNREAD:
        where.add(fields.unread())
    elif filters.status == READ:
        where.add(fields.is_read())
    where.equal(fields.from_actor(), filters.from_actor)
    where.equal("json_extract(properties, '$.to_actor')", filters.to_actor)
    if filters.from_prefix is not None:
        where.add("substr(" + fields.from_actor() + ", 1, length(?)) = ?", filters.from_prefix, filters.from_prefix)
    if filters.exclude_from_actor is not None:
        where.add(fields.from_actor() + " IS NOT ?", filters.exclude_from_actor)
    if filters.since is not None:
        where.add("created_at >= ?", filters.since)
    if filters.before is not None:
        where.add("created_at < ?", filters.before)
    for text, column in ((filters.subject_contains, fields.subject()), (filters.content_contains, "content")):
        if text is not None:
            where.add("instr(" + LOWER + "(" + column + "), ?) > 0", text)
    return where


def count_unread(tx: Tx, namespace: str, actor: str) -> int:
    """Unread messages of a mailbox, counted up to `limits.UNREAD_COUNT_CAP`."""
    row = tx.one(_COUNT_UNREAD, (namespace, actor, UNREAD_COUNT_CAP))
    assert row is not None
    return int(row[0])


def arrivals(tx: Tx, namespace: str, actor: str, stale_before: int) -> Arrivals:
    """The numbers of a probe; unread messages from before the moment are stale."""
    row = tx.one(_ARRIVALS, (namespace, actor, stale_before))
    assert row is not None
    return Arrivals._make(row)


def arrived_after(tx: Tx, namespace: str, actor: str, number: int, limit: int) -> list[Arrival]:
    """The live messages that arrived after a number, the last one first."""
    return [Arrival._make(row) for row in tx.all(_ARRIVED_AFTER, (namespace, actor, number, limit))]


def delivered(tx: Tx, namespace: str, outbound_id: str, sender: str) -> int:
    """How many copies of recipients name an outbound message of a sender."""
    row = tx.one(_DELIVERED, (namespace, outbound_id, sender))
    assert row is not None
    return int(row[0])


def thread(
    tx: Tx, view: View, root: str, *, order: str, limit: int, after: Place | None, root_apart: bool
) -> list[ThreadRow]:
    """Messages of a thread as an actor sees them, each once; `order` is asc or desc, by moment and id.

    `root_apart`: the root itself does not say that it belongs to the thread, and is one of its messages all the same.
    """
    place = _BEGIN[order] if after is None else after
    apart = root if root_apart else ""
    rows = tx.all(_BEHIND[order], (*view, root, place.created_at, place.id, limit, apart))
    return [ThreadRow(NoteRow._make(row[:-1]), bool(row[-1])) for row in rows]


def shown_copy(tx: Tx, view: View, message_id: str) -> NoteRow | None:
    """The copy that stands for a message in a thread; None when no copy is live."""
    row = tx.one(_SHOWN_COPY, (*view, message_id))
    return None if row is None else NoteRow._make(row)


def is_root(tx: Tx, namespace: str, root: str) -> bool:
    """Whether some live message of a namespace belongs to a thread."""
    return tx.one(_NAMED, (namespace, root)) is not None


def roots_from(tx: Tx, namespace: str, prefix: str, limit: int) -> list[str]:
    """Roots of threads that begin with a prefix of hexadecimal digits and hyphens, in order."""
    # No hexadecimal digit and no hyphen sorts behind "g", so this is the end of the range of the prefix.
    return [str(row[0]) for row in tx.all(_ROOTS, (namespace, *beginning_with(prefix), limit))]


def root_in_any_case(tx: Tx, namespace: str, label: str) -> str | None:
    """The root that differs from a label in the case of ASCII letters at most."""
    row = tx.one(_ROOT_IN_ANY_CASE, (namespace, label))
    return None if row is None else str(row[0])


def taken_in(tx: Tx, namespace: str, external_id: str, channel: tuple[str, str]) -> NoteRow | None:
    """The message that a channel delivered under this id before, deleted ones included."""
    row = tx.one(_TAKEN_IN, (namespace, external_id, external_id, *channel))
    return None if row is None else NoteRow._make(row)


def sent_out(tx: Tx, namespace: str, spellings: tuple[str, str]) -> NoteRow | None:
    """The live message that was sent out under one of two spellings of an id."""
    row = tx.one(_SENT_OUT, (namespace, *spellings))
    return None if row is None else NoteRow._make(row)


def first_sent_of(tx: Tx, namespace: str, root: str) -> NoteRow | None:
    """The first copy of a sender in a thread."""
    row = tx.one(_FIRST_OF_THREAD, (namespace, root))
    return None if row is None else NoteRow._make(row)


def mark_read(tx: Tx, seqs: Sequence[int], now: int) -> list[int]:
    """Mark inbound messages read, nothing else of them changes; answers those that were live and unread."""
    marked = []
    for seq in seqs:
        tx.run(_MARK, (now, seq))
        if tx.changes():
            marked.append(seq)
    return marked
