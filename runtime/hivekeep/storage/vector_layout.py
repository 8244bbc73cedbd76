"""How the vectors of one model lie in the file, and the statements over them.

Keeps true: `vectors` has one row for each vector, and that row alone says whose it is, of which text it was made and
where it lies: `embedding` NULL means in the sqlite-vec tables of the model, a blob means in the row itself, which is
where it goes on a platform that cannot load the extension. What the tables of the extension hold beside that belongs to
nobody and is never answered (ADR 0018).

A vector is little-endian 32-bit floats of L2 norm 1. Its place is `2 * seq`, one more for a note: the key of its rows
in every table here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import sql
from hivekeep.storage.vector_codes import code_bits
from hivekeep_contract.limits import VECTOR_CHUNK_SIZE, VECTOR_CODE_CHUNK_SIZE, VECTOR_SAMPLE_EVERY

FLOAT_BYTES: Final = 4
DIGITS: Final = 6
"""Digits of a similarity: what 32-bit floats keep of a sum of some hundred products; routes may differ in the last."""
FLOATS_PREFIX: Final = "vector_floats_"
CODES_PREFIX: Final = "vector_codes_"

_SPREAD: Final = 0x9E3779B1
_SPREAD_SIZE: Final = 2**32
_SAMPLED_BELOW: Final = _SPREAD_SIZE // VECTOR_SAMPLE_EVERY
SAMPLED_PLACES: Final = f"(place >> 1) * {_SPREAD} & {_SPREAD_SIZE - 1} < {_SAMPLED_BELOW}"
"""SQL: what `is_sampled` says of a place."""


class Model(NamedTuple):
    """One revision of an embedding model; `dims` is the length of its vectors in floats."""

    id: int
    name: str
    revision: str
    dims: int


class Scope(NamedTuple):
    """Whose vectors a search compares: live or deleted records of one substrate; `kind` None is every kind."""

    substrate: str
    namespaces: Sequence[str]
    kind: str | None = None


class Part(NamedTuple):
    """The part of a scope that lies in one namespace; `kind` None is every kind."""

    namespace: str
    substrate: str
    kind: str | None

    def args(self) -> tuple[str, ...]:
        """The last arguments of a statement that searches it."""
        return (self.namespace, self.substrate) if self.kind is None else (self.namespace, self.substrate, self.kind)


class Near(NamedTuple):
    """A vector that a search found: the record's `seq`, the cosine of the angle, and the hash of the text it is of."""

    seq: int
    similarity: float
    source_hash: int


class Statements(NamedTuple):
    """The statements over the sqlite-vec tables of one model, for the partitions of one namespace and substrate.

    The arguments of those that search: the query or its code, how many, a distance, the model's id, namespace,
    substrate, kind. Those that end in `_of_kind` look at one kind, the others take no kind and look at all of them.
    """

    first: str
    first_of_kind: str
    exact: str
    exact_of_kind: str
    sampled: str
    sampled_of_kind: str
    within: str
    within_of_kind: str
    among: str
    whole: str
    whole_of_kind: str
    partition: str
    put_floats: str
    change_floats: str
    drop_floats: str
    put_code: str
    drop_code: str
    stray: str
    lost: str


def place(substrate: str, seq: int) -> int:
    """The key of a record's vector."""
    return 2 * seq + (substrate == "note")


def is_sampled(seq: int) -> bool:
    """True for one record in `VECTOR_SAMPLE_EVERY`, so spread that those of one rhythm are not all in or all out."""
    return seq * _SPREAD % _SPREAD_SIZE < _SAMPLED_BELOW


def is_indexed(tx: Tx, model: Model) -> bool:
    """Whether the sqlite-vec tables of a model were made; they may still be out of reach of this platform."""
    return tx.one(_IS_INDEXED, (_floats(model),)) is not None


def make_tables(tx: Tx, model: Model) -> None:
    """Make the sqlite-vec tables of a model unless they are there; the extension must be loaded."""
    if is_indexed(tx, model):
        return
    tx.run(sql(_FLOATS, table=_floats(model), dims=str(model.dims), chunk=str(VECTOR_CHUNK_SIZE)))
    tx.run(sql(_CODES, table=_codes(model), bits=str(code_bits(model.dims)), chunk=str(VECTOR_CODE_CHUNK_SIZE)))


