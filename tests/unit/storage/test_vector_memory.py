"""Vectors held in memory: they answer what the tables would, of the snapshot that asks, within a fixed size."""

from __future__ import annotations

import math
import random
import struct
import sys
import threading
import types
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivekeep.storage import migrations, vector_memory, vector_routes, vectors
from hivekeep.storage.engine import Tx
from hivekeep.storage.snapshots import snapshot
from hivekeep.storage.sqlite import open_store
from hivekeep.storage.vector_layout import Part
from hivekeep.storage.vector_memory import VectorMemory
from hivekeep.storage.vectors import Model, Scope, VectorRow
from support.stores import OPTIONS

np = pytest.importorskip("numpy")

DIMS = 8
NOW = 1_000_000
LOCAL = Part("local", "note", "memory")
ALL = 100


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> VectorMemory:
    """An empty memory behind the searches of a test, which holds a part from its second search on."""
    fresh = VectorMemory()
    monkeypatch.setattr(vector_routes, "VECTOR_MEMORY", fresh)
    monkeypatch.setattr(vector_memory, "VECTOR_SCANS_BEFORE_HELD", 2)
    return fresh


@pytest.fixture
def model(tx: Tx) -> Model:
    """A small model, registered."""
    return vectors.register_model(tx, "small", "1", DIMS, NOW)


def unit(numbers: Sequence[float]) -> bytes:
    """The vector of length one in this direction."""
    length = math.sqrt(sum(number * number for number in numbers))
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def row(seq: int, numbers: Sequence[float], namespace: str = "local", kind: str = "memory") -> VectorRow:
    """The vector of a note, its hash its number."""
    return VectorRow("note", seq, namespace, kind, seq, unit(numbers))


def one_hot(place: int) -> list[float]:
    """The direction of one axis."""
    return [float(place == other) for other in range(DIMS)]


def seqs(tx: Tx, model: Model, numbers: Sequence[float], scope: Scope, k: int = ALL) -> list[int]:
    """The numbers of the nearest, in order."""
    return [near.seq for near in vectors.nearest(tx, model, unit(numbers), scope, k)]


NUMBERS = st.lists(st.integers(-3, 3), min_size=DIMS, max_size=DIMS).filter(any)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(1, 12), NUMBERS, st.sampled_from(["local", "other"])),
        st.tuples(st.just("remove"), st.integers(1, 12)),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=st.lists(CHANGES, min_size=1, max_size=5), asked=NUMBERS, k=st.integers(1, 12), every_kind=st.booleans())
def test_memory_answers_what_the_tables_answer(
    tx: Tx,
    memory: VectorMemory,
    model: Model,
    rounds: list[list[tuple[object, ...]]],
    asked: list[int],
    k: int,
    every_kind: bool,
) -> None:
    """After any change, in one namespace or two, of one kind or all: the same records, order and cosines."""
    scope = Scope("note", ("local", "other"), None if every_kind else "memory")
    vectors.remove_many(tx, model, [("note", seq) for seq in range(1, 13)])
    for changes in rounds:
        for change in changes:
            if change[0] == "put":
                vectors.put_many(tx, model, [row(change[1], change[2], change[3])])  # type: ignore[arg-type]
            else:
                vectors.remove_many(tx, model, [("note", change[1])])  # type: ignore[list-item]
        parts = [Part(space, "note", scope.kind) for space in scope.namespaces]
        scanned = [vectors.nearest(tx, model, unit(asked), scope, k) for _ in range(2)]
        from_memory = vectors.nearest(tx, model, unit(asked), scope, k)
        stamped = {space for (space,) in tx.all("SELECT namespace FROM vector_stamps")}
        assert all((memory.part(tx, model, part) is None) == (part.namespace not in stamped) for part in parts)
        for found in (*scanned, from_memory):
            assert [(near.seq, near.source_hash) for near in found] == [
                (near.seq, near.source_hash) for near in scanned[0]
            ]
            assert [near.similarity for near in found] == pytest.approx(
                [near.similarity for near in scanned[0]], abs=2e-6
            )


