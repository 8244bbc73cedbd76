"""Vectors beside the records: storing, searching by every route, and what remains when a record goes."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivekeep.storage import notes, vector_layout, vector_routes, vectors
from hivekeep.storage.connections import SqliteTx
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from hivekeep.storage.vector_codes import code_bits, code_of
from hivekeep.storage.vectors import Model, Scope, VectorRow
from hivekeep_contract.errors import EmbedderUnavailable
from support.stores import OPTIONS, note

DIMS = 8
NOW = 1_000_000


@pytest.fixture
def model(tx: Tx) -> Model:
    """A small model, registered."""
    return vectors.register_model(tx, "small", "1", DIMS, NOW)


def unit(*numbers: float) -> bytes:
    """The vector of length one in this direction, the missing floats zero."""
    padded = [*numbers, *[0.0] * (DIMS - len(numbers))]
    length = math.sqrt(sum(number * number for number in padded))
    return struct.pack(f"<{DIMS}f", *(number / length for number in padded))


def row(seq: int, embedding: bytes, **fields: object) -> VectorRow:
    """The vector of a memory in `local`, its hash its number."""
    return VectorRow("note", seq, "local", "memory", seq, embedding)._replace(**fields)  # type: ignore[arg-type]


def seqs(found: Sequence[vectors.Near]) -> list[int]:
    """The numbers of what was found, in order."""
    return [near.seq for near in found]


NOTES = Scope("note", ("local",))


def test_the_hash_tells_texts_apart_and_fits_an_integer_of_sqlite() -> None:
    """It depends on title and body, is 63 bits, and None is the empty text."""
    assert vectors.source_hash("a", "b") != vectors.source_hash("a", "c")
    assert vectors.source_hash(None, "b") == vectors.source_hash("", "b")
    assert vectors.source_hash(None, "a") != vectors.source_hash("a", None)
    assert vectors.source_hash("Ada", "Lovelace") == 8132905837007437776
    assert all(0 <= vectors.source_hash(str(number), None) < 2**63 for number in range(100))


def test_a_model_is_registered_once(tx: Tx, model: Model) -> None:
    """The same name and revision is the same model; another revision is another one; other dims are refused."""
    assert vectors.register_model(tx, "small", "1", DIMS, NOW + 1) == model
    assert vectors.find_model(tx, "small", "1") == model
    assert vectors.find_model(tx, "small", "2") is None
    other = vectors.register_model(tx, "small", "2", 16, NOW)
    assert vectors.models(tx) == [model, other]
    with pytest.raises(ValueError, match="vectors of 8 floats in this store, not of 9"):
        vectors.register_model(tx, "small", "1", 9, NOW)


def test_a_vector_of_another_length_is_refused(tx: Tx, model: Model) -> None:
    """Nothing is stored of the batch it is in."""
    with pytest.raises(ValueError, match="a vector of small has 32 bytes, not 4"):
        vectors.put_many(tx, model, [row(1, unit(1)), row(2, b"\0\0\0\0")])
    assert vectors.count(tx, model, NOTES) == 0


def test_the_nearest_come_first_and_those_alike_by_seq(tx: Tx, model: Model) -> None:
    """Similarity is the cosine, to six digits; equal vectors are in the order of their numbers, also where k ends."""
    directions = {5: (1, 0), 4: (1, 1), 3: (0, 1), 2: (1, 0), 9: (-1, 0), 1: (1, 1)}
    vectors.put_many(tx, model, [row(seq, unit(*direction)) for seq, direction in directions.items()])
    found = vectors.nearest(tx, model, unit(1), NOTES, 10)
    assert [(near.seq, near.similarity, near.source_hash) for near in found] == [
        (2, 1.0, 2),
        (5, 1.0, 5),
        (1, 0.707107, 1),
        (4, 0.707107, 4),
        (3, 0.0, 3),
        (9, -1.0, 9),
    ]
    assert [seqs(vectors.nearest(tx, model, unit(1), NOTES, k)) for k in (1, 3)] == [[2], [2, 5, 1]]


def test_a_scope_holds_substrate_namespaces_and_kind_apart(tx: Tx, model: Model) -> None:
    """An entity and a note with the same number and kind are two; a namespace named twice counts once."""
    rows = [
        row(1, unit(1)),
        row(1, unit(1), substrate="entity"),
        row(2, unit(1, 0.1), namespace="other"),
        row(3, unit(1, 0.2), kind="task"),
        row(4, unit(1, 0.3), namespace="other", kind="task"),
    ]
    vectors.put_many(tx, model, rows)

    def found(*scope: object) -> list[int]:
        looked_at = Scope(*scope)  # type: ignore[arg-type]
        near = vectors.nearest(tx, model, unit(1), looked_at, 10)
        assert vectors.count(tx, model, looked_at) == len(near)
        return seqs(near)

    assert found("note", ("local",)) == [1, 3]
    assert found("note", ("other", "local", "other")) == [1, 2, 3, 4]
    assert found("note", ("other", "local"), "task") == [3, 4]
    assert found("entity", ("local", "other")) == [1]
    assert found("entity", ("local",), "task") == []
    assert found("note", ()) == []


def test_a_new_vector_takes_the_place_of_the_former(tx: Tx, model: Model) -> None:
    """Of the same kind or of another one, a record has one vector of a model, and each model has its own."""
    other = vectors.register_model(tx, "other", "1", DIMS, NOW)
    for kind, direction in (("memory", (1, 0)), ("memory", (0, 1)), ("task", (1, 1))):
        vectors.put_many(tx, model, [row(1, unit(*direction), kind=kind, source_hash=7)])
    assert vectors.nearest(tx, model, unit(1), NOTES, 5) == [vectors.Near(1, 0.707107, 7)]
    assert vectors.count(tx, model, NOTES._replace(kind="memory")) == 0
    assert vectors.nearest(tx, other, unit(1), NOTES, 5) == []


def test_removed_vectors_are_gone(tx: Tx, model: Model) -> None:
    """A record without a vector is no error."""
    vectors.put_many(tx, model, [row(1, unit(1)), row(2, unit(0, 1))])
    vectors.remove_many(tx, model, [("note", 1), ("entity", 2), ("note", 77)])
    assert seqs(vectors.nearest(tx, model, unit(1), NOTES, 5)) == [2]
    assert vectors.hashes(tx, model, "note", [1, 2]) == {2: 2}


def test_given_records_are_compared(tx: Tx, model: Model) -> None:
    """Only those asked for, best first; those without a vector are left out."""
    vectors.put_many(tx, model, [row(seq, unit(1, seq)) for seq in (1, 2, 3)])
    found = vectors.similarities(tx, model, unit(1), "note", [3, 1, 9])
    assert [(near.seq, near.similarity) for near in found] == [(1, 0.707107), (3, 0.316228)]
    assert vectors.similarities(tx, model, unit(1), "entity", [3, 1]) == []


def test_reading_on_answers_each_vector_once_in_order(tx: Tx, model: Model) -> None:
    """However far it is read, and also where more vectors are alike than one question to the extension answers."""
    shuffled = random.Random(1)
    numbers = list(range(1, 5001))
    shuffled.shuffle(numbers)
    vectors.put_many(tx, model, [row(seq, unit(1, 0 if seq > 400 else seq)) for seq in numbers])
    found = list(vectors.ranked(tx, model, unit(1), NOTES, 3))
    assert seqs(found) == [*range(401, 5001), *range(1, 401)]


def test_a_model_is_forgotten_with_its_vectors(tx: Tx, model: Model) -> None:
    """Its tables are gone, its number is not given again."""
    vectors.put_many(tx, model, [row(1, unit(1))])
    vectors.forget_model(tx, model)
    assert vectors.find_model(tx, "small", "1") is None
    tables = "SELECT name FROM sqlite_schema WHERE name LIKE 'vector\\_%' ESCAPE '\\' AND name <> 'vector_stamps'"
    assert tx.all(tables) == []
    again = vectors.register_model(tx, "small", "1", DIMS, NOW)
    assert again.id == model.id + 1
    assert vectors.nearest(tx, again, unit(1), NOTES, 5) == []


# Every route answers the same.

COORDINATES = st.lists(st.integers(-3, 3), min_size=DIMS, max_size=DIMS).filter(any)
KINDS = st.sampled_from(["memory", "task"])
NAMESPACES = st.sampled_from(["local", "other", "third"])
STORED = st.lists(st.tuples(COORDINATES, NAMESPACES, KINDS), min_size=1, max_size=40)


@dataclass(frozen=True)
class Case:
    """Vectors of records 1, 2, 3 ..., a query and a scope."""

    stored: list[tuple[list[int], str, str]]
    query: list[int]
    scope: Scope

    def rows(self) -> list[VectorRow]:
        """What is stored."""
        return [
            row(seq, unit(*numbers), namespace=namespace, kind=kind)
            for seq, (numbers, namespace, kind) in enumerate(self.stored, 1)
        ]

    def answer(self) -> list[tuple[int, float]]:
        """(seq, similarity) of the scope, computed from the whole numbers."""
        found = []
        for seq, (numbers, namespace, kind) in enumerate(self.stored, 1):
            if namespace in self.scope.namespaces and self.scope.kind in (None, kind):
                found.append((seq, _cosine(self.query, numbers)))
        return sorted(found, key=lambda entry: (-round(entry[1], 5), entry[0]))


def _cosine(one: Sequence[int], other: Sequence[int]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


CASES = st.builds(
    Case,
    STORED,
    COORDINATES,
    st.builds(
        Scope, st.just("note"), st.lists(NAMESPACES, min_size=1, max_size=3).map(tuple), st.one_of(st.none(), KINDS)
    ),
)
QUICK = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
RECORDS = 40


@pytest.fixture
def store(tx: Tx) -> Tx:
    """A store with the notes whose vectors the examples of a property store, and a model."""
    for number in range(1, RECORDS + 1):
        notes.insert(tx, note(number))
    vectors.register_model(tx, "small", "1", DIMS, NOW)
    return tx


def _filled(tx: Tx, case: Case) -> Model:
    """The model, with the vectors of the case and no others."""
    (model,) = vectors.models(tx)
    vectors.remove_many(tx, model, [("note", seq) for seq in range(1, RECORDS + 1)])
    vectors.put_many(tx, model, case.rows())
    return model


def _check(tx: Tx, model: Model, case: Case, k: int) -> None:
    found = [(near.seq, near.similarity) for near in vectors.nearest(tx, model, unit(*case.query), case.scope, k)]
    expected = case.answer()[:k]
    assert [seq for seq, _ in found] == [seq for seq, _ in expected]
    assert [value for _, value in found] == pytest.approx([value for _, value in expected], abs=2e-6)


def _apart(tx: Tx) -> int:
    row = tx.one("SELECT count(*) FROM vectors WHERE embedding IS NOT NULL")
    assert row is not None
    return int(row[0])


@QUICK
@given(case=CASES, k=st.integers(1, 50))
def test_the_tables_of_the_extension_answer_what_arithmetic_says(store: Tx, case: Case, k: int) -> None:
    """Over any scope: the same records in the same order, the same cosines."""
    _check(store, _filled(store, case), case, k)


@QUICK
@given(case=CASES, k=st.integers(1, 50))
def test_without_the_extension_the_answer_is_the_same(store: Tx, case: Case, k: int) -> None:
    """Of vectors in its tables, written without it, and of both; once it is back, before and after a sweep."""
    rows = case.rows()
    model = _filled(store, case)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SqliteTx, "vectors_ready", lambda self: False)
        _check(store, model, case, k)
        vectors.put_many(store, model, [old._replace(embedding=unit(9), kind="task") for old in rows[::3]])
        vectors.put_many(store, model, rows[::3])
        vectors.remove_many(store, model, [("note", 1)])
        vectors.put_many(store, model, rows[:1])
        _check(store, model, case, k)
    assert _apart(store) == len(rows[::3])
    _check(store, model, case, k)
    assert vectors.sweep(store, model, 100) == len(rows[::3])
    assert (_apart(store), vectors.sweep(store, model, 100)) == (0, 0)
    _check(store, model, case, k)


@QUICK
@given(case=CASES)
def test_a_store_without_the_extension_from_the_start_moves_into_its_tables(store: Tx, case: Case) -> None:
    """A model that was registered without it answers the same, and a sweep with it makes the tables."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SqliteTx, "vectors_ready", lambda self: False)
        plain = vectors.register_model(store, "plain", "1", DIMS, NOW)
        vectors.put_many(store, plain, case.rows())
        _check(store, plain, case, 50)
    _check(store, plain, case, 50)
    assert vectors.sweep(store, plain, 100) == len(case.stored)
    _check(store, plain, case, 50)
    vectors.forget_model(store, plain)


