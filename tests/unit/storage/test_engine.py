"""The engine: transactions, turns, refusals, counts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from hivekeep.storage import entities, sqlite
from hivekeep.storage.connections import MEMORY, open_connection
from hivekeep.storage.engine import Tx
from hivekeep.storage.faults import is_closing
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract import limits
from hivekeep_contract.errors import (
    HivekeepError,
    ReaderCheckoutTimeout,
    StorageUnavailable,
    WriterPoolCheckoutTimeout,
    WriterQueueFull,
    WriterTaskBeginBusy,
)
from support.stores import OPTIONS, entity, record_id

_COUNTERS = {
    "reader_admission_capacity",
    "available_reader_admission_slots",
    "reader_acquisitions",
    "pooled_reader_checkouts",
    "standalone_reader_opens",
    "infrastructure_standalone_reader_opens",
    "reader_checkout_timeouts",
    "active_pooled_reader_checkouts",
    "peak_active_pooled_reader_checkouts",
    "completed_pooled_reader_checkouts",
    "max_completed_reader_hold_micros",
    "reader_replacement_open_failures",
    "writer_acquisitions",
    "pooled_writer_acquisitions",
    "standalone_writer_acquisitions",
    "writer_task_acquisitions",
    "writer_acquisition_timeouts",
    "writer_queue_refusals",
    "writer_task_begin_busy",
    "writer_task_begin_busy_absorbed",
    "writer_task_request_failures",
    "writer_task_side_effects_unknown",
    "audit_append_failures",
    "audit_obligation_append_failures",
    "audit_batch_flush_failures",
    "audit_degraded_rows",
    "deferred_writes_dropped",
    "audit_degraded",
    "audit_backlog_rows",
}


@pytest.fixture(params=["inline", "threaded", "memory"])
def any_engine(request: pytest.FixtureRequest, path: str) -> Iterator[SqliteEngine]:
    """Each way to run a store."""
    opened = open_store(MEMORY if request.param == "memory" else path, OPTIONS, threaded=request.param == "threaded")
    yield opened
    opened.close()


@pytest.fixture
def threaded(path: str) -> Iterator[SqliteEngine]:
    """A store whose writer has a thread."""
    opened = open_store(path, OPTIONS._replace(writer_admission_ms=150), threaded=True)
    yield opened
    opened.close()


class _Gate:
    """A write that holds the writer until it is told to go on."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def __call__(self, tx: Tx) -> str:
        self.entered.set()
        assert self.open.wait(20)
        return "through"


def _count(engine: SqliteEngine, name: str) -> int | None:
    return engine.counters()[name]


def test_a_write_is_there_when_it_returns(any_engine: SqliteEngine) -> None:
    """The result of the function comes back, and readers see what it wrote."""
    assert any_engine.run_write(lambda tx: entities.insert(tx, entity(1))) == 1
    assert any_engine.submit_write(lambda tx: entities.insert(tx, entity(2))).result(20) == 2
    with any_engine.read() as tx:
        assert sorted(entities.get_many(tx, [record_id(1), record_id(2)])) == [record_id(1), record_id(2)]