def test_what_is_alike_comes_by_number_wherever_the_first_answers_end(
    tx: Tx, memory: VectorMemory, model: Model
) -> None:
    """Seven of ten vectors are the same; read to its end, a search gives each of them once, in order."""
    vectors.put_many(tx, model, [row(seq, one_hot(0) if seq % 3 else one_hot(1)) for seq in range(1, 11)])
    expected = [1, 2, 4, 5, 7, 8, 10, 3, 6, 9]
    for first in (1, 2, 6, 7, 8, 10, 99):
        for _ in range(2):
            found = vectors.ranked(tx, model, unit(one_hot(0)), Scope("note", ("local",)), first)
            assert [near.seq for near in found] == expected
    assert memory.size > 0


def test_a_search_sees_the_vectors_of_its_own_snapshot(path: str, memory: VectorMemory) -> None:
    """A search that began before a change is answered as of then, though newer vectors are held already."""
    engine = open_store(path, OPTIONS)
    scope = Scope("note", ("local",), "memory")
    model = engine.run_write(lambda tx: vectors.register_model(tx, "small", "1", DIMS, NOW))
    engine.run_write(lambda tx: vectors.put_many(tx, model, [row(1, one_hot(0)), row(2, one_hot(1))]))
    with engine.read() as old, snapshot(old):
        assert seqs(old, model, one_hot(0), scope) == [1, 2]
        engine.run_write(lambda tx: vectors.put_many(tx, model, [row(3, one_hot(0)), row(1, one_hot(2))]))
        with engine.read() as new:
            assert [seqs(new, model, one_hot(0), scope) for _ in range(3)] == [[3, 1, 2]] * 3
            assert memory.part(new, model, LOCAL) is not None
        assert [seqs(old, model, one_hot(0), scope) for _ in range(3)] == [[1, 2]] * 3
    with engine.read() as new:
        assert seqs(new, model, one_hot(0), scope) == [3, 1, 2]
    engine.close()


