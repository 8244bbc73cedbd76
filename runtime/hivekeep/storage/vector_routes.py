"""The ways to the nearest vectors of a scope, and which one a search takes.

Keeps true: whatever the route, a search that is read to its end answers every vector of its scope once, with the
cosine of its angle to the query; only the order of what a route by codes answers is approximate. `exact` reads the
floats of a partition, `small` has them in memory if it can, `by_code` first compares one-bit codes and then the floats
of the best; what the extension cannot be asked for is compared here. A graph index would be one more `Route`, and one
more line in `_route`.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from math import ceil, sqrt
from operator import itemgetter, mul
from typing import Final

from hivekeep.storage.engine import Row, Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.statements import sql
from hivekeep.storage.vector_codes import code_bits, code_of, floats_of
from hivekeep.storage.vector_layout import (
    ANY_APART,
    APART,
    DIGITS,
    FLOAT_BYTES,
    SAMPLED_PLACES,
    Model,
    Near,
    Part,
    Reading,
    Scope,
    is_indexed,
    statements,
    without_extension,
)
from hivekeep.storage.vector_memory import VECTOR_MEMORY
from hivekeep_contract.errors import EmbedderUnavailable
from hivekeep_contract.limits import (
    VECTOR_CANDIDATES_EACH,
    VECTOR_CANDIDATES_MAX,
    VECTOR_CANDIDATES_MIN,
    VECTOR_EXACT_MAX,
    VECTOR_SAMPLE_EVERY,
)

_ROWS_MAX: Final = 4096
"""Rows that the extension answers to one question."""
_DISTANCE: Final = itemgetter(1)
_NEAREST: Final = -2.0
"""No distance is smaller."""
_ROWS_AT_ONCE: Final = 500
_WIDENINGS_MAX: Final = 3
_WIDENING_SHARE: Final = 64
"""A radius that held too few codes grows by the bits of a code divided by this: about half a standard deviation."""

_LARGER: Final = "SELECT 1 FROM vectors WHERE model_id = ? AND namespace = ? AND substrate = ? LIMIT 1 OFFSET ?"
_LARGER_OF_KIND: Final = _LARGER.replace(" LIMIT", " AND kind = ? LIMIT")
_SAMPLE_LARGER: Final = sql(
    "SELECT 1 FROM vectors INDEXED BY vectors_sampled WHERE model_id = ? AND namespace = ? AND substrate = ?"
    " AND {sampled} LIMIT 1 OFFSET ?",
    sampled=SAMPLED_PLACES,
)
_SAMPLE_LARGER_OF_KIND: Final = _SAMPLE_LARGER.replace(" LIMIT", " AND kind = ? LIMIT")
_SURELY_LESS: Final = 2
"""A scope of which the sample has less than half of its share at the limit is under it."""
_PLACES: Final = "SELECT place FROM vectors WHERE model_id = ? AND namespace = ? AND substrate = ?"
_PLACES_OF_KIND: Final = _PLACES + " AND kind = ?"


Route = Callable[[Tx, Model, bytes, Part, int], Iterator[Near]]
"""The vectors of a part, best first and those alike by `seq`; the number says how many are likely to be read."""


class RouteCounts:
    """How many note searches took which way since the process began, whatever store they were in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = {"note_search_ann_route_total": 0, "note_search_fallback_route_total": 0}

    def add(self, *, approximate: bool) -> None:
        """Count one search; it is approximate when any part of it compared codes."""
        with self._lock:
            self._counts["note_search_ann_route_total" if approximate else "note_search_fallback_route_total"] += 1

    def report(self) -> dict[str, int]:
        """The counts under their public names."""
        with self._lock:
            return dict(self._counts)


NOTE_ROUTES: Final = RouteCounts()


