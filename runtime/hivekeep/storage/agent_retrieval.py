"""The indexes of curated entries, and the lanes in which they are searched.

Invariant: an entry is in the indexes with the text, tags and signals of its current revision; `index_entry` is called
in the transaction that makes the revision. Every lane reads the part of its index that belongs to one workspace and
asks the entry itself whether it is retrievable, so neither the size of other workspaces nor what lies in them has an
influence on an answer or its cost.

Terms come as quoted MATCH expressions that `hivekeep.search.lexical` made, everything else as bound arguments.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hivekeep.normal_form import normal_form
from hivekeep.storage import json_text, text_places
from hivekeep.storage.engine import Args, Row, Tx
from hivekeep.storage.json_text import EMPTY_OBJECT
from hivekeep.storage.statements import members, sql
from hivekeep.storage.text_index import TRIGRAMS_MAX
from hivekeep_contract.limits import (
    ENTRY_BODY_MAX,
    ENTRY_SUMMARY_MAX,
    ENTRY_TITLE_MAX,
    RETRIEVAL_POSTINGS_MAX,
)


class IndexedEntry(NamedTuple):
    """What the indexes hold of an entry; `signals` are pairs of a field and a folded value (`agent/signals.py`)."""

    seq: int
    workspace: str
    revision: int
    title: str
    summary: str | None
    body: str
    tags: Sequence[str]
    signals: Sequence[tuple[str, str]]


class Found(NamedTuple):
    """An entry that was found, with what orders entries of one score. `updated_at` is in microseconds."""

    seq: int
    id: str
    status: str
    trust_level: str
    confidence: float
    updated_at: int


class EntryState(NamedTuple):
    """Everything about an entry that a delivery relies on; the text follows from `seq` and `revision`."""

    seq: int
    id: str
    workspace: str
    revision: int
    status: str
    trust_level: str
    confidence: float
    disabled: int
    source_id: str | None
    source_mapping: str | None
    source_state: str | None
    updated_at: int


class RankedRow(NamedTuple):
    """A retrievable entry at its current revision, without its body; `scope`, `provenance` and `tags` are JSON text."""

    state: EntryState
    kind: str
    title: str
    summary: str | None
    scope: str
    provenance: str
    tags: str


class RevisionText(NamedTuple):
    """The text of one exact revision."""

    title: str
    summary: str | None
    body: str


_KIND: Final = ""
"""Entries of all kinds lie together: a revision may change the kind, and its entry must not move."""

_TEXT_FIELD: Final = "text"
"""Among the signals, beside those of the scope: the key of the whole text."""

_LAST_CHARACTER: Final = "\U0010ffff"

_FOUND: Final = (
    "SELECT e.seq, e.id, e.status, e.trust_level, e.confidence, e.updated_at FROM agent_entries e"
    " WHERE e.retrievable AND e.seq IN ({wanted})"
)
_THERE: Final = "e.workspace = ? AND e.retrievable"
_MATCH: Final = (
    "SELECT e.seq FROM {table} CROSS JOIN agent_entries e ON e.seq = {table}.rowid {seq_of}"
    " WHERE {table} MATCH ? AND {table}.rowid BETWEEN ? AND ? AND {there} ORDER BY {table}.rowid DESC LIMIT ?"
)


def _lane(text: str, table: str = "") -> str:
    return sql(text, there=_THERE, table=table, seq_of=text_places.SEQ_OF)


_WORDS: Final = _lane(_MATCH, "agent_entries_words")
_TRIGRAMS: Final = _lane(_MATCH, "agent_entries_trigrams")
_TRIGRAMS_FROM: Final = "SELECT term FROM agent_entries_trigram_terms WHERE term >= ? AND term < ? LIMIT ?"
_TAGGED: Final = _lane(
    "SELECT e.seq FROM agent_entry_tags t CROSS JOIN agent_entries e ON e.seq = t.entry_seq"
    " WHERE t.workspace = ? AND t.tag_key = ? AND {there} ORDER BY t.entry_seq DESC LIMIT ?"
)
_SIGNALLED: Final = _lane(
    "SELECT e.seq FROM agent_entry_signals s CROSS JOIN agent_entries e ON e.seq = s.entry_seq"
    " WHERE s.workspace = ? AND s.kind = ? AND s.value_key = ? AND {there} ORDER BY s.entry_seq DESC LIMIT ?"
)
_PRESENT_TAGS: Final = (
    "SELECT k.value FROM json_each(?) AS k WHERE EXISTS"
    " (SELECT 1 FROM agent_entry_tags t WHERE t.workspace = ? AND t.tag_key = k.value)"
)
_PRESENT_SIGNALS: Final = (
    "SELECT f.value, k.value FROM json_each(?) AS f CROSS JOIN json_each(?) AS k WHERE EXISTS"
    " (SELECT 1 FROM agent_entry_signals s WHERE s.workspace = ? AND s.kind = f.value AND s.value_key = k.value)"
)
_SAYS: Final = "SELECT 1 FROM agent_entry_signals WHERE workspace = ? AND kind = ? AND value_key = ? LIMIT 1"
_HOLDS: Final = (
    "instr(lower(r.title), ?) OR instr(lower(coalesce(r.summary, '')), ?) OR instr(lower(r.body), ?)"
    " OR instr(lower(r.tags), ?)"
)
_HOLDING: Final = _lane(
    "SELECT e.seq FROM agent_entries e INDEXED BY agent_entries_listed CROSS JOIN agent_entry_revisions r"
    " ON r.entry_seq = e.seq AND r.revision = e.revision WHERE {there} AND ({holds})"
    " ORDER BY e.seq DESC LIMIT ?"
)

_STATE: Final = ", ".join("e." + column for column in EntryState._fields)
_STATES: Final = sql("SELECT {state} FROM agent_entries e WHERE e.retrievable AND e.id IN ({wanted})", state=_STATE)
_RANKED: Final = sql(
    "SELECT {state}, r.kind, r.title, r.summary, r.scope, r.provenance, r.tags FROM agent_entries e"
    " CROSS JOIN agent_entry_revisions r ON r.entry_seq = e.seq AND r.revision = e.revision"
    " WHERE e.retrievable AND e.seq IN ({wanted}) AND length(r.title) <= {title}"
    " AND length(coalesce(r.summary, '')) <= {summary} AND length(r.body) <= {body}",
    state=_STATE,
    title=str(ENTRY_TITLE_MAX),
    summary=str(ENTRY_SUMMARY_MAX),
    body=str(ENTRY_BODY_MAX),
)
_TEXT: Final = "SELECT title, summary, body FROM agent_entry_revisions WHERE entry_seq = ? AND revision = ?"
_PROVENANCE: Final = "SELECT provenance FROM agent_entry_revisions WHERE entry_seq = ? AND revision = ?"
_CONTRADICTED: Final = (
    "SELECT l.from_seq, l.to_seq FROM agent_entry_links l CROSS JOIN agent_entries e ON e.seq = l.{other}"
    " WHERE l.relation = 'contradicts' AND l.{here} IN ({wanted}) AND e.retrievable"
)
_COUNT: Final = "SELECT count(*) FROM agent_entries e WHERE e.workspace = ? AND e.retrievable"

_TABLES: Final = ("agent_entries_words", "agent_entries_trigrams")
_PLACES: Final = "SELECT e.seq, e.workspace FROM agent_entries e"
_INDEXED: Final = "SELECT rowid FROM {table}"
_UNKEYED: Final = sql(
    "SELECT e.seq FROM agent_entries e WHERE NOT EXISTS (SELECT 1 FROM agent_entry_signals s"
    " WHERE s.entry_seq = e.seq AND s.kind = '{field}' AND s.revision = e.revision AND s.workspace = e.workspace)",
    field=_TEXT_FIELD,
)
_PUT: Final = tuple(
    sql("INSERT OR REPLACE INTO {table} (rowid, title, summary, body, tags) VALUES (?, ?, ?, ?, ?)", table=table)
    for table in _TABLES
)
_DROP: Final = tuple(sql("DELETE FROM {table} WHERE rowid = ?", table=table) for table in _TABLES)
_DROP_KEYS: Final = (
    "DELETE FROM agent_entry_tags WHERE entry_seq = ?",
    "DELETE FROM agent_entry_signals WHERE entry_seq = ?",
)
# Not OR REPLACE: such a statement sets a savepoint of its own, at which the text indexes write out all they hold. That
# made a part of the index of every entry of an import.
_PUT_TAG: Final = "INSERT INTO agent_entry_tags (workspace, tag_key, entry_seq, revision) VALUES (?, ?, ?, ?)"
_KEYS_OF: Final = (
    "SELECT workspace, tag_key, entry_seq, revision FROM agent_entry_tags WHERE entry_seq = ?",
    "SELECT workspace, kind, value_key, entry_seq, revision FROM agent_entry_signals WHERE entry_seq = ?",
)
_PUT_SIGNAL: Final = (
    "INSERT INTO agent_entry_signals (workspace, kind, value_key, entry_seq, revision) VALUES (?, ?, ?, ?, ?)"
)


def index_entry(tx: Tx, entry: IndexedEntry) -> None:
    """Put a new revision of an entry into the indexes, instead of the former one if there was one."""
    row = (_place(entry.workspace, entry.seq), *map(_indexed, (entry.title, entry.summary, entry.body)))
    tags = _indexed("\n".join(entry.tags))
    for statement in _PUT:
        tx.run(statement, (*row, tags))
    for statement in _DROP_KEYS:
        tx.run(statement, (entry.seq,))
    tx.many(_PUT_TAG, tag_rows(entry))
    tx.many(_PUT_SIGNAL, signal_rows(entry))


def tag_rows(entry: IndexedEntry) -> set[tuple[str, str, int, int]]:
    """The rows of `agent_entry_tags` of an entry: workspace, key, `seq`, revision."""
    return {(entry.workspace, tag_key(tag), entry.seq, entry.revision) for tag in entry.tags}


def signal_rows(entry: IndexedEntry) -> set[tuple[str, str, str, int, int]]:
    """The rows of `agent_entry_signals` of an entry: workspace, field, key, `seq`, revision; its text is one key."""
    text = (_TEXT_FIELD, text_key(entry.title, entry.summary, entry.body))
    return {(entry.workspace, *signal, entry.seq, entry.revision) for signal in (*entry.signals, text)}


def stored_keys(tx: Tx, seq: int) -> tuple[set[Row], set[Row]]:
    """The rows of tags and signals that the indexes have of an entry."""
    tags, signals = (set(tx.all(statement, (seq,))) for statement in _KEYS_OF)
    return tags, signals


def unindex_entry(tx: Tx, workspace: str, seq: int) -> None:
    """Take an entry out of the indexes; one that is not in them is no error."""
    for statement in _DROP:
        tx.run(statement, (_place(workspace, seq),))
    for statement in _DROP_KEYS:
        tx.run(statement, (seq,))


def differences(tx: Tx) -> tuple[list[int], list[int]]:
    """The `seq` of entries that an index lacks at their current revision, and of index rows without an entry there."""
    stored = {_place(workspace, seq): seq for seq, workspace in tx.all(_PLACES)}
    missing = {int(row[0]) for row in tx.all(_UNKEYED)}
    stale: set[int] = set()
    for table in _TABLES:
        indexed = {row[0] for row in tx.all(sql(_INDEXED, table=table))}
        missing.update(seq for place, seq in stored.items() if place not in indexed)
        stale.update(text_places.seq_of(place) for place in indexed if place not in stored)
    return sorted(missing), sorted(stale)


def clear(tx: Tx) -> None:
    """Take every entry out of the indexes, for building them anew in the same transaction."""
    for table in _TABLES:
        tx.run(sql("INSERT INTO {table} ({table}) VALUES ('delete-all')", table=table))
    for keys in ("agent_entry_tags", "agent_entry_signals"):
        tx.run(sql("DELETE FROM {keys}", keys=keys))


def settle(tx: Tx) -> list[str]:
    """Make each text index one part, which is read quickest, and check it; answers the names of the tables.

    Raises what SQLite says of an index that is not whole.
    """
    for table in _TABLES:
        tx.run(sql("INSERT INTO {table} ({table}) VALUES ('optimize')", table=table))
        tx.run(sql("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)", table=table))
    return list(_TABLES)


def tag_key(tag: str) -> str:
    """The form in which tags are compared: composed, lower case, single blanks."""
    return " ".join(normal_form("NFKC", tag).lower().split())


def text_key(title: str, summary: str | None, body: str) -> str:
    """The key under which entries that say the same are found, wherever they have it from."""
    return hashlib.sha256(json_text.dump([title, summary, body]).encode("utf-8", "surrogatepass")).hexdigest()


def says(tx: Tx, workspace: str, key: str) -> bool:
    """Whether an entry of the workspace, retrievable or not, says the text of this key at its current revision."""
    return tx.one(_SAYS, (workspace, _TEXT_FIELD, key)) is not None


def words(tx: Tx, workspace: str, match: str) -> list[int]:
    """The entries of a workspace that the word index finds, the newest first."""
    return _seqs(tx, _WORDS, (match, *_range(workspace), workspace))


def trigrams(tx: Tx, workspace: str, match: str) -> list[int]:
    """The entries of a workspace that the trigram index finds, the newest first."""
    return _seqs(tx, _TRIGRAMS, (match, *_range(workspace), workspace))


def trigrams_from(tx: Tx, start: str) -> list[str] | None:
    """The trigrams of the index that begin with one or two characters; None when they are more than TRIGRAMS_MAX."""
    found = tx.all(_TRIGRAMS_FROM, (start, start + _LAST_CHARACTER, TRIGRAMS_MAX + 1))
    return None if len(found) > TRIGRAMS_MAX else [row[0] for row in found]


def present_tags(tx: Tx, workspace: str, keys: Sequence[str]) -> list[str]:
    """Those of the keys that are tags of an entry of the workspace."""
    return [row[0] for row in tx.all(_PRESENT_TAGS, (json_text.dump(list(keys)), workspace))]


def present_signals(tx: Tx, workspace: str, fields: Sequence[str], keys: Sequence[str]) -> list[tuple[str, str]]:
    """Those pairs of a field and a key that are signals of an entry of the workspace."""
    listed = (json_text.dump(list(fields)), json_text.dump(list(keys)))
    return [(row[0], row[1]) for row in tx.all(_PRESENT_SIGNALS, (*listed, workspace))]


def tagged(tx: Tx, workspace: str, key: str) -> list[int]:
    """The entries of a workspace with a tag of this key, the newest first."""
    return _seqs(tx, _TAGGED, (workspace, key, workspace))


def signalled(tx: Tx, workspace: str, field: str, key: str) -> list[int]:
    """The entries of a workspace whose scope has this value in this field, the newest first."""
    return _seqs(tx, _SIGNALLED, (workspace, field, key, workspace))


def holding(tx: Tx, workspace: str, spellings: Iterable[str]) -> list[int]:
    """The entries of a workspace that hold one of the spellings (ASCII letters in lower case), the newest first.

    For what no index answers: it compares every entry of the workspace, so it costs what they have of text.
    """
    wanted = list(spellings)
    statement = sql(_HOLDING, holds=" OR ".join([_HOLDS] * len(wanted)))
    return _seqs(tx, statement, (workspace, *(spelling for spelling in wanted for _ in range(4))))


def found(tx: Tx, seqs: Sequence[int]) -> list[Found]:
    """What orders those of the entries that are retrievable."""
    wanted = members(seqs)
    return [Found._make(row) for row in tx.all(sql(_FOUND, wanted=wanted.sql), wanted.args)]


def states(tx: Tx, entry_ids: Sequence[str]) -> dict[str, EntryState]:
    """The present states of those of the entries that are retrievable, by id."""
    wanted = members(entry_ids)
    rows = tx.all(sql(_STATES, wanted=wanted.sql), wanted.args)
    return {state.id: state for state in map(EntryState._make, rows)}


def ranked_rows(tx: Tx, seqs: Sequence[int]) -> list[RankedRow]:
    """Those of the entries that are retrievable and whose texts are within the bounds of ranking."""
    wanted = members(seqs)
    rows = tx.all(sql(_RANKED, wanted=wanted.sql), wanted.args)
    size = len(EntryState._fields)
    return [RankedRow(EntryState._make(row[:size]), *row[size:]) for row in rows]


def revision_text(tx: Tx, seq: int, revision: int) -> RevisionText | None:
    """The text of an exact revision, None when its entry was purged."""
    row = tx.one(_TEXT, (seq, revision))
    return None if row is None else RevisionText._make(row)


def provenance(tx: Tx, seq: int, revision: int) -> str:
    """Where an exact revision comes from, a JSON object; empty when its entry was purged."""
    row = tx.one(_PROVENANCE, (seq, revision))
    return EMPTY_OBJECT if row is None else str(row[0])


def contradicted(tx: Tx, seqs: Sequence[int]) -> set[int]:
    """Those of the entries that contradict a retrievable entry, or that one contradicts."""
    wanted = members(seqs)
    found: set[int] = set()
    for here, other, at in (("from_seq", "to_seq", 0), ("to_seq", "from_seq", 1)):
        statement = sql(_CONTRADICTED, here=here, other=other, wanted=wanted.sql)
        found.update(int(row[at]) for row in tx.all(statement, wanted.args))
    return found


def stored_count(tx: Tx, workspace: str) -> int:
    """How many entries of a workspace are retrievable."""
    row = tx.one(_COUNT, (workspace,))
    assert row is not None
    return int(row[0])


def _seqs(tx: Tx, statement: str, args: Args) -> list[int]:
    return [row[0] for row in tx.all(statement, (*args, RETRIEVAL_POSTINGS_MAX))]


def _place(workspace: str, seq: int) -> int:
    return text_places.place(workspace, _KIND, seq)


def _range(workspace: str) -> text_places.Range:
    return text_places.ranges((workspace,), _KIND)[0]


def _indexed(text: str | None) -> str:
    """The text as the indexes get it: composed, and with blanks behind, so that each character begins a trigram."""
    return normal_form("NFC", text) + "  " if text else ""