@pytest.mark.parametrize("fault", [ValueError("no"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_any_exception_leaves_nothing(any_engine: SqliteEngine, fault: BaseException) -> None:
    """What was written before the exception is rolled back, the exception comes out unchanged, the next write works."""

    def broken(tx: Tx) -> None:
        entities.insert(tx, entity(1))
        raise fault

    with pytest.raises(type(fault)) as raised:
        any_engine.run_write(broken)
    assert raised.value is fault
    any_engine.run_write(lambda tx: entities.insert(tx, entity(2)))
    with any_engine.read() as tx:
        assert entities.count(tx, ["local"]) == 1
    assert _count(any_engine, "writer_task_request_failures") == 1
    assert _count(any_engine, "writer_task_side_effects_unknown") == 0


def test_a_failed_future_carries_the_error(any_engine: SqliteEngine) -> None:
    """submit_write itself does not raise what the function raises."""

    def broken(tx: Tx) -> None:
        raise ValueError("no")

    assert str(any_engine.submit_write(broken).exception(20)) == "no"


def test_a_write_inside_a_write_is_a_mistake(any_engine: SqliteEngine) -> None:
    """It is refused at once instead of waiting for itself."""

    def nested(tx: Tx) -> None:
        any_engine.run_write(lambda inner: None)

    with pytest.raises(RuntimeError, match="must not start another write"):
        any_engine.run_write(nested)


def test_every_counter_has_a_number_or_is_not_collected(any_engine: SqliteEngine) -> None:
    """The names are those of the diagnostics report; in memory the counts of the reader pool are None."""
    counters = any_engine.counters()
    assert set(counters) == _COUNTERS
    uncounted = {name for name, value in counters.items() if value is None}
    assert uncounted == (set(sqlite.READER_COUNTS) if any_engine.path == MEMORY else set())


def test_the_data_version_moves_with_every_commit(any_engine: SqliteEngine) -> None:
    """It differs after a write and is the same when nothing happened."""
    first = any_engine.data_version()
    assert any_engine.data_version() == first
    any_engine.run_write(lambda tx: entities.insert(tx, entity(1)))
    assert any_engine.data_version() != first


def test_a_closed_store_refuses(any_engine: SqliteEngine) -> None:
    """Every door says that the store is not open."""
    any_engine.close()
    with pytest.raises(StorageUnavailable, match="not open"):
        any_engine.run_write(lambda tx: None)
    with pytest.raises(StorageUnavailable, match="not open"):
        any_engine.submit_write(lambda tx: None)
    with pytest.raises(StorageUnavailable, match="not open"), any_engine.read():
        pass
    with pytest.raises(StorageUnavailable, match="not open"):
        any_engine.append_audit([], may_degrade=True)


def test_a_read_that_the_closing_overtakes_is_told_that_the_store_is_closed(engine: SqliteEngine) -> None:
    """Closing takes the connection from under a reader that is still lent.

    What SQLite says of that was taken for a fault of the program, so that a client was answered with status 500.
    """

    def read() -> None:
        with engine.read() as tx:
            engine.close()
            tx.one("SELECT 1")

    with pytest.raises(StorageUnavailable) as told:
        read()
    assert is_closing(told.value)


def test_acquisitions_are_counted_by_kind(path: str) -> None:
    """Inline writes are pooled acquisitions, writes of the thread are task acquisitions; the sum is the total."""
    for threaded, kind in ((False, "pooled_writer_acquisitions"), (True, "writer_task_acquisitions")):
        engine = open_store(path, OPTIONS, threaded=threaded)
        for _ in range(3):
            engine.run_write(lambda tx: None)
        assert _count(engine, kind) == 3
        assert _count(engine, "writer_acquisitions") == 3
        engine.close()


def test_writes_of_a_thread_keep_their_order(threaded: SqliteEngine) -> None:
    """A later submission gets a later sequence."""
    futures = [threaded.submit_write(lambda tx, n=number: entities.insert(tx, entity(n))) for number in range(1, 51)]
    assert [future.result(20) for future in futures] == list(range(1, 51))


def test_a_full_queue_refuses_after_the_admission_wait(threaded: SqliteEngine) -> None:
    """Behind 256 waiting writes one more is refused after 150 ms, and those in the queue are carried out."""
    gate = _Gate()
    held = threaded.submit_write(gate)
    assert gate.entered.wait(20)
    waiting = [threaded.submit_write(lambda tx: "done") for _ in range(limits.WRITER_QUEUE_SIZE)]
    assert threaded.writes_waiting() == limits.WRITER_QUEUE_SIZE
    started = time.monotonic()
    refused = threaded.submit_write(lambda tx: "never").exception(20)
    assert 0.15 <= time.monotonic() - started < 5
    assert isinstance(refused, WriterQueueFull)
    assert refused.body() == {
        "kind": "unavailable",
        "code": "writer_queue_full",
        "message": "storage: 256 writes are waiting and no place came free within 150 ms",
        "retryable": True,
        "stage": "writer_queue_full",
        "timeout_ms": 150,
        "capability": None,
        "operation": None,
    }
    assert _count(threaded, "writer_queue_refusals") == 1
    gate.open.set()
    assert held.result(20) == "through"
    assert {future.result(20) for future in waiting} == {"done"}


def test_a_place_that_comes_free_in_time_is_taken(path: str) -> None:
    """A write at the door is carried out, in its order, when the queue moves before its wait is over."""
    engine = open_store(path, OPTIONS._replace(writer_admission_ms=10_000), threaded=True)
    gate = _Gate()
    engine.submit_write(gate)
    assert gate.entered.wait(20)
    futures = [
        engine.submit_write(lambda tx, n=number: entities.insert(tx, entity(n)))
        for number in range(1, limits.WRITER_QUEUE_SIZE + 4)
    ]
    gate.open.set()
    assert [future.result(20) for future in futures] == list(range(1, limits.WRITER_QUEUE_SIZE + 4))
    assert _count(engine, "writer_queue_refusals") == 0
    engine.close()


def test_the_gateway_has_a_queue_of_its_own_and_no_wait(threaded: SqliteEngine) -> None:
    """The 65th waiting gateway write is refused at once while the verbs' queue still takes writes."""
    gate = _Gate()
    threaded.submit_write(gate)
    assert gate.entered.wait(20)
    queued = [threaded.submit_write(lambda tx: "done", surface="gateway") for _ in range(64)]
    refused = threaded.submit_write(lambda tx: "never", surface="gateway")
    assert isinstance(refused.exception(0), WriterQueueFull)
    verb = threaded.submit_write(lambda tx: "verb")
    gate.open.set()
    assert verb.result(20) == "verb"
    assert {future.result(20) for future in queued} == {"done"}


def test_admission_is_asked_without_queueing_anything(path: str) -> None:
    """A full gateway queue and a closing store say so at once; the verbs' queue, which has a door, and a writer without
    a thread refuse nobody."""
    engine = open_store(path, OPTIONS._replace(gateway_queue_size=1), threaded=True)
    gate = _Gate()
    engine.submit_write(gate)
    assert gate.entered.wait(20)
    engine.check_admission("gateway")
    queued = engine.submit_write(lambda tx: "done", surface="gateway")
    with pytest.raises(WriterQueueFull):
        engine.check_admission("gateway")
    engine.check_admission("verbs")
    assert (engine.writes_waiting(), _count(engine, "writer_queue_refusals")) == (1, 1)
    gate.open.set()
    assert queued.result(20) == "done"
    engine.check_admission("gateway")
    engine.close()
    with pytest.raises(StorageUnavailable) as refused:
        engine.check_admission("gateway")
    assert is_closing(refused.value)
    inline = open_store(path, OPTIONS)
    inline.check_admission("gateway")
    inline.close()


def test_the_surfaces_take_turns(threaded: SqliteEngine) -> None:
    """A write of the other surface is next, however many wait before it in another queue."""
    order: list[str] = []
    gate = _Gate()
    threaded.submit_write(gate)
    assert gate.entered.wait(20)
    futures: list[Future[None]] = [threaded.submit_write(lambda tx: order.append("verb")) for _ in range(20)]
    futures.append(threaded.submit_write(lambda tx: order.append("gateway"), surface="gateway"))
    gate.open.set()
    for future in futures:
        future.result(20)
    assert order.index("gateway") <= 1


def test_a_cancelled_write_does_not_run(threaded: SqliteEngine) -> None:
    """What nobody waits for any more is skipped."""
    ran: list[int] = []
    gate = _Gate()
    threaded.submit_write(gate)
    assert gate.entered.wait(20)
    future = threaded.submit_write(lambda tx: ran.append(1))
    assert future.cancel()
    gate.open.set()
    threaded.run_write(lambda tx: None)
    assert ran == []


def test_closing_carries_out_what_was_accepted(path: str) -> None:
    """Writes that wait when the store closes are committed first."""
    engine = open_store(path, OPTIONS, threaded=True)
    futures = [engine.submit_write(lambda tx, n=number: entities.insert(tx, entity(n))) for number in range(1, 101)]
    engine.close()
    assert [future.result(0) for future in futures] == list(range(1, 101))


def test_an_inline_writer_that_is_taken_is_waited_for(path: str) -> None:
    """Another thread gets the stable error object of a checkout timeout."""
    engine = open_store(path, OPTIONS._replace(checkout_timeout_ms=100))
    gate = _Gate()
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(engine.run_write, gate)
        assert gate.entered.wait(20)
        with pytest.raises(WriterPoolCheckoutTimeout) as refused:
            engine.run_write(lambda tx: None)
        gate.open.set()
        assert held.result(20) == "through"
    assert refused.value.body() == {
        "kind": "unavailable",
        "code": "writer_pool_checkout_timeout",
        "message": "storage: timed out after 100 ms waiting for sqlite writer connection",
        "retryable": True,
        "stage": "writer_pool_checkout_timeout",
        "timeout_ms": 100,
        "capability": None,
        "operation": None,
    }
    assert _count(engine, "writer_acquisition_timeouts") == 1
    engine.close()


def test_a_write_lock_of_another_process_is_waited_for_and_counted(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused BEGIN is tried again; when that helps, the caller never learns of it and it counts as absorbed."""
    monkeypatch.setattr(limits, "WRITER_BEGIN_RETRY_MS", 50)
    engine = open_store(path, OPTIONS)
    other = open_connection(path, "writer", OPTIONS)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, other.execute, ["COMMIT"])
    release.start()
    assert engine.run_write(lambda tx: "written") == "written"
    release.join()
    refusals = _count(engine, "writer_task_begin_busy")
    assert refusals is not None
    assert refusals >= 1
    assert _count(engine, "writer_task_begin_busy_absorbed") == refusals
    other.close()
    engine.close()


def test_a_write_lock_that_is_never_given_back_is_a_typed_refusal(path: str) -> None:
    """After the busy timeout the function has not run and the refusal is retryable."""
    ran: list[int] = []
    engine = open_store(path, OPTIONS._replace(busy_timeout_ms=80))
    other = open_connection(path, "writer", OPTIONS)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(WriterTaskBeginBusy) as refused:
        engine.run_write(lambda tx: ran.append(1))
    assert (refused.value.body()["timeout_ms"], refused.value.retryable, ran) == (80, True, [])
    assert _count(engine, "writer_task_begin_busy_absorbed") == 0
    other.execute("ROLLBACK")
    assert engine.run_write(lambda tx: "written") == "written"
    other.close()
    engine.close()


def test_readers_are_lent_up_to_their_number(path: str) -> None:
    """The third of two is refused after the wait, nothing extra is opened, and a returned reader is lent again."""
    engine = open_store(path, OPTIONS._replace(max_readers=2, checkout_timeout_ms=100))
    with engine.read(), engine.read():
        assert _count(engine, "active_pooled_reader_checkouts") == 2
        assert _count(engine, "available_reader_admission_slots") == 0
        with pytest.raises(ReaderCheckoutTimeout) as refused, engine.read():
            pass
    assert refused.value.body()["timeout_ms"] == 100
    with engine.read() as tx:
        assert tx.one("SELECT 1") == (1,)
    counters = engine.counters()
    assert counters["reader_checkout_timeouts"] == 1
    assert counters["reader_acquisitions"] == counters["pooled_reader_checkouts"] == 3
    assert counters["completed_pooled_reader_checkouts"] == 3
    assert counters["peak_active_pooled_reader_checkouts"] == 2
    assert counters["active_pooled_reader_checkouts"] == 0
    assert counters["standalone_reader_opens"] == 0
    engine.close()


def test_a_reader_that_comes_free_in_time_is_taken(path: str) -> None:
    """Eight threads share two readers without a refusal."""
    engine = open_store(path, OPTIONS._replace(max_readers=2))

    def look(_: int) -> int:
        with engine.read() as tx:
            time.sleep(0.001)
            row = tx.one("SELECT 1")
            assert row is not None
            return int(row[0])

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(look, range(200))) == 200
    assert _count(engine, "reader_acquisitions") == 200
    assert _count(engine, "reader_checkout_timeouts") == 0
    engine.close()


def test_readers_see_a_statement_whole_while_a_write_goes_on(threaded: SqliteEngine) -> None:
    """A read during a write answers at once with the state before it."""
    gate = _Gate()

    def write(tx: Tx) -> str:
        entities.insert(tx, entity(1))
        return gate(tx)

    future = threaded.submit_write(write)
    assert gate.entered.wait(20)
    with threaded.read() as tx:
        assert entities.count(tx, ["local"]) == 0
    gate.open.set()
    future.result(20)
    with threaded.read() as tx:
        assert entities.count(tx, ["local"]) == 1


def test_reading_only_writes_nothing(path: str) -> None:
    """Reads work, every kind of write is refused with a clear text, and the file stays as it is."""
    writer = open_store(path, OPTIONS)
    writer.run_write(lambda tx: entities.insert(tx, entity(1)))
    writer.close()
    before = Path(path).read_bytes()
    engine = open_store(path, OPTIONS, read_only=True)
    with engine.read() as tx:
        assert entities.get(tx, record_id(1)) == entity(1, seq=1)
    for write in (
        lambda: engine.run_write(lambda tx: None),
        lambda: engine.submit_write(lambda tx: None),
        lambda: engine.append_audit([], may_degrade=False),
    ):
        with pytest.raises(StorageUnavailable, match="open for reading only") as refused:
            write()
        assert refused.value.body()["stage"] == "read_only"
    engine.close()
    assert Path(path).read_bytes() == before


def test_a_full_disk_is_refused_before_the_reserve_is_used_up(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With less free room than the reserve no write starts; reads go on; the message names the setting."""
    engine = open_store(path, OPTIONS._replace(disk_reserve_bytes=1000))
    monkeypatch.setattr(sqlite, "_free_bytes", lambda directory: 999)
    with pytest.raises(StorageUnavailable, match=r"storage\.disk_reserve_bytes") as refused:
        engine.run_write(lambda tx: entities.insert(tx, entity(1)))
    assert refused.value.body()["stage"] == "disk_reserve"
    with engine.read() as tx:
        assert entities.count(tx, ["local"]) == 0
    engine.close()


@pytest.mark.parametrize(
    ("fault", "stage"),
    [
        (apsw.FullError, "disk_full"),
        (apsw.IOError, "io_error"),
        (apsw.ReadOnlyError, "read_only"),
        (apsw.CorruptError, "damaged"),
        (apsw.NotADBError, "not_a_database"),
        (apsw.BusyError, "busy"),
    ],
)
def test_faults_of_the_file_are_typed(any_engine: SqliteEngine, fault: type[apsw.Error], stage: str) -> None:
    """A write that meets one fails with StorageUnavailable, its stage, and the fault as its cause."""

    def broken(tx: Tx) -> None:
        raise fault("as SQLite says")

    with pytest.raises(StorageUnavailable, match="as SQLite says") as refused:
        any_engine.run_write(broken)
    assert refused.value.body()["stage"] == stage
    assert isinstance(refused.value.__cause__, fault)


def test_a_reader_that_met_a_fault_is_replaced(engine: SqliteEngine) -> None:
    """The read fails typed, the pool keeps its size, and the next read works on a new connection."""
    with pytest.raises(StorageUnavailable), engine.read():
        raise apsw.CorruptError("as SQLite says")
    with engine.read() as tx:
        assert tx.one("SELECT 1") == (1,)
    assert _count(engine, "available_reader_admission_slots") == 8
    assert _count(engine, "reader_replacement_open_failures") == 0


def test_a_reader_that_cannot_be_replaced_shrinks_the_pool(path: str) -> None:
    """The lost place is counted, and the readers that are left still work."""
    engine = open_store(path, OPTIONS._replace(max_readers=2, checkout_timeout_ms=100))
    with engine.read():
        pass
    Path(path).rename(path + ".away")
    with pytest.raises(StorageUnavailable), engine.read():
        raise apsw.IOError("as SQLite says")
    Path(path + ".away").rename(path)
    assert _count(engine, "reader_replacement_open_failures") == 1
    assert _count(engine, "available_reader_admission_slots") == 1
    with engine.read() as tx:
        assert tx.one("SELECT 1") == (1,)
    engine.close()


def test_a_mistake_in_sql_is_not_a_fault_of_the_store(any_engine: SqliteEngine) -> None:
    """It comes out as SQLite's own error, so that it is reported as a fault of the program."""
    with pytest.raises(apsw.SQLError) as raised:
        any_engine.run_write(lambda tx: tx.run("SELECT nothing"))
    assert not isinstance(raised.value, HivekeepError)


def test_the_free_room_is_that_of_the_disk_of_the_file(path: str) -> None:
    """A reserve greater than any disk refuses, one byte does not."""
    open_store(path, OPTIONS._replace(disk_reserve_bytes=1)).run_write(lambda tx: entities.insert(tx, entity(1)))
    engine = open_store(path, OPTIONS._replace(disk_reserve_bytes=1 << 62))
    with pytest.raises(StorageUnavailable, match="fewer than the reserve of 4611686018427387904"):
        engine.run_write(lambda tx: None)
    engine.close()


def test_a_database_in_a_directory_that_cannot_be_written_is_still_read(path: str, tmp_path: Path) -> None:
    """Where SQLite can make no file for its log, a database without a log is read as it lies."""
    writer = open_store(path, OPTIONS)
    writer.run_write(lambda tx: entities.insert(tx, entity(1)))
    writer.close()
    # A directory in the place of the log stands for a place that takes no file, even from the superuser.
    (tmp_path / "hive.db-wal").mkdir()
    engine = open_store(path, OPTIONS, read_only=True)
    with engine.read() as tx:
        assert entities.get(tx, record_id(1)) == entity(1, seq=1)
    engine.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["hive.db", "hive.db-wal"]