def drop_tables(tx: Tx, model: Model) -> None:
    """Remove the sqlite-vec tables of a model; the extension must be loaded."""
    for table in (_floats(model), _codes(model)):
        tx.run(sql("DROP TABLE IF EXISTS {table}", table=table))


@lru_cache(maxsize=32)
def statements(model: Model) -> Statements:
    """The statements of a model; the same texts every time, so that they stay prepared."""
    floats, codes = _floats(model), _codes(model)
    return Statements(
        first=_for(_FIRST, floats, ""),
        first_of_kind=_for(_FIRST, floats, _OF_KIND),
        exact=_for(_EXACT, floats, ""),
        exact_of_kind=_for(_EXACT, floats, _OF_KIND),
        sampled=_for(_SAMPLED, codes, ""),
        sampled_of_kind=_for(_SAMPLED, codes, _OF_KIND),
        within=_for(_WITHIN, codes, ""),
        within_of_kind=_for(_WITHIN, codes, _OF_KIND),
        among=_for(_AMONG, floats, ""),
        whole=_for(_WHOLE, floats, ""),
        whole_of_kind=_for(_WHOLE, floats, " AND v.kind = ?4"),
        partition=_for(_PARTITION, floats, ""),
        put_floats=_for(_PUT_FLOATS, floats, ""),
        change_floats=_for(_CHANGE_FLOATS, floats, ""),
        drop_floats=_for(_DROP, floats, ""),
        put_code=_for(_PUT_CODE, codes, ""),
        drop_code=_for(_DROP, codes, ""),
        stray=_for(_STRAY, floats, ""),
        lost=_for(_LOST, floats, ""),
    )


# From the end: these tables are the youngest.
_IS_INDEXED: Final = "SELECT 1 FROM sqlite_schema WHERE name = ? ORDER BY rowid DESC LIMIT 1"

# Every kind is a partition of its own: a search of one kind reads nothing else, and one of all kinds names none.
_FLOATS: Final = (
    "CREATE VIRTUAL TABLE {table} USING vec0(namespace TEXT PARTITION KEY, substrate TEXT PARTITION KEY,"
    " kind TEXT PARTITION KEY, embedding FLOAT[{dims}] DISTANCE_METRIC=cosine, chunk_size={chunk})"
)
# The sampled codes are apart from the others, so that a first look costs no more than the sample.
_CODES: Final = (
    "CREATE VIRTUAL TABLE {table} USING vec0(namespace TEXT PARTITION KEY, substrate TEXT PARTITION KEY,"
    " kind TEXT PARTITION KEY, sampled INTEGER PARTITION KEY, code BIT[{bits}], chunk_size={chunk})"
)
_OF_KIND: Final = " AND kind = ?7"