def ranked(tx: Tx, model: Model, query: bytes, scope: Scope, first: int) -> Iterator[Near]:
    """Every vector of the scope, best first and those alike by `seq`; see `vectors.ranked`."""
    _check_length(model, query)
    indexed = is_indexed(tx, model)
    searchable = indexed and tx.vectors_ready()
    arms: list[Iterator[Near]] = []
    approximate = False
    if not searchable or tx.one(ANY_APART, (model.id,)) is not None:
        reading = without_extension(model) if indexed and not searchable else APART
        arms.append(iter(_one_by_one(query, _in_scope(tx, model, reading, scope))))
    if searchable:
        for namespace in dict.fromkeys(scope.namespaces):
            part = Part(namespace, scope.substrate, scope.kind)
            route = _route(tx, model, part, first)
            approximate = approximate or route is by_code
            arms.append(route(tx, model, query, part, first))
    if scope.substrate == "note":
        NOTE_ROUTES.add(approximate=approximate)
    return arms[0] if len(arms) == 1 else merge(*arms, key=_best_first)


def among(tx: Tx, model: Model, query: bytes, places: Sequence[int]) -> list[Near]:
    """The vectors of given places, best first; see `vectors.similarities`."""
    _check_length(model, query)
    found = _one_by_one(query, tx.all(_reading(tx, model).places, (model.id, dump(places))))
    if _is_searchable(tx, model):
        found += _compared(tx, model, query, places)
        found.sort(key=_best_first)
    return found


def small(tx: Tx, model: Model, query: bytes, part: Part, first: int) -> Iterator[Near]:
    """Every vector of a part compared: in memory while the part does not change, otherwise as `exact` does."""
    held = VECTOR_MEMORY.part(tx, model, part)
    return exact(tx, model, query, part, first) if held is None else held.ranked(query, first)


def exact(tx: Tx, model: Model, query: bytes, part: Part, first: int) -> Iterator[Near]:
    """Every vector of a part compared, read in pages: each begins at the distance where the one before it ended."""
    texts = statements(model)
    statement = texts.first if part.kind is None else texts.first_of_kind
    beyond, size = _NEAREST, min(first + 1, _ROWS_MAX)
    while True:
        rows = tx.all(statement, (query, size, beyond, model.id, *part.args()))
        rows.sort(key=_DISTANCE)
        found = _near(rows)
        if len(rows) < size:
            yield from _held(found)
            return
        # What is as far as the last row may go on behind it; it waits for the page that has all of it.
        edge = found[-1].similarity
        known = len(found) - 1
        while known and found[known - 1].similarity == edge:
            known -= 1
        yield from _held(found[:known])
        if not known and size == _ROWS_MAX:
            yield from (near for near in _every_one(tx, model, query, part) if near.similarity <= edge)
            return
        beyond = rows[known][1]
        size = min(2 * size, _ROWS_MAX)
        statement = texts.exact if part.kind is None else texts.exact_of_kind