@QUICK
@given(case=CASES, first=st.integers(1, 5))
def test_a_search_by_codes_that_is_read_to_its_end_answers_everything_once(store: Tx, case: Case, first: int) -> None:
    """Only the order is approximate, and each similarity is exact."""
    model = _filled(store, case)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vector_routes, "VECTOR_EXACT_MAX", 0)
        patched.setattr(vector_routes, "VECTOR_CANDIDATES_MIN", 4)
        found = list(vectors.ranked(store, model, unit(*case.query), case.scope, first))
    expected = dict(case.answer())
    assert sorted(seqs(found)) == sorted(expected)
    assert all(near.similarity == pytest.approx(expected[near.seq], abs=2e-6) for near in found)


def test_a_large_scope_is_searched_by_codes_and_counted(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 600 random vectors the ten nearest are found; one vector fewer than that and every one is compared."""
    dims = 64
    shuffled = random.Random(2)
    model = vectors.register_model(tx, "wide", "1", dims, NOW)
    made = [[shuffled.gauss(0, 1) for _ in range(dims)] for _ in range(600)]
    packed = [struct.pack(f"<{dims}f", *(x / math.hypot(*numbers) for x in numbers)) for numbers in made]
    vectors.put_many(tx, model, [row(seq, embedding) for seq, embedding in enumerate(packed, 1)])
    exact = vectors.nearest(tx, model, packed[7], NOTES, 10)
    before = vectors.NOTE_ROUTES.report()
    monkeypatch.setattr(vector_routes, "VECTOR_EXACT_MAX", 599)
    assert vectors.nearest(tx, model, packed[7], NOTES, 10) == exact
    vectors.nearest(tx, model, packed[7], NOTES._replace(kind="task"), 10)
    vectors.nearest(tx, model, packed[7], Scope("entity", ("local",)), 10)
    after = vectors.NOTE_ROUTES.report()
    assert {name: after[name] - before[name] for name in after} == {
        "note_search_ann_route_total": 1,
        "note_search_fallback_route_total": 1,
    }


def test_a_small_scope_is_known_by_its_sample(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """One vector in 32 is in the index of the sample; a scope whose share of it is small is not counted."""
    model = vectors.register_model(tx, "small", "1", DIMS, NOW)
    vectors.put_many(tx, model, [row(seq, unit(1, seq)) for seq in range(1, 301)])
    sampled = tx.all("SELECT place >> 1 FROM vectors INDEXED BY vectors_sampled WHERE " + vector_layout.SAMPLED_PLACES)
    assert sorted(seq for (seq,) in sampled) == [seq for seq in range(1, 301) if vector_layout.is_sampled(seq)]
    assert sum(map(vector_layout.is_sampled, range(32_000))) == 1000
    asked: list[str] = []

    class Watched(SqliteTx):
        def one(self, sql: str, args: Sequence[object] = ()) -> tuple[object, ...] | None:
            asked.append(sql)
            return super().one(sql, args)

    watched = Watched(tx._connection)  # type: ignore[attr-defined]
    for size, times in ((6000, 1), (100, 2)):
        monkeypatch.setattr(vector_routes, "VECTOR_EXACT_MAX", size)
        asked.clear()
        vectors.nearest(watched, model, unit(1), NOTES, 3)
        assert len([sql for sql in asked if "OFFSET" in sql]) == times


def test_a_search_that_wants_very_many_compares_everything(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the most candidates that codes may choose, the order is exact again."""
    model = vectors.register_model(tx, "small", "1", DIMS, NOW)
    vectors.put_many(tx, model, [row(seq, unit(1, seq)) for seq in range(1, 301)])
    monkeypatch.setattr(vector_routes, "VECTOR_EXACT_MAX", 10)
    monkeypatch.setattr(vector_routes, "VECTOR_CANDIDATES_MAX", 100)
    assert seqs(vectors.nearest(tx, model, unit(1), NOTES, 200)) == list(range(1, 201))


def test_a_query_of_another_length_is_refused(tx: Tx, model: Model) -> None:
    """It is of another model than the stored ones, whatever it calls itself."""
    sentence = "the vectors of small 1 in this store have 8 floats, that of the query has 2: the model behind this name"
    query = struct.pack("<2f", 1, 0)
    with pytest.raises(EmbedderUnavailable, match=sentence):
        vectors.nearest(tx, model, query, NOTES, 1)
    with pytest.raises(EmbedderUnavailable, match=sentence):
        vectors.similarities(tx, model, query, "note", [1])


def test_a_search_reads_only_the_partitions_of_its_scope(tx: Tx, model: Model) -> None:
    """Namespace, substrate and kind reach the extension as its own conditions; given places are looked up by key."""

    def steps(statement: str, args: int) -> str:
        return " ".join(str(step[3]) for step in tx.all("EXPLAIN QUERY PLAN " + statement, (None,) * args))

    texts = vector_layout.statements(model)
    # `3` is a search for the nearest, `]A` a condition on the first column of the partition; `2` is a look at one row.
    assert "VIRTUAL TABLE INDEX 0:3{___}___]Aa_]Ba_*b__" in steps(texts.exact, 6)
    assert "VIRTUAL TABLE INDEX 0:3{___}___]Aa_]Ba_]Ca_*b__" in steps(texts.exact_of_kind, 7)
    assert "VIRTUAL TABLE INDEX 0:3{___}___]Aa_]Ba_]Ca_*d__" in steps(texts.within_of_kind, 7)
    assert "VIRTUAL TABLE INDEX 0:3{___}___]Aa_]Ba_]Da_" in steps(texts.sampled, 6)
    among = steps(texts.among, 4)
    assert "SEARCH v USING PRIMARY KEY (model_id=? AND place=?)" in among
    assert ":2!___" in among


@pytest.mark.parametrize("dims", [1, 3, 8, 9, 1000])
def test_vectors_may_have_any_length(tx: Tx, dims: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are stored, searched by codes, changed and forgotten, whether they fill whole bytes of a code or not."""
    monkeypatch.setattr(vector_routes, "VECTOR_EXACT_MAX", 0)
    model = vectors.register_model(tx, "odd", "1", dims, NOW)
    zeros = [0.0] * (dims - 1)
    for last in (-1.0, 1.0):
        vectors.put_many(tx, model, [row(32, struct.pack(f"<{dims}f", *zeros, last))])
    query = struct.pack(f"<{dims}f", *zeros, 1.0)
    assert vectors.nearest(tx, model, query, NOTES, 3) == [vectors.Near(32, 1.0, 32)]
    vectors.remove_many(tx, model, [("note", 32)])
    assert vectors.nearest(tx, model, query, NOTES, 3) == []
    vectors.forget_model(tx, model)
    assert vectors.models(tx) == []


def test_codes_are_the_same_in_every_process() -> None:
    """They are stored: another rule would need every stored one made anew."""
    numbers = [(-1) ** place * (place % 7 + 1) for place in range(20)]
    assert code_of(struct.pack("<20f", *numbers)).hex() == "b128b5"
    assert [code_bits(dims) for dims in (1, 8, 9, 384, 512, 1536)] == [8, 8, 16, 384, 512, 1536]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(numbers=st.lists(st.integers(-9, 9), min_size=1, max_size=70).filter(any), factor=st.integers(2, 9))
def test_a_code_tells_the_direction_only(numbers: list[int], factor: int) -> None:
    """A longer vector in the same direction has the same code, the opposite one no set bit in common with it."""
    code, longer, opposite = (
        int.from_bytes(code_of(struct.pack(f"<{len(numbers)}f", *(number * by for number in numbers))))
        for by in (1, factor, -1)
    )
    assert code == longer
    assert code & opposite == 0


# What is left when records go, and when a process is killed.


def test_a_sweep_removes_the_vectors_of_erased_records_only(tx: Tx) -> None:
    """Those of deleted records stay, for a restore; at most as many as asked for go at once."""
    for number in range(1, 6):
        notes.insert(tx, note(number))
    model = vectors.register_model(tx, "small", "1", DIMS, NOW)
    vectors.put_many(tx, model, [row(seq, unit(1, seq)) for seq in range(1, 6)])
    tx.run("UPDATE notes SET deleted_at = 1 WHERE seq = 2")
    tx.run("DELETE FROM notes WHERE seq > 2")
    assert vectors.examine(tx, model).gone == 3
    assert not vectors.is_swept(tx, model)
    assert [vectors.sweep(tx, model, 2) for _ in range(3)] == [2, 1, 0]
    assert vectors.is_swept(tx, model)
    assert seqs(vectors.nearest(tx, model, unit(1), NOTES, 9)) == [1, 2]


def test_an_examination_tells_stale_lost_and_stray(tx: Tx) -> None:
    """A text that changed, a row that the tables of the extension lost, one that they have too much."""
    for number in range(1, 5):
        notes.insert(tx, note(number))
    model = vectors.register_model(tx, "small", "1", DIMS, NOW)
    fresh = [row(seq, unit(seq), source_hash=vectors.source_hash(None, f"content {seq}")) for seq in range(1, 5)]
    vectors.put_many(tx, model, fresh)
    assert vectors.examine(tx, model) == (0, 0, 0, 0)
    tx.run("UPDATE notes SET content = 'else' WHERE seq = 1")
    tx.run(f"DELETE FROM vector_floats_{model.id} WHERE rowid = 5")
    tx.run("DELETE FROM vectors WHERE place = 7")
    assert vectors.examine(tx, model) == vectors.Findings(gone=0, stale=1, lost=1, stray=1)
    assert not vectors.is_swept(tx, model)
    assert (vectors.sweep(tx, model, 9), vectors.sweep(tx, model, 9)) == (2, 0)
    assert vectors.examine(tx, model) == (0, 1, 0, 0)
    assert vectors.hashes(tx, model, "note", range(1, 9)).keys() == {1, 4}


def test_rewriting_the_file_keeps_every_vector(path: str) -> None:
    """VACUUM does not move the blobs of the extension away from their chunks, also when some chunks are gone."""
    engine = open_store(path, OPTIONS)
    model = engine.run_write(lambda tx: vectors.register_model(tx, "small", "1", DIMS, NOW))
    rows = [row(seq, unit(1, seq), kind="memory" if seq % 2 else "task") for seq in range(1, 301)]
    engine.run_write(lambda tx: vectors.put_many(tx, model, rows))
    engine.run_write(lambda tx: vectors.remove_many(tx, model, [("note", seq) for seq in range(1, 151)]))
    engine.vacuum()
    with engine.read() as tx:
        assert seqs(vectors.nearest(tx, model, unit(1), NOTES, 300)) == list(range(151, 301))
        assert vectors.examine(tx, model).lost == 0
    engine.close()


def test_a_failed_batch_leaves_no_vector(path: str) -> None:
    """Rows and tables of the extension are rolled back together."""
    engine = open_store(path, OPTIONS)
    model = engine.run_write(lambda tx: vectors.register_model(tx, "small", "1", DIMS, NOW))

    def fail(tx: Tx) -> None:
        vectors.put_many(tx, model, [row(1, unit(1))])
        raise KeyError

    with pytest.raises(KeyError):
        engine.run_write(fail)
    with engine.read() as tx:
        assert vectors.nearest(tx, model, unit(1), NOTES, 5) == []
        assert vectors.examine(tx, model) == (0, 0, 0, 0)
    engine.close()