def test_a_part_that_changes_while_it_is_read_is_not_held(
    path: str, memory: VectorMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader without a snapshot saw the stamps of before and perhaps the vectors of after: it searches the tables."""
    engine = open_store(path, OPTIONS)
    model = engine.run_write(lambda tx: vectors.register_model(tx, "small", "1", DIMS, NOW))
    engine.run_write(lambda tx: vectors.put_many(tx, model, [row(1, one_hot(0))]))
    whole = vector_memory.statements(model).whole_of_kind

    class Interrupted:
        """A reader behind whose look at the stamps somebody writes."""

        def __init__(self, tx: Tx) -> None:
            self._tx = tx

        def all(self, sql: str, args: Sequence[object] = ()) -> list[tuple[object, ...]]:
            if sql == whole:
                engine.run_write(lambda tx: vectors.put_many(tx, model, [row(2, one_hot(0))]))
            return self._tx.all(sql, args)

    with engine.read() as tx:
        assert tx.vectors_ready()
        assert memory.part(tx, model, LOCAL) is None
        assert memory.part(Interrupted(tx), model, LOCAL) is None  # type: ignore[arg-type]
        assert memory.size == 0
        assert memory.part(tx, model, LOCAL) is None
        assert memory.part(tx, model, LOCAL) is not None
    engine.close()


def test_a_part_is_held_once_scanning_it_has_cost_what_reading_it_costs(
    tx: Tx, memory: VectorMemory, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the fourth search of an unchanged part; a change begins the count anew, one elsewhere does not."""
    monkeypatch.setattr(vector_memory, "VECTOR_SCANS_BEFORE_HELD", 4)
    vectors.put_many(tx, model, [row(1, one_hot(0)), row(2, one_hot(0), "other"), row(4, one_hot(0))])

    def held() -> list[bool]:
        return [memory.part(tx, model, LOCAL) is not None for _ in range(5)]

    assert held() == [False, False, False, True, True]
    vectors.put_many(tx, model, [row(1, one_hot(1))])
    assert held() == [False, False, False, True, True]
    vectors.put_many(tx, model, [row(3, one_hot(1), "other")])
    assert held() == [True] * 5
    vectors.put_many(tx, model, [row(1, one_hot(1), "other")])
    assert held() == [False, False, False, True, True]


def test_the_part_longest_unused_is_let_go_when_there_is_no_room(
    tx: Tx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room for two parts of one vector: a third one takes the place of the one that was not asked since."""
    monkeypatch.setattr(vector_memory, "VECTOR_SCANS_BEFORE_HELD", 1)
    monkeypatch.setattr(vector_memory, "VECTOR_EXACT_MAX", 1)
    spaces = [Part(name, "note", "memory") for name in ("a", "b", "c")]
    vectors.put_many(tx, model, [row(seq, one_hot(0), part.namespace) for seq, part in enumerate(spaces, 1)])
    one = 1024 + 4 * DIMS + 16
    memory = VectorMemory(2 * one)
    assert memory.part(tx, model, spaces[0]) is not None
    assert memory.part(tx, model, spaces[1]) is not None
    assert memory.size == 2 * one
    first = memory.part(tx, model, spaces[0])
    assert memory.part(tx, model, spaces[2]) is not None
    assert memory.size == 2 * one
    assert memory.part(tx, model, spaces[0]) is first
    monkeypatch.setattr(vector_memory, "VECTOR_SCANS_BEFORE_HELD", 9)
    assert memory.part(tx, model, spaces[1]) is None
    memory.clear()
    assert memory.size == 0


def test_a_model_whose_parts_may_not_fit_is_never_held(tx: Tx, model: Model) -> None:
    """Otherwise a part could be read again and again and let go each time."""
    vectors.put_many(tx, model, [row(1, one_hot(0))])
    memory = VectorMemory(4 * DIMS * vector_memory.VECTOR_EXACT_MAX - 1)
    assert [memory.part(tx, model, LOCAL) for _ in range(9)] == [None] * 9


def test_a_vector_without_direction_is_never_found(tx: Tx, memory: VectorMemory, model: Model) -> None:
    """Zeros have no angle to anything, as a vector and as a query, in memory as in the tables."""
    zeros = struct.pack(f"<{DIMS}f", *[0.0] * DIMS)
    vectors.put_many(tx, model, [row(1, one_hot(0)), row(2, one_hot(0))._replace(embedding=zeros)])
    scope = Scope("note", ("local",), "memory")
    for _ in range(3):
        assert seqs(tx, model, one_hot(0), scope) == [1]
        assert vectors.nearest(tx, model, zeros, scope, 5) == []
    assert memory.part(tx, model, LOCAL) is not None


def test_a_partition_without_vectors_has_no_stamp(tx: Tx, memory: VectorMemory, model: Model) -> None:
    """Nothing of its name stays in the store: when the last vector goes, moves away or is forgotten with its model."""
    stamped = "SELECT namespace, kind FROM vector_stamps ORDER BY namespace"
    vectors.put_many(tx, model, [row(1, one_hot(0)), row(2, one_hot(0))])
    assert tx.all(stamped) == [("local", "memory")]
    vectors.put_many(tx, model, [row(1, one_hot(0), "other")])
    assert tx.all(stamped) == [("local", "memory"), ("other", "memory")]
    vectors.remove_many(tx, model, [("note", 2)])
    assert tx.all(stamped) == [("other", "memory")]
    vectors.forget_model(tx, model)
    assert tx.all(stamped) == []


def test_a_writer_that_knows_no_stamps_renews_them(tx: Tx, memory: VectorMemory, model: Model) -> None:
    """A process of the former schema that still ran wrote vectors and left the stamps, and memory answered what was no
    longer so; triggers belong to the file and bind every process."""
    vectors.put_many(tx, model, [row(1, one_hot(0)), row(2, one_hot(1))])
    scope = Scope("note", ("local",), "memory")
    for _ in range(3):
        assert seqs(tx, model, one_hot(0), scope) == [1, 2]
    for statement in (
        "UPDATE vectors SET source_hash = 9 WHERE place = 3",
        "DELETE FROM vectors WHERE place = 3",
        f"INSERT INTO vectors VALUES ({model.id}, 3, 'note', 'local', 'memory', 1, NULL)",
    ):
        assert memory.part(tx, model, LOCAL) is not None
        tx.run(statement)
        assert memory.part(tx, model, LOCAL) is None
        memory.part(tx, model, LOCAL)


def test_a_query_that_is_no_vector_finds_nothing_in_memory(tx: Tx, memory: VectorMemory, model: Model) -> None:
    """Numbers whose squares overflow have no direction."""
    vectors.put_many(tx, model, [row(1, one_hot(0))])
    scope = Scope("note", ("local",), "memory")
    seqs(tx, model, one_hot(0), scope)
    seqs(tx, model, one_hot(0), scope)
    for number in (math.inf, math.nan):
        assert vectors.nearest(tx, model, struct.pack(f"<{DIMS}f", *[number] * DIMS), scope, 5) == []


@pytest.mark.parametrize("installed", [True, False])
def test_numpy_is_never_waited_for(
    tx: Tx, memory: VectorMemory, model: Model, monkeypatch: pytest.MonkeyPatch, installed: bool
) -> None:
    """Where it is installed and not loaded it is loaded once behind the searches, when one would use it."""
    started: list[str] = []

    class Never(threading.Thread):
        """A thread that only says that it was started."""

        def start(self) -> None:
            started.append(self.name)

    vectors.put_many(tx, model, [row(1, one_hot(0))])
    vector_memory._load_numpy.cache_clear()
    with monkeypatch.context() as patched:
        patched.delitem(sys.modules, "numpy")
        patched.setattr(vector_memory, "find_spec", lambda name: name if installed else None)
        patched.setattr(vector_memory.threading, "Thread", Never)  # type: ignore[attr-defined]
        assert memory.part(tx, model, LOCAL) is None
        assert started == []
        assert [memory.part(tx, model, LOCAL) for _ in range(3)] == [None] * 3
        assert started == ["import-numpy"] * installed
        patched.setitem(sys.modules, "numpy", types.ModuleType("numpy"))
        assert memory.part(tx, model, LOCAL) is None
    assert memory.part(tx, model, LOCAL) is not None


def test_vectors_of_an_older_store_get_stamps(tx: Tx, model: Model) -> None:
    """The migration gives one to each partition, all different."""
    vectors.put_many(tx, model, [row(1, one_hot(0)), row(2, one_hot(0)), row(3, one_hot(0), "other")])
    tx.run("DROP TABLE vector_stamps")
    (migration,) = [one for one in migrations.packaged() if one.name == "vector_stamps"]
    for trigger in ("inserted", "updated", "moved", "deleted"):
        tx.run(f"DROP TRIGGER vectors_{trigger}")
    tx.run(migration.sql)
    stamps = tx.all("SELECT namespace, substrate, kind, stamp FROM vector_stamps ORDER BY namespace")
    assert [one[:3] for one in stamps] == [("local", "note", "memory"), ("other", "note", "memory")]
    assert stamps[0][3] != stamps[1][3]


def test_threads_that_search_at_once_all_get_the_same_answer(path: str, memory: VectorMemory) -> None:
    """While one reads a part into memory the others search its tables; a writer changes other parts meanwhile."""
    engine = open_store(path, OPTIONS)
    shuffled = random.Random(3)
    model = engine.run_write(lambda tx: vectors.register_model(tx, "small", "1", DIMS, NOW))
    rows = [row(seq, [shuffled.gauss(0, 1) for _ in range(DIMS)]) for seq in range(1, 301)]
    engine.run_write(lambda tx: vectors.put_many(tx, model, rows))
    scope = Scope("note", ("local",), "memory")
    with engine.read() as tx:
        expected = seqs(tx, model, one_hot(0), scope, 20)
    answers: list[list[int]] = []

    def search() -> None:
        for _ in range(25):
            with engine.read() as tx:
                answers.append(seqs(tx, model, one_hot(0), scope, 20))

    searching = [threading.Thread(target=search) for _ in range(4)]
    for thread in searching:
        thread.start()
    for seq in range(1000, 1020):
        engine.run_write(lambda tx, s=seq: vectors.put_many(tx, model, [row(s, one_hot(1), "other")]))  # type: ignore[misc]
    for thread in searching:
        thread.join()
    assert answers == [expected] * 100
    engine.close()