def by_code(tx: Tx, model: Model, query: bytes, part: Part, first: int) -> Iterator[Near]:
    """The best of those with the nearest codes, at least `first` of them; then what `exact` finds beside them."""
    wanted = _candidates_for(first)
    places = _nearest_codes(tx, model, query, part, wanted)
    found = _compared(tx, model, query, places, max(first, len(places) // VECTOR_CANDIDATES_EACH))
    yield from found
    given = {near.seq for near in found}
    for near in exact(tx, model, query, part, 2 * max(first, len(found))):
        if near.seq not in given:
            yield near


def _check_length(model: Model, query: bytes) -> None:
    if len(query) != FLOAT_BYTES * model.dims:
        raise EmbedderUnavailable(
            f"the vectors of {model.name} {model.revision} in this store have {model.dims} floats, that of the query"
            f" has {len(query) // FLOAT_BYTES}: the model behind this name was changed without a new revision"
        )


def _every_one(tx: Tx, model: Model, query: bytes, part: Part) -> list[Near]:
    """The vectors of a part, looked up one after the other: for more that are alike than one answer has room for."""
    statement = _PLACES if part.kind is None else _PLACES_OF_KIND
    places = [row[0] for row in tx.all(statement, (model.id, *part.args()))]
    return _compared(tx, model, query, places)


def _is_searchable(tx: Tx, model: Model) -> bool:
    """The model has sqlite-vec tables and this connection can ask them."""
    return is_indexed(tx, model) and tx.vectors_ready()


def _reading(tx: Tx, model: Model) -> Reading:
    """How to read the vectors that the extension cannot be asked for."""
    return without_extension(model) if is_indexed(tx, model) and not tx.vectors_ready() else APART


def _in_scope(tx: Tx, model: Model, reading: Reading, scope: Scope) -> Iterator[Row]:
    """The (place, source hash, embedding) of each such vector, a few hundred at a time."""
    namespaces = dump(list(scope.namespaces))
    after = -1
    while rows := tx.all(reading.scope, (model.id, after, scope.substrate, namespaces, scope.kind, _ROWS_AT_ONCE)):
        yield from rows
        after = rows[-1][0]


def _one_by_one(query: bytes, rows: Iterable[Row]) -> list[Near]:
    """The vectors of the rows compared here, best first."""
    wanted = floats_of(query)
    length = _length(wanted)
    found = []
    for key, source_hash, embedding in rows:
        if embedding is not None:
            numbers = floats_of(embedding)
            similarity = sum(map(mul, wanted, numbers)) / (length * _length(numbers))
            found.append(Near(key >> 1, round(similarity, DIGITS), source_hash))
    found.sort(key=_best_first)
    return found


def _compared(tx: Tx, model: Model, query: bytes, places: Sequence[int], limit: int = -1) -> list[Near]:
    """The vectors at places of the sqlite-vec tables, best first, at most `limit` of them; -1 is all."""
    return _held(_near(tx.all(statements(model).among, (query, dump(places), model.id, limit))))


def _route(tx: Tx, model: Model, part: Part, first: int) -> Route:
    """Of a large part by codes, unless so many are wanted of it that comparing everything is quicker."""
    if not _is_large(tx, model, part):
        return small
    return by_code if _candidates_for(first) <= VECTOR_CANDIDATES_MAX else exact


def _is_large(tx: Tx, model: Model, part: Part) -> bool:
    """Whether a part has more than `VECTOR_EXACT_MAX` vectors; of one that is far smaller only the sample is read."""
    surely = VECTOR_EXACT_MAX // (_SURELY_LESS * VECTOR_SAMPLE_EVERY)
    statement = _SAMPLE_LARGER if part.kind is None else _SAMPLE_LARGER_OF_KIND
    if surely and tx.one(statement, (model.id, *part.args(), surely)) is None:
        return False
    statement = _LARGER if part.kind is None else _LARGER_OF_KIND
    return tx.one(statement, (model.id, *part.args(), VECTOR_EXACT_MAX)) is not None


def _candidates_for(first: int) -> int:
    return max(VECTOR_CANDIDATES_MIN, first * VECTOR_CANDIDATES_EACH)


def _nearest_codes(tx: Tx, model: Model, query: bytes, part: Part, wanted: int) -> list[int]:
    """The places of about `wanted` codes that differ from the query's in the fewest bits, at most twice as many.

    The extension is slow at choosing many of many, but quick at answering all that are near enough. So the sample
    says first how near the best `wanted` must lie.
    """
    texts = statements(model)
    code = code_of(query)
    rank = ceil(wanted / VECTOR_SAMPLE_EVERY)
    sampled = texts.sampled if part.kind is None else texts.sampled_of_kind
    radius = max((row[0] for row in tx.all(sampled, (code, rank, None, model.id, *part.args()))), default=0.0)
    within = texts.within if part.kind is None else texts.within_of_kind
    rows: list[Row] = []
    for _ in range(_WIDENINGS_MAX):
        rows = tx.all(within, (code, _ROWS_MAX, radius, model.id, *part.args()))
        if 2 * len(rows) >= wanted:
            break
        radius += code_bits(model.dims) / _WIDENING_SHARE
    rows.sort(key=_DISTANCE)
    return [row[0] for row in rows[: 2 * wanted]]


def _near(rows: list[Row]) -> list[Near]:
    return [Near(seq, round(1 - distance, DIGITS), source_hash) for seq, distance, source_hash in rows]


def _held(found: list[Near]) -> list[Near]:
    """Those that are vectors of the model, best first: without a hash they are remains in the tables of the extension.

    They come in the order of their distances, so only where similarities are alike is there anything to sort.
    """
    held = [near for near in found if near.source_hash is not None]
    if len({near.similarity for near in held}) < len(held):
        held.sort(key=_best_first)
    return held


def _best_first(near: Near) -> tuple[float, int]:
    return -near.similarity, near.seq


def _length(numbers: array[float]) -> float:
    return sqrt(sum(map(mul, numbers, numbers)))