_EXACT: Final = (
    "WITH near AS MATERIALIZED (SELECT rowid AS place, distance FROM {table}"
    " WHERE embedding MATCH ?1 AND k = ?2 AND distance >= ?3 AND namespace = ?5 AND substrate = ?6{kind})"
    " SELECT near.place >> 1, near.distance, v.source_hash FROM near"
    " LEFT JOIN vectors AS v ON v.model_id = ?4 AND v.place = near.place AND v.embedding IS NULL"
)
# Without the condition that continues a page, which the extension checks for every vector.
_FIRST: Final = _EXACT.replace(" AND distance >= ?3", "") + " WHERE near.distance IS NOT NULL"
_SAMPLED: Final = (
    "SELECT distance FROM {table} WHERE code MATCH vec_bit(?1) AND k = ?2"
    " AND namespace = ?5 AND substrate = ?6{kind} AND sampled = 1"
)
_WITHIN: Final = (
    "SELECT rowid, distance FROM {table} WHERE code MATCH vec_bit(?1) AND k = ?2 AND distance <= ?3"
    " AND namespace = ?5 AND substrate = ?6{kind}"
)
# CROSS JOIN keeps the order: each place is looked up by its key; the extension has no other way but reading everything.
_AMONG: Final = (
    "SELECT v.place >> 1, vec_distance_cosine(f.embedding, ?1), v.source_hash FROM json_each(?2) AS wanted"
    " CROSS JOIN vectors AS v ON v.model_id = ?3 AND v.place = wanted.value"
    " CROSS JOIN {table} AS f ON f.rowid = v.place WHERE v.embedding IS NULL ORDER BY 2, 1 LIMIT ?4"
)
_WHOLE: Final = (
    "SELECT v.place >> 1, v.source_hash, f.embedding FROM vectors AS v CROSS JOIN {table} AS f ON f.rowid = v.place"
    " WHERE v.model_id = ?1 AND v.namespace = ?2 AND v.substrate = ?3{kind} AND v.embedding IS NULL"
)
_PARTITION: Final = "SELECT namespace, kind FROM {table} WHERE rowid = ?"
_PUT_FLOATS: Final = "INSERT INTO {table} (rowid, namespace, substrate, kind, embedding) VALUES (?1, ?2, ?3, ?4, ?5)"
_CHANGE_FLOATS: Final = "UPDATE {table} SET embedding = ?2 WHERE rowid = ?1"
_PUT_CODE: Final = (
    "INSERT INTO {table} (rowid, namespace, substrate, kind, sampled, code) VALUES (?1, ?2, ?3, ?4, ?5, vec_bit(?6))"
)
_DROP: Final = "DELETE FROM {table} WHERE rowid = ?"
_STRAY: Final = (
    "SELECT r.rowid FROM {table}_rowids AS r LEFT JOIN vectors AS v ON v.model_id = ?1 AND v.place = r.rowid"
    " AND v.embedding IS NULL WHERE v.place IS NULL LIMIT ?2"
)
_LOST: Final = (
    "SELECT v.place FROM vectors AS v LEFT JOIN {table}_rowids AS r ON r.rowid = v.place"
    " WHERE v.model_id = ?1 AND v.embedding IS NULL AND r.rowid IS NULL LIMIT ?2"
)
# The extension keeps the floats of a chunk in one blob of an ordinary table, which can be read without it.
_WITHOUT_EXTENSION: Final = (
    "SELECT v.place, v.source_hash, coalesce(v.embedding, substr(c.vectors, 1 + r.chunk_offset * {bytes}, {bytes}))"
    " FROM vectors AS v LEFT JOIN {table}_rowids AS r ON r.rowid = v.place"
    " LEFT JOIN {table}_vector_chunks00 AS c ON c.rowid = r.chunk_id WHERE "
)
_APART: Final = (
    "SELECT v.place, v.source_hash, v.embedding FROM vectors AS v INDEXED BY vectors_apart"
    " WHERE v.embedding IS NOT NULL AND "
)
_IN_SCOPE: Final = (
    "v.model_id = ?1 AND v.place > ?2 AND v.substrate = ?3 AND v.namespace IN (SELECT value FROM json_each(?4))"
    " AND (?5 IS NULL OR v.kind = ?5) ORDER BY v.place LIMIT ?6"
)
_AT_PLACES: Final = "v.model_id = ?1 AND v.place IN (SELECT value FROM json_each(?2))"


class Reading(NamedTuple):
    """The two statements that give (place, source hash, embedding): of a scope in runs of places, and of given places.

    Arguments of the first: the model's id, the place before the run, substrate, namespaces as JSON, kind or None, rows.
    Of the second: the model's id, places as JSON.
    """

    scope: str
    places: str


APART: Final = Reading(_APART + _IN_SCOPE, _APART + _AT_PLACES)
"""Vectors that lie in the row itself."""
ANY_APART: Final = "SELECT 1 FROM vectors INDEXED BY vectors_apart WHERE model_id = ? AND embedding IS NOT NULL LIMIT 1"
"""Whether a model has such a vector; usually none has."""


@lru_cache(maxsize=32)
def without_extension(model: Model) -> Reading:
    """Every vector of a model whose sqlite-vec tables were made, where the extension cannot be loaded."""
    source = sql(_WITHOUT_EXTENSION, table=_floats(model), bytes=str(FLOAT_BYTES * model.dims))
    return Reading(source + _IN_SCOPE, source + _AT_PLACES)


def _for(text: str, table: str, kind: str) -> str:
    return sql(text, table=table, kind=kind)


def _floats(model: Model) -> str:
    return FLOATS_PREFIX + str(model.id)


def _codes(model: Model) -> str:
    return CODES_PREFIX + str(model.id)
