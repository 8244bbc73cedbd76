"""The audit log: what it promises before it answers."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import apsw
import pytest

from hivekeep.storage import events
from hivekeep.storage.connections import open_connection
from hivekeep.storage.engine import EventRow
from hivekeep.storage.events import NO_FILTER
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract import limits
from hivekeep_contract.errors import StorageUnavailable, WriterTaskBeginBusy
from support.stores import OPTIONS, event


@dataclass
class Neighbour:
    """Another process, as far as SQLite can tell, that holds the write lock."""

    connection: apsw.Connection

    def lets_go(self) -> None:
        """End its transaction."""
        self.connection.execute("ROLLBACK")


@pytest.fixture
def neighbour(engine: SqliteEngine) -> Neighbour:
    """It holds the lock from the start."""
    connection = open_connection(engine.path, "writer", OPTIONS)
    connection.execute("BEGIN IMMEDIATE")
    return Neighbour(connection)


def _stored(engine: SqliteEngine) -> list[int]:
    with engine.read() as tx:
        page = events.list_page(tx, ["local"], NO_FILTER, limit=10_000)
    return [row.created_at for row in reversed(page.rows)]


def test_rows_are_there_when_append_returns(engine: SqliteEngine) -> None:
    """Whether they may wait or not, with nobody in the way they are committed."""
    engine.append_audit([event(1), event(2)], may_degrade=True)
    engine.append_audit([event(3)], may_degrade=False)
    assert _stored(engine) == [1, 2, 3]
    assert engine.counters()["audit_degraded"] == 0


def test_a_read_waits_25_ms_and_then_leaves_its_row_behind(engine: SqliteEngine, neighbour: Neighbour) -> None:
    """It answers soon, the row is counted, and the next write of this process stores it."""
    started = time.monotonic()
    engine.append_audit([event(1)], may_degrade=True)
    waited = time.monotonic() - started
    assert limits.AUDIT_READ_WAIT_MS / 1000 * 0.5 <= waited < 2
    counters = engine.counters()
    assert (counters["audit_degraded_rows"], counters["audit_backlog_rows"], counters["audit_degraded"]) == (1, 1, 1)
    assert counters["audit_batch_flush_failures"] == 0
    neighbour.lets_go()
    assert _stored(engine) == []
    engine.run_write(lambda tx: None)
    assert _stored(engine) == [1]
    assert engine.counters()["audit_backlog_rows"] == 0


def test_rows_left_behind_go_with_the_next_append(engine: SqliteEngine, neighbour: Neighbour) -> None:
    """They are stored before the rows that came later."""
    engine.append_audit([event(1)], may_degrade=True)
    neighbour.lets_go()
    engine.append_audit([event(2)], may_degrade=True)
    assert _stored(engine) == [1, 2]


def test_closing_stores_what_was_left_behind(engine: SqliteEngine, neighbour: Neighbour) -> None:
    """No row that was promised for later is lost when the process ends in order."""
    engine.append_audit([event(1)], may_degrade=True)
    neighbour.lets_go()
    engine.close()
    again = open_store(engine.path, OPTIONS)
    assert _stored(again) == [1]
    again.close()


def test_an_obligation_waits_for_the_lock(engine: SqliteEngine, neighbour: Neighbour) -> None:
    """A row that must be stored is stored when the lock comes free, however long that takes."""
    release = threading.Timer(0.2, neighbour.lets_go)
    release.start()
    engine.append_audit([event(1)], may_degrade=False)
    release.join()
    assert _stored(engine) == [1]
    assert engine.counters()["audit_degraded_rows"] == 0


def test_an_obligation_that_gets_no_lock_fails(path: str) -> None:
    """After the busy timeout it is refused, counted, and not stored later."""
    engine = open_store(path, OPTIONS._replace(busy_timeout_ms=80))
    other = open_connection(path, "writer", OPTIONS)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(WriterTaskBeginBusy):
        engine.append_audit([event(1)], may_degrade=False)
    other.execute("ROLLBACK")
    engine.append_audit([event(2)], may_degrade=False)
    assert _stored(engine) == [2]
    assert engine.counters()["audit_obligation_append_failures"] == 1
    other.close()
    engine.close()


def test_an_obligation_does_not_hold_a_read_up(engine: SqliteEngine, neighbour: Neighbour) -> None:
    """While one thread waits for the lock with its obligation, a read of another thread answers after its 25 ms."""
    with ThreadPoolExecutor(1) as pool:
        obligation = pool.submit(engine.append_audit, [event(1)], may_degrade=False)
        time.sleep(0.1)
        started = time.monotonic()
        engine.append_audit([event(2)], may_degrade=True)
        assert time.monotonic() - started < 2
        assert not obligation.done()
        neighbour.lets_go()
        obligation.result(20)
    engine.close()
    again = open_store(engine.path, OPTIONS)
    assert sorted(_stored(again)) == [1, 2]
    again.close()


def test_threads_share_transactions_and_lose_nothing(engine: SqliteEngine) -> None:
    """400 appends of eight threads are 400 rows."""
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(engine.append_audit, [event(n)], may_degrade=n % 2 == 0) for n in range(1, 401)]:
            future.result(20)
    engine.run_write(lambda tx: None)
    assert _stored(engine) == list(range(1, 401))


def test_a_full_backlog_makes_reads_wait(
    engine: SqliteEngine, neighbour: Neighbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows in memory are bounded; what does not fit is an obligation and waits for the lock."""
    monkeypatch.setattr(limits, "AUDIT_BACKLOG_MAX", 1)
    engine.append_audit([event(1)], may_degrade=True)
    release = threading.Timer(0.3, neighbour.lets_go)
    release.start()
    started = time.monotonic()
    engine.append_audit([event(2)], may_degrade=True)
    assert time.monotonic() - started >= 0.15
    release.join()
    assert _stored(engine) == [1, 2]
    assert engine.counters()["audit_degraded_rows"] == 1


