"""The vectors of records: one a record and model, written behind the record by whoever ran the model.

Keeps true: a record's own write never comes here, so a vector may be of a text that its record no longer has, of a
deleted record or of none. It is VALID only if its record is live and `source_hash` equals that of the stored title and
body; a search checks that on what it is about to show, and what it shows is right whatever a queue still has to do.

A record is named by its substrate ('entity' or 'note') and `seq`. Functions take a `Tx`; a search needs a reader, all
that change something a write transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple

from hivekeep.storage import vector_layout as layout
from hivekeep.storage import vector_routes as routes
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.statements import sql
from hivekeep.storage.vector_codes import code_of
from hivekeep.storage.vector_layout import FLOAT_BYTES, Model, Near, Scope
from hivekeep.storage.vector_routes import NOTE_ROUTES

__all__ = ["NOTE_ROUTES", "Model", "Near", "Scope", "VectorRow", "nearest", "ranked", "similarities"]

Key = tuple[str, int]
"""(substrate, seq) of a record."""


class VectorRow(NamedTuple):
    """The vector of one record: `embedding` is little-endian 32-bit floats of L2 norm 1, as many as the model has dims.

    `namespace` and `kind` are those of the record; `source_hash` is that of the text the vector was made of.
    """

    substrate: str
    seq: int
    namespace: str
    kind: str
    source_hash: int
    embedding: bytes


class Findings(NamedTuple):
    """How many vectors of a model are of no record, are of another text than their live record has, are lost from the
    tables of sqlite-vec; and how many rows of those tables belong to no vector."""

    gone: int
    stale: int
    lost: int
    stray: int


_HASH_BYTES: Final = 8
_NO_LIMIT: Final = -1

_MODEL: Final = "SELECT id, name, revision, dims FROM embedding_models"
_FIND_MODEL: Final = _MODEL + " WHERE name = ? AND revision = ?"
_MODELS: Final = _MODEL + " ORDER BY id"
_REGISTER: Final = "INSERT INTO embedding_models (name, revision, dims, created_at) VALUES (?, ?, ?, ?)"

_PUT: Final = (
    "INSERT INTO vectors (model_id, place, substrate, namespace, kind, source_hash, embedding)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (model_id, place) DO UPDATE SET namespace = excluded.namespace,"
    " kind = excluded.kind, source_hash = excluded.source_hash, embedding = excluded.embedding"
)
_REMOVE: Final = "DELETE FROM vectors WHERE model_id = ? AND place = ?"
_REMOVE_MODEL: Final = "DELETE FROM vectors WHERE model_id = ?"
_FORGET_MODEL: Final = "DELETE FROM embedding_models WHERE id = ?"
_COUNT: Final = (
    "SELECT count(*) FROM vectors WHERE namespace IN (SELECT value FROM json_each(?))"
    " AND model_id = ? AND substrate = ?"
)
_COUNT_OF_KIND: Final = _COUNT + " AND kind = ?"
_HASHES: Final = (
    "SELECT place >> 1, source_hash FROM vectors WHERE model_id = ? AND place IN (SELECT value FROM json_each(?))"
)
_GONE: Final = (
    "SELECT place FROM vectors AS v WHERE model_id = ?1 AND CASE substrate"
    " WHEN 'note' THEN NOT EXISTS (SELECT 1 FROM notes WHERE seq = v.place >> 1)"
    " ELSE NOT EXISTS (SELECT 1 FROM entities WHERE seq = v.place >> 1) END LIMIT ?2"
)
_APART: Final = (
    "SELECT substrate, place >> 1, namespace, kind, source_hash, embedding FROM vectors"
    " WHERE model_id = ? AND embedding IS NOT NULL LIMIT ?"
)
_ANY_APART: Final = "SELECT place FROM vectors WHERE model_id = ? AND embedding IS NOT NULL LIMIT ?"
_SOURCES: Final = (
    "SELECT v.place >> 1, v.source_hash, r.{title}, r.{body} FROM vectors AS v JOIN {records} AS r"
    " ON r.seq = v.place >> 1 WHERE v.model_id = ? AND v.substrate = ? AND r.deleted_at IS NULL AND v.place > ?"
    " ORDER BY v.place LIMIT ?"
)
_SOURCES_OF: Final = {
    "entity": sql(_SOURCES, title="name", body="description", records="entities"),
    "note": sql(_SOURCES, title="name", body="content", records="notes"),
}
_ROWS_AT_ONCE: Final = 500


def source_hash(title: str | None, body: str | None) -> int:
    """The fingerprint of a record's title and body, 63 bits; None is the empty text."""
    digest = blake2b(f"{title or ''}\n\n{body or ''}".encode(), digest_size=_HASH_BYTES).digest()
    return int.from_bytes(digest) >> 1


