"""The full-text index of live records: two FTS5 tables a substrate, written together with the record.

The invariant: a live entity or note has exactly one row in its word index and one in its trigram index, a
deleted one has none; the rowid is the place of the record (`text_places`). The tables keep no text of their own
(ADR 0005): the record is the text, so what is shown and what a substring test compares is always the stored value.

The word index (unicode61 without diacritics, porter stems) finds words; the trigram index finds any run of
three or more characters in any script. Queries take MATCH expressions that `hivekeep.search.lexical` made of
quoted terms, and literals as bound arguments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from hivekeep.normal_form import normal_form
from hivekeep.storage import json_text, scope_rank, text_places
from hivekeep.storage.engine import Tx
from hivekeep.storage.memory_filter import ANY_MEMORY, MemoryFilter
from hivekeep.storage.scope_rank import WORD_FACTS
from hivekeep.storage.statements import Where, marks, sql
from hivekeep_contract.limits import TEXT_SCOPE_RECORDS_MAX, TEXT_SCOPE_WORK_MAX, TEXT_WEIGHTS

TextSubstrate = Literal["entity", "note"]
SUBSTRATES: Final[tuple[TextSubstrate, ...]] = ("entity", "note")
Index = Literal["words", "trigrams"]
Groups = Sequence[Sequence[str]]
"""Groups of spellings: a record satisfies a group that it holds one spelling of."""


_Conditions = tuple[str, list[object]]
"""Conditions on the records `r` as SQL, with their arguments."""

_SPACES_MAX: Final = 16
"""Namespaces up to which the text of a scope is kept for the next search."""

TRIGRAMS_MAX = 300
"""Trigrams that stand for one term shorter than a trigram; of more common terms the records are compared."""

_LAST_CHARACTER: Final = "\U0010ffff"


class Scope(NamedTuple):
    """Which records a search may answer with; None stands for no condition.

    `tags` match when one of them equals a tag of the record, ASCII case ignored. `superseded` False leaves
    out notes that a live note of these namespaces replaces. An entity with this `name_key` is kept before
    every other candidate when there are more of them than the limit. `memories` are conditions on memories.
    """

    namespaces: Sequence[str]
    kind: str | None = None
    entity_type: str | None = None
    tags: Sequence[str] = ()
    superseded: bool = True
    name_key: str = ""
    memories: MemoryFilter = ANY_MEMORY


class Candidate(NamedTuple):
    """A found record; `score` is the negated bm25 of the index that found it, None for a scan.

    `found_by` says which one that was; None for a record that no text index found. Its `body` is read of a record that
    was looked up.
    """

    seq: int
    id: str
    kind: str
    title: str | None
    salience: float | None
    created_at: int
    updated_at: int
    score: float | None
    found_by: Index | None = None
    body: str | None = None


class _Layout(NamedTuple):
    """The names in which the two substrates differ."""

    records: str
    words: str
    trigrams: str
    terms: str
    body: str
    salience: str
    name_key: str
    tags: str
    tags_path: str


_LAYOUTS: Final[dict[TextSubstrate, _Layout]] = {
    "entity": _Layout(
        "entities",
        "entity_words",
        "entity_trigrams",
        "entity_trigram_terms",
        "description",
        "NULL",
        "r.name_key",
        "r.tags",
        "$",
    ),
    "note": _Layout(
        "notes",
        "note_words",
        "note_trigrams",
        "note_trigram_terms",
        "content",
        "r.salience",
        "NULL",
        "r.properties",
        "$.tags",
    ),
}

_RANGES = (
    "WITH part (low, high) AS MATERIALIZED"
    " (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))"
)
_CANDIDATE = "SELECT r.seq, r.id, r.kind, r.name, {salience}, r.created_at, r.updated_at, "
# CROSS JOIN keeps the order: the index is searched once for each range, and its few matches are looked up in the
# records, never the reverse. What lies behind the body of a record is read of the best only: to get there, SQLite walks
# through every page of a long text. The best are in order already but for one that its name put before the others.
_BEST = (
    "best.score, '{index}', NULL FROM"
    " (SELECT r.seq AS seq, -bm25({table}, {weights}) AS score FROM part CROSS JOIN {table}"
    " CROSS JOIN {records} r ON r.seq = {table}.rowid {seq_of} WHERE {table} MATCH ?"
    " AND {table}.rowid BETWEEN part.low AND part.high AND {conditions}"
    " ORDER BY {name_key} = ? DESC, score DESC, r.id LIMIT ?) AS best CROSS JOIN {records} r ON r.seq = best.seq"
)
_MATCHING = _RANGES + " " + _CANDIDATE + _BEST
_SCANNING = _CANDIDATE + "NULL FROM {records} r WHERE "
_NEWEST_FIRST = " ORDER BY {name_key} = ? DESC, r.seq DESC LIMIT ?"

_WANTED = "FROM json_each(?) AS wanted CROSS JOIN {records} r ON r.seq = wanted.value WHERE "
_LOOKING_UP = _CANDIDATE + "NULL, NULL, r.{body} " + _WANTED
_BEING_THERE = "SELECT r.seq " + _WANTED
_FOUND = _CANDIDATE + "NULL, 'words', NULL " + _WANTED
_FACTS: Final = (
    "{ranges} SELECT note_words.rowid, {facts}(note_words) FROM part CROSS JOIN note_words"
    " CROSS JOIN notes r ON r.seq = note_words.rowid {seq_of} WHERE note_words MATCH ?"
    " AND note_words.rowid BETWEEN part.low AND part.high AND {conditions}"
)
_COUNTED: Final = "SELECT count(*) FROM (SELECT 1 FROM notes r WHERE {conditions} LIMIT ?)"
# FTS5 keeps a row for each text that it has.
_LARGER: Final = "SELECT 1 FROM note_words_docsize LIMIT 1 OFFSET ?"
_AND: Final = " AND "
_NEARLY_ALL: Final = 1.25
"""Statistics of an index that is at most so many times as large as a scope are good enough for it."""
_WEIGHTS: Final = ", ".join(str(TEXT_WEIGHTS[column]) for column in ("title", "body"))

_HOLDS = "instr(lower(r.name), ?) OR instr(lower(r.{body}), ?)"
# A deleted replacement replaces nothing, so the note it pointed at is found again.
_NOT_SUPERSEDED = (
    "NOT EXISTS (SELECT 1 FROM edges x JOIN notes s ON s.id = x.source_id AND s.deleted_at IS NULL"
    " WHERE x.target_id = r.id AND x.relation = 'supersedes' AND x.deleted_at IS NULL"
    " AND x.namespace IN ({marks}))"
)

_LIVE = "SELECT namespace, kind, seq FROM {records} WHERE deleted_at IS NULL"
_INDEXED = "SELECT rowid FROM {table}"

_TEXTS: Final = (
    "SELECT seq, namespace, kind, name, {body} FROM {records} NOT INDEXED WHERE deleted_at IS NULL AND seq > ?"
    " ORDER BY seq LIMIT ?"
)
_TEXTS_AT_ONCE: Final = 1000


def put(tx: Tx, substrate: TextSubstrate, place: int, title: str | None, body: str | None) -> None:
    """Index a record that has no index rows yet: a new or a restored one. `place` is `text_places.place` of it."""
    row = (place, _indexed(title), _indexed(body))
    for statement in _PUT[substrate]:
        tx.run(statement, row)


def put_many(tx: Tx, substrate: TextSubstrate, texts: Iterable[tuple[int, str | None, str | None]]) -> None:
    """Index many records that have no index rows yet, each given as (place, title, body)."""
    # In the order of their places: FTS5 begins another part of the index at every step back.
    rows = sorted((place, _indexed(title), _indexed(body)) for place, title, body in texts)
    for statement in _PUT[substrate]:
        tx.many(statement, rows)


def replace(tx: Tx, substrate: TextSubstrate, place: int, title: str | None, body: str | None) -> None:
    """Index the changed text of a record instead of its former text."""
    row = (place, _indexed(title), _indexed(body))
    for statement in _REPLACE[substrate]:
        tx.run(statement, row)


def remove(tx: Tx, substrate: TextSubstrate, place: int) -> None:
    """Take a record out of the index; one that is not in it is no error."""
    for statement in _REMOVE[substrate]:
        tx.run(statement, (place,))


def match_words(
    tx: Tx, substrate: TextSubstrate, match: str, where: Groups, scope: Scope, limit: int
) -> list[Candidate]:
    """The records that the word index finds and that hold every group of `where`, best first.

    How rare a word is, the notes of a scope of at most TEXT_SCOPE_RECORDS_MAX say alone, or fewer for many phrases.
    """
    conditions = _conditions(substrate, scope, where, ())
    if substrate == "note" and limit > 0 and (records := _records_apart(tx, match, scope)):
        return _match_by_scope(tx, match, conditions, scope, records, limit)
    return _match(tx, substrate, "words", match, conditions, scope, limit)


def match_trigrams(
    tx: Tx,
    substrate: TextSubstrate,
    match: str,
    where: Groups,
    scope: Scope,
    limit: int,
    *,
    known: Sequence[int],
) -> list[Candidate]:
    """The same of the trigram index, without the records whose `seq` is in `known`."""
    return _match(tx, substrate, "trigrams", match, _conditions(substrate, scope, where, known), scope, limit)


def trigrams_from(tx: Tx, substrate: TextSubstrate, start: str) -> list[str] | None:
    """The trigrams of the index that begin with one or two characters; None when they are more than TRIGRAMS_MAX.

    `start` is written as the index writes it: lower case, no accents.
    """
    found = tx.all(_TRIGRAMS_FROM[substrate], (start, start + _LAST_CHARACTER, TRIGRAMS_MAX + 1))
    return None if len(found) > TRIGRAMS_MAX else [row[0] for row in found]


def scan(
    tx: Tx,
    substrate: TextSubstrate,
    groups: Groups,
    scope: Scope,
    limit: int,
    *,
    match_any: bool,
    known: Sequence[int],
) -> list[Candidate]:
    """The records that hold all groups (or one of them), newest first, without those in `known`.

    For terms that no index answers. It compares every live record of the scope, so its cost grows with the
    text of the namespaces searched: about 0.1 s for 60,000 records of 220 characters.
    """
    layout = _LAYOUTS[substrate]
    conditions, args = _conditions(substrate, scope, () if match_any else groups, known)
    if match_any:
        where = Where(conditions)
        _hold(where, layout, [spelling for group in groups for spelling in group])
        conditions, args = where.text, [*args, *where.args]
    select = _filled(_SCANNING, layout, "") + conditions + _filled(_NEWEST_FIRST, layout, "")
    return [Candidate(*row) for row in tx.all(select, (*args, scope.name_key, limit))]


def look_up(tx: Tx, substrate: TextSubstrate, seqs: Sequence[int], scope: Scope) -> dict[int, Candidate]:
    """Those of the records that are in the scope, by `seq`, however they were found, with their bodies."""
    conditions, args = _conditions(substrate, scope, (), ())
    rows = tx.all(_looking_up(_LAYOUTS[substrate], conditions), (f"[{','.join(map(str, seqs))}]", *args))
    return {row[0]: Candidate._make(row) for row in rows}


def within(tx: Tx, substrate: TextSubstrate, scope: Scope) -> list[int]:
    """The `seq` of every record in the scope."""
    conditions, args = _conditions(substrate, scope, (), ())
    select = sql("SELECT r.seq FROM {records} r WHERE ", records=_LAYOUTS[substrate].records) + conditions
    return [row[0] for row in tx.all(select, args)]


def among(tx: Tx, substrate: TextSubstrate, seqs: Sequence[int], scope: Scope) -> set[int]:
    """Those of the records that are in the scope."""
    conditions, args = _conditions(substrate, scope, (), ())
    select = _filled(_BEING_THERE, _LAYOUTS[substrate], "") + conditions
    return {row[0] for row in tx.all(select, (json.dumps(list(seqs)), *args))} if seqs else set()


def bodies(tx: Tx, substrate: TextSubstrate, seqs: Sequence[int]) -> dict[int, str | None]:
    """The body text of records by `seq`."""
    layout = _LAYOUTS[substrate]
    text = sql("SELECT seq, {body} FROM {records} WHERE seq IN ({marks})", marks=marks(len(seqs)))
    return dict(tx.all(_filled(text, layout, ""), seqs))


def properties(tx: Tx, substrate: TextSubstrate, seqs: Sequence[int]) -> dict[int, str]:
    """The stored properties of records, JSON text by `seq`."""
    layout = _LAYOUTS[substrate]
    text = sql("SELECT seq, properties FROM {records} WHERE seq IN ({marks})", marks=marks(len(seqs)))
    return dict(tx.all(_filled(text, layout, ""), seqs))


def differences(tx: Tx, substrate: TextSubstrate) -> tuple[list[int], list[int]]:
    """The `seq` of live records that lack an index row, and of index rows without a live record at their place."""
    layout = _LAYOUTS[substrate]
    live = {text_places.place(*row): row[-1] for row in tx.all(_filled(_LIVE, layout, ""))}
    missing: set[int] = set()
    stale: set[int] = set()
    for table in (layout.words, layout.trigrams):
        indexed = {row[0] for row in tx.all(_filled(_INDEXED, layout, table))}
        missing.update(seq for place, seq in live.items() if place not in indexed)
        stale.update(text_places.seq_of(place) for place in indexed if place not in live)
    return sorted(missing), sorted(stale)


def rebuild(tx: Tx, substrate: TextSubstrate) -> list[str]:
    """Build both indexes of a substrate anew from its live records and check them; answers the names of the tables.

    One transaction: a search sees the former indexes or the new ones, which are of one part each and so read quickest.
    Raises what SQLite says of an index that is not whole.
    """
    layout = _LAYOUTS[substrate]
    for table in (layout.words, layout.trigrams):
        tx.run(sql("INSERT INTO {table} ({table}) VALUES ('delete-all')", table=table))
    page, after = _filled(_TEXTS, layout, ""), 0
    while rows := tx.all(page, (after, _TEXTS_AT_ONCE)):
        put_many(tx, substrate, ((text_places.place(space, kind, seq), *texts) for seq, space, kind, *texts in rows))
        after = rows[-1][0]
    for table in (layout.words, layout.trigrams):
        tx.run(sql("INSERT INTO {table} ({table}) VALUES ('optimize')", table=table))
        tx.run(sql("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)", table=table))
    return [layout.words, layout.trigrams]


def _match(
    tx: Tx, substrate: TextSubstrate, index: Index, match: str, where: _Conditions, scope: Scope, limit: int
) -> list[Candidate]:
    conditions, args = where
    parts = json_text.dump(text_places.ranges(scope.namespaces, scope.kind))
    select = _matching(_LAYOUTS[substrate], index, conditions)
    found = list(map(Candidate._make, tx.all(select, (parts, match, *args, scope.name_key, limit))))
    if substrate == "entity":
        found.sort(key=lambda candidate: (-(candidate.score or 0.0), candidate.id))
    return found


def _records_apart(tx: Tx, match: str, scope: Scope) -> int:
    """How many notes the namespaces and kind of a scope have; 0 if they are too many for the query, or nearly all."""
    # What has a phrase is counted among the hits, and those of an AND all have all of them.
    if _AND in match:
        return 0
    places = text_places.ranges(scope.namespaces, scope.kind)
    most = min(TEXT_SCOPE_RECORDS_MAX, TEXT_SCOPE_WORK_MAX // max(1, scope_rank.phrases(match)))
    if len(places) < len(set(scope.namespaces)):
        return 0
    conditions, args = _conditions("note", Scope(scope.namespaces, scope.kind), (), ())
    row = tx.one(_counted(conditions), (*args, most + 1))
    records = 0 if row is None else int(row[0])
    if records > most or tx.one(_LARGER, (int(records * _NEARLY_ALL),)) is None:
        return 0
    return records


def _match_by_scope(tx: Tx, match: str, where: _Conditions, scope: Scope, records: int, limit: int) -> list[Candidate]:
    """The word hits of a scope of so many notes by its own statistics; read best first until enough meet `where`."""
    within, args = _conditions("note", Scope(scope.namespaces, scope.kind), (), ())
    parts = json_text.dump(text_places.ranges(scope.namespaces, scope.kind))
    hits = scope_rank.ranked(tx.all(_facts(within), (parts, match, *args)), records)
    conditions, args = where
    select = _reading(_LAYOUTS["note"], conditions)
    found: list[Candidate] = []
    start, size = 0, limit
    while start < len(hits) and len(found) < limit:
        scores = {text_places.seq_of(place): score for score, place in hits[start : start + size]}
        rows = tx.all(select, (json_text.dump(list(scores)), *args))
        found += [Candidate._make(row)._replace(score=scores[row[0]]) for row in rows]
        # A filter that few hits meet: twice as many at a time.
        start, size = start + size, 2 * size
    return found[:limit]


@lru_cache(maxsize=128)
def _counted(conditions: str) -> str:
    return sql(_COUNTED, conditions=conditions)


@lru_cache(maxsize=128)
def _facts(conditions: str) -> str:
    return sql(_FACTS, ranges=_RANGES, facts=WORD_FACTS, seq_of=text_places.SEQ_OF, conditions=conditions)


@lru_cache(maxsize=128)
def _reading(layout: _Layout, conditions: str) -> str:
    return _filled(_FOUND, layout, "") + conditions


@lru_cache(maxsize=128)
def _matching(layout: _Layout, index: Index, conditions: str) -> str:
    table = layout.words if index == "words" else layout.trigrams
    return sql(_filled(_MATCHING, layout, table), index=index, conditions=conditions)


@lru_cache(maxsize=128)
def _looking_up(layout: _Layout, conditions: str) -> str:
    return _filled(_LOOKING_UP, layout, "") + conditions


def _conditions(substrate: TextSubstrate, scope: Scope, groups: Groups, known: Sequence[int]) -> _Conditions:
    """The conditions of a scope; without tags and the like their text is made once for each shape of a scope."""
    spaces, kind, entity_type, tags, superseded, _, memories = scope
    if tags or groups or known or memories is not ANY_MEMORY or len(spaces) > _SPACES_MAX:
        where = _where(substrate, scope, groups, known)
        return where.text, where.args
    shape = (substrate, len(spaces), kind is not None, entity_type is not None, superseded)
    named = [one for one in (kind, entity_type) if one is not None]
    args: list[object] = [*spaces, *named, *(() if superseded else spaces)]
    return _plain_text(*shape), args


@lru_cache(maxsize=128)
def _plain_text(substrate: TextSubstrate, spaces: int, kind: bool, entity_type: bool, superseded: bool) -> str:
    scope = Scope([""] * spaces, "" if kind else None, "" if entity_type else None, superseded=superseded)
    return _where(substrate, scope, (), ()).text


def _where(substrate: TextSubstrate, scope: Scope, groups: Groups, known: Sequence[int]) -> Where:
    layout = _LAYOUTS[substrate]
    where = Where("r.deleted_at IS NULL")
    where.among("r.namespace", scope.namespaces)
    where.equal("r.kind", scope.kind)
    where.equal("r.entity_type", scope.entity_type)
    if scope.tags:
        where.any_tag(layout.tags, layout.tags_path, scope.tags)
    where.extend(scope.memories.conditions())
    if not scope.superseded:
        where.add(sql(_NOT_SUPERSEDED, marks=marks(len(scope.namespaces))), *scope.namespaces)
    for group in groups:
        _hold(where, layout, group)
    if known:
        where.add("r.seq NOT IN (SELECT value FROM json_each(?))", json.dumps(list(known)))
    return where


def _hold(where: Where, layout: _Layout, spellings: Sequence[str]) -> None:
    """One more condition: the record holds one of the spellings, whose ASCII letters are lower case."""
    tests = " OR ".join([sql(_HOLDS, body=layout.body)] * len(spellings))
    where.add("(" + tests + ")", *(spelling for spelling in spellings for _ in range(2)))


@lru_cache(maxsize=128)
def _filled(text: str, layout: _Layout, table: str) -> str:
    return sql(
        text,
        table=table,
        records=layout.records,
        body=layout.body,
        salience=layout.salience,
        name_key=layout.name_key,
        weights=_WEIGHTS,
        seq_of=text_places.SEQ_OF,
    )


def _indexed(text: str | None) -> str:
    """The text as the indexes get it: composed, and with blanks behind, so that each character begins a trigram."""
    return normal_form("NFC", text) + "  " if text else ""


def _for_both(statement: str) -> dict[TextSubstrate, tuple[str, str]]:
    """A prepared write of each substrate: for the word index, then for the trigram index."""
    return {
        name: (sql(statement, table=layout.words), sql(statement, table=layout.trigrams))
        for name, layout in _LAYOUTS.items()
    }


_PUT: Final = _for_both("INSERT INTO {table} (rowid, title, body) VALUES (?, ?, ?)")
_REPLACE: Final = _for_both("INSERT OR REPLACE INTO {table} (rowid, title, body) VALUES (?, ?, ?)")
_TRIGRAMS_FROM: Final = {
    name: sql("SELECT term FROM {table} WHERE term >= ? AND term < ? LIMIT ?", table=layout.terms)
    for name, layout in _LAYOUTS.items()
}
_REMOVE: Final = _for_both("DELETE FROM {table} WHERE rowid = ?")