def test_a_row_that_cannot_be_stored_fails_its_owner_only(engine: SqliteEngine, neighbour: Neighbour) -> None:
    """A second row of one id is an error for who appends it, and is dropped when its owner left; others are stored."""
    engine.append_audit([event(1), event(1)], may_degrade=True)
    engine.append_audit([event(2)], may_degrade=True)
    neighbour.lets_go()
    engine.append_audit([event(3)], may_degrade=False)
    assert _stored(engine) == [2, 3]
    counters = engine.counters()
    assert (counters["audit_append_failures"], counters["audit_batch_flush_failures"]) == (2, 1)
    with pytest.raises(apsw.ConstraintError):
        engine.append_audit([event(3)], may_degrade=False)
    assert engine.counters()["audit_obligation_append_failures"] == 1


def test_a_row_of_a_wrong_type_reaches_its_owner(engine: SqliteEngine) -> None:
    """A mistake of the program comes out as it is and leaves the log working."""
    broken: EventRow = event(1, payload={"not": "text"})
    with pytest.raises(TypeError):
        engine.append_audit([broken], may_degrade=True)
    engine.append_audit([event(2)], may_degrade=True)
    assert _stored(engine) == [2]


def test_a_fault_of_the_disk_is_typed(engine: SqliteEngine) -> None:
    """A full disk fails the append of a read too: that is no matter of waiting."""
    pages = engine._audit._connection.pragma("page_count")  # type: ignore[union-attr]
    engine._audit._connection.pragma("max_page_count", pages)  # type: ignore[union-attr]
    large = [event(number, payload='"' + "x" * 500 + '"') for number in range(1, 1000)]
    with pytest.raises(StorageUnavailable) as refused:
        engine.append_audit(large, may_degrade=True)
    assert refused.value.body()["stage"] == "disk_full"
    assert engine.counters()["audit_batch_flush_failures"] == 1