def find_model(tx: Tx, name: str, revision: str) -> Model | None:
    """The model of a name and revision, once it was registered."""
    row = tx.one(_FIND_MODEL, (name, revision))
    return None if row is None else Model._make(row)


def models(tx: Tx) -> list[Model]:
    """Every registered model, oldest first."""
    return [Model._make(row) for row in tx.all(_MODELS)]


def register_model(tx: Tx, name: str, revision: str, dims: int, now_us: int) -> Model:
    """The model of a name and revision, stored with its tables unless it is known.

    Raises ValueError when it is known with other dims: that is another revision.
    """
    known = find_model(tx, name, revision)
    if known is None:
        known = Model(tx.insert(_REGISTER, (name, revision, dims, now_us)), name, revision, dims)
    elif known.dims != dims:
        raise ValueError(f"{name} {revision} has vectors of {known.dims} floats in this store, not of {dims}")
    if tx.vectors_ready():
        layout.make_tables(tx, known)
    return known


def forget_model(tx: Tx, model: Model) -> None:
    """Remove a model with its vectors; raises ValueError where it has tables whose extension cannot be loaded."""
    if layout.is_indexed(tx, model):
        if not tx.vectors_ready():
            raise ValueError(f"the vectors of {model.name} {model.revision} can only be removed with sqlite-vec")
        layout.drop_tables(tx, model)
    tx.run(_REMOVE_MODEL, (model.id,))
    tx.run(_FORGET_MODEL, (model.id,))


def put_many(tx: Tx, model: Model, rows: Iterable[VectorRow]) -> None:
    """Store vectors, each instead of what its record had of this model.

    Raises ValueError when one has not the length of the model's vectors.
    """
    rows = list(rows)
    for row in rows:
        if len(row.embedding) != FLOAT_BYTES * model.dims:
            raise ValueError(f"a vector of {model.name} has {FLOAT_BYTES * model.dims} bytes, not {len(row.embedding)}")
    indexing = tx.vectors_ready()
    if indexing:
        layout.make_tables(tx, model)
    for row in rows:
        key = layout.place(row.substrate, row.seq)
        apart = None if indexing else row.embedding
        tx.run(_PUT, (model.id, key, row.substrate, row.namespace, row.kind, row.source_hash, apart))
        if indexing:
            _index(tx, model, key, row)


def remove_many(tx: Tx, model: Model, keys: Iterable[Key]) -> None:
    """Remove the vectors of records; a record without one is no error."""
    _remove(tx, model, [layout.place(substrate, seq) for substrate, seq in keys])


def nearest(tx: Tx, model: Model, query: bytes, scope: Scope, k: int) -> list[Near]:
    """The `k` vectors of the scope with the smallest angle to the query, best first and those alike by `seq`.

    Over a large scope the order is approximate. They may be those of deleted or changed records; see `ranked`.
    """
    return list(islice(ranked(tx, model, query, scope, k), k))


def ranked(tx: Tx, model: Model, query: bytes, scope: Scope, first: int) -> Iterator[Near]:
    """Every vector of the scope, best first and those alike by `seq`, read as far as somebody asks.

    For a caller that leaves some out and does not know how many: `first` is how many it expects to read. Reading on
    costs one more search at each doubling. The iterator lives as long as the loan of `tx`. Raises EmbedderUnavailable
    for a query that has not the length of the model's vectors.
    """
    return routes.ranked(tx, model, query, scope, first)


def similarities(tx: Tx, model: Model, query: bytes, substrate: str, seqs: Sequence[int]) -> list[Near]:
    """The vectors of given records, best first; those without one are left out. About 4 us for each."""
    return routes.among(tx, model, query, [layout.place(substrate, seq) for seq in seqs])


def count(tx: Tx, model: Model, scope: Scope) -> int:
    """How many vectors the scope has, those of deleted and changed records included."""
    args = (dump(list(scope.namespaces)), model.id, scope.substrate)
    row = tx.one(_COUNT, args) if scope.kind is None else tx.one(_COUNT_OF_KIND, (*args, scope.kind))
    assert row is not None
    return int(row[0])


def hashes(tx: Tx, model: Model, substrate: str, seqs: Sequence[int]) -> dict[int, int]:
    """The `source_hash` of the vector of each record that has one."""
    places = [layout.place(substrate, seq) for seq in seqs]
    return dict(tx.all(_HASHES, (model.id, dump(places))))


def is_swept(tx: Tx, model: Model) -> bool:
    """Whether `sweep` has nothing to do; needs a reader only. Looks at the key of every vector of the model."""
    statements = [_GONE]
    if tx.vectors_ready():
        statements.append(_ANY_APART)
        if layout.is_indexed(tx, model):
            texts = layout.statements(model)
            statements += (texts.stray, texts.lost)
    return not any(_places(tx, statement, model, 1) for statement in statements)


def sweep(tx: Tx, model: Model, limit: int) -> int:
    """Clear up at most `limit` vectors of each sort and answer how many they were; 0 = nothing is left to do.

    Removed are vectors whose record was hard-deleted, and what only one of `vectors` and the tables of the extension
    has; vectors that were written without the extension move into its tables.
    """
    swept = _places(tx, _GONE, model, limit)
    _remove(tx, model, swept)
    if not tx.vectors_ready():
        return len(swept)
    apart = [VectorRow._make(row) for row in tx.all(_APART, (model.id, limit))]
    put_many(tx, model, apart)
    if layout.is_indexed(tx, model):
        texts = layout.statements(model)
        remains = _places(tx, texts.stray, model, limit) + _places(tx, texts.lost, model, limit)
        _remove(tx, model, remains)
        swept += remains
    return len(swept) + len(apart)


def examine(tx: Tx, model: Model) -> Findings:
    """What is wrong with the vectors of a model; reads the text of every record that has one."""
    lost: list[int] = []
    stray: list[int] = []
    if layout.is_indexed(tx, model):
        texts = layout.statements(model)
        lost, stray = (_places(tx, statement, model, _NO_LIMIT) for statement in (texts.lost, texts.stray))
    return Findings(len(_places(tx, _GONE, model, _NO_LIMIT)), _stale(tx, model), len(lost), len(stray))


def _stale(tx: Tx, model: Model) -> int:
    found = 0
    for substrate, statement in _SOURCES_OF.items():
        after = -1
        while rows := tx.all(statement, (model.id, substrate, after, _ROWS_AT_ONCE)):
            found += sum(made_of != source_hash(title, body) for _, made_of, title, body in rows)
            after = layout.place(substrate, rows[-1][0])
    return found


def _places(tx: Tx, statement: str, model: Model, limit: int) -> list[int]:
    return [row[0] for row in tx.all(statement, (model.id, limit))]


def _remove(tx: Tx, model: Model, places: Iterable[int]) -> None:
    """Remove vectors by place; without the extension remains stay in its tables, for `sweep`."""
    indexed = layout.is_indexed(tx, model) and tx.vectors_ready()
    for key in places:
        tx.run(_REMOVE, (model.id, key))
        if indexed:
            _unindex(tx, model, key)


def _index(tx: Tx, model: Model, key: int, row: VectorRow) -> None:
    """Put a vector into the tables of the extension. In its own partition the floats change in place, which leaves no
    hole in a chunk; codes cannot be changed."""
    texts = layout.statements(model)
    partition = tx.one(texts.partition, (key,))
    if partition == (row.namespace, row.kind):
        tx.run(texts.change_floats, (key, row.embedding))
    else:
        if partition is not None:
            tx.run(texts.drop_floats, (key,))
        tx.run(texts.put_floats, (key, row.namespace, row.substrate, row.kind, row.embedding))
    if partition is not None:
        tx.run(texts.drop_code, (key,))
    code = code_of(row.embedding)
    tx.run(texts.put_code, (key, row.namespace, row.substrate, row.kind, layout.is_sampled(row.seq), code))


def _unindex(tx: Tx, model: Model, key: int) -> None:
    texts = layout.statements(model)
    tx.run(texts.drop_floats, (key,))
    tx.run(texts.drop_code, (key,))
