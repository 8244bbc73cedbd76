"""The driver: each step in its lane, audit rows in groups, and what happens when a step or a client fails."""

import asyncio
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

import pytest

from hivekeep.dispatch.run import Step
from hivekeep.doors.driver import Driver

LOOP_THREAD = threading.current_thread().name


class Store:
    """Takes audit rows, remembers the groups and the thread of each, and fails or waits when told to."""

    def __init__(self) -> None:
        self.groups: list[tuple[list[Any], bool]] = []
        self.threads: list[str] = []
        self.failure: Exception | None = None
        self.gone: Exception | None = None
        self.delay_s = 0.0
        self.in_the_way = False
        self.version: int | Exception = 1
        self.looks = 0

    def data_version(self) -> int:
        self.looks += 1
        if isinstance(self.version, Exception):
            raise self.version
        return self.version

    def try_append_audit(self, rows: list[Any]) -> bool:
        if self.gone is not None:
            raise self.gone
        if self.in_the_way or self.failure is not None:
            return False
        self.groups.append((list(rows), True))
        self.threads.append(threading.current_thread().name)
        return True

    def append_audit(self, rows: list[Any], *, may_degrade: bool) -> None:
        time.sleep(self.delay_s)
        self.groups.append((list(rows), may_degrade))
        self.threads.append(threading.current_thread().name)
        if self.failure is not None:
            raise self.failure


def driver_of(store: Store, readers: int = 4) -> Driver:
    return Driver(store, readers)  # type: ignore[arg-type]


def audit(*rows: Any, degradable: bool = True) -> Step:
    return Step("audit", lambda: None, rows=rows, degradable=degradable)


def take(*steps: Step) -> Generator[Step, Any, list[Any]]:
    """A request that takes `steps` one after the other and answers what became of each."""
    outcomes = []
    for step in steps:
        try:
            outcomes.append((yield step))
        except ValueError as failure:
            outcomes.append(str(failure))
    return outcomes


def run(store: Store, work: Callable[[Driver], Any]) -> Any:
    async def inside() -> Any:
        driver = driver_of(store)
        try:
            return await work(driver)
        finally:
            driver.close()

    return asyncio.run(inside())


def test_each_lane_runs_where_it_says() -> None:
    """Slow steps run in the pool, writes wherever their future is made."""
    name = threading.current_thread

    def submit() -> Future[str]:
        done: Future[str] = Future()
        threading.Thread(target=lambda: done.set_result("written"), name="writer").start()
        return done

    steps = (
        Step("slow", lambda: name().name.split("_")[0]),
        Step("write", lambda: "unused", submit),
    )
    assert run(Store(), lambda driver: driver.drive(take(*steps))) == ["slow", "written"]


def test_a_failure_of_a_step_is_raised_inside_the_request() -> None:
    """The generator decides what becomes of it and goes on, whatever the lane."""

    def fail() -> Any:
        raise ValueError("no")

    def submit() -> Future[Any]:
        failed: Future[Any] = Future()
        failed.set_exception(ValueError("not written"))
        return failed

    store = Store()
    store.failure = ValueError("no row")
    steps = (Step("slow", fail), Step("write", fail, submit), audit("a"))
    expected = ["no", "not written", "no row"]
    assert run(store, lambda driver: driver.drive(take(*steps))) == expected


def test_a_failure_the_request_does_not_take_comes_out() -> None:
    """An exception that leaves the generator leaves `drive`."""

    def request() -> Generator[Step, Any, None]:
        yield audit(1)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(Store(), lambda driver: driver.drive(request()))


def test_rows_of_requests_of_one_turn_share_a_commit() -> None:
    """Ten requests that finish together make one group; nobody is answered before it is stored."""
    store = Store()

    async def work(driver: Driver) -> Any:
        return await asyncio.gather(*(driver.drive(take(audit(number))) for number in range(10)))

    assert run(store, work) == [[None]] * 10
    assert store.groups == [(list(range(10)), True)]
    assert store.threads == [LOOP_THREAD]


def test_what_comes_during_a_commit_goes_into_the_next() -> None:
    """While somebody holds the store rows go through the thread; those that arrive meanwhile wait together."""
    store = Store()
    store.in_the_way = True
    store.delay_s = 0.05

    async def work(driver: Driver) -> None:
        first = asyncio.ensure_future(driver.drive(take(audit("first", degradable=False))))
        await asyncio.sleep(0.02)
        later = [driver.drive(take(audit(number, degradable=False))) for number in range(3)]
        await asyncio.gather(first, *later)

    run(store, work)
    assert store.groups == [(["first"], False), ([0, 1, 2], False)]
    assert all(thread.startswith("audit") for thread in store.threads)


def test_both_kinds_of_rows_are_kept_apart() -> None:
    """A row that must be stored never shares a commit with rows that may be left for later."""
    store = Store()
    store.in_the_way = True

    async def work(driver: Driver) -> None:
        await asyncio.gather(*(driver.drive(take(audit(flag, degradable=flag))) for flag in (True, False, True)))

    run(store, work)
    assert sorted(store.groups, key=lambda group: group[1]) == [([False], False), ([True, True], True)]


def test_a_lost_group_is_told_to_each_of_its_requests() -> None:
    """The failure of the commit is raised in every request that waited for it."""
    store = Store()
    store.failure = ValueError("disk full")

    async def work(driver: Driver) -> Any:
        return await asyncio.gather(*(driver.drive(take(audit(number))) for number in range(3)))

    assert run(store, work) == [["disk full"]] * 3


def test_the_loop_takes_rows_again_when_the_way_is_free() -> None:
    """While somebody holds the store the rows are committed by the thread, and on the loop again afterwards."""
    store = Store()

    async def work(driver: Driver) -> None:
        store.in_the_way = True
        await driver.drive(take(audit("during")))
        store.in_the_way = False
        await driver.drive(take(audit("after")))

    run(store, work)
    assert [rows for rows, _ in store.groups] == [["during"], ["after"]]
    assert (store.threads[0].startswith("audit"), store.threads[1]) == (True, LOOP_THREAD)


def test_slow_work_leaves_a_reader_for_the_loop() -> None:
    """With four readers three slow steps run at a time; reads on the loop and their audit rows go on meanwhile."""
    running: list[int] = []
    most = 0
    guard = threading.Lock()

    def slow() -> None:
        nonlocal most
        with guard:
            running.append(1)
            most = max(most, len(running))
        time.sleep(0.2)
        with guard:
            running.pop()

    async def work(driver: Driver) -> bool:
        waiting = [asyncio.ensure_future(driver.drive(take(Step("slow", slow)))) for _ in range(9)]
        await asyncio.sleep(0.01)
        await driver.drive(take(audit("quick")))
        taken_meanwhile = not any(task.done() for task in waiting)
        await asyncio.gather(*waiting)
        return taken_meanwhile

    assert run(Store(), work) is True
    assert most == 3


def test_a_client_that_goes_away_ends_its_request_and_no_other() -> None:
    """Cancelling closes the generator at once; the group its row is in is still committed for the others."""
    store = Store()
    store.in_the_way = True
    store.delay_s = 0.05
    closed: list[str] = []

    def request(name: str) -> Generator[Step, Any, str]:
        try:
            yield audit(name, degradable=False)
        except GeneratorExit:
            closed.append(name)
            raise
        return name

    async def work(driver: Driver) -> Any:
        leaving = asyncio.ensure_future(driver.drive(request("leaving")))
        staying = asyncio.ensure_future(driver.drive(request("staying")))
        await asyncio.sleep(0.02)
        leaving.cancel()
        return await asyncio.gather(leaving, staying, return_exceptions=True)

    gone, stayed = run(store, work)
    assert isinstance(gone, asyncio.CancelledError)
    assert (stayed, closed) == ("staying", ["leaving"])
    assert store.groups == [(["leaving", "staying"], False)]


def waiting(for_s: float = 20.0) -> Step:
    return Step("wait", lambda: None, until=time.monotonic() + for_s, version=1)


def test_one_look_tells_all_who_wait() -> None:
    """Fifty calls cost as many looks as there are intervals, beside the one of each when it begins to wait."""
    store = Store()

    async def change() -> None:
        await asyncio.sleep(0.5)
        store.version = 2

    async def work(driver: Driver) -> Any:
        calls = [driver.drive(take(waiting())) for _ in range(50)]
        return await asyncio.gather(change(), *calls)

    assert run(store, work)[1:] == [[False]] * 50
    assert 50 + 5 <= store.looks <= 50 + 14


def test_a_wait_is_over_in_time_or_when_its_client_is_gone() -> None:
    """Both say so to the request, which goes on."""
    store = Store()

    async def leave() -> None:
        await asyncio.sleep(0.1)

    async def work(driver: Driver) -> Any:
        return await asyncio.gather(driver.drive(take(waiting(0.2))), driver.drive(take(waiting()), leave))

    began = time.monotonic()
    assert run(store, work) == [[True], [True]]
    assert 0.2 <= time.monotonic() - began < 1.0


def test_a_store_that_cannot_be_looked_at_fails_those_who_wait() -> None:
    """What the look raises is raised inside each request."""
    store = Store()

    async def work(driver: Driver) -> Any:
        calls = [asyncio.create_task(driver.drive(take(waiting()))) for _ in range(3)]
        await asyncio.sleep(0.1)
        store.version = ValueError("closed")
        return await asyncio.gather(*calls)

    assert run(store, work) == [["closed"]] * 3


def test_a_write_of_the_process_wakes_at_once() -> None:
    """Whoever waits hears of it before the next look is due."""
    store = Store()

    def submit() -> Future[str]:
        store.version = 2
        done: Future[str] = Future()
        done.set_result("written")
        return done

    async def work(driver: Driver) -> Any:
        call = asyncio.create_task(driver.drive(take(waiting())))
        await asyncio.sleep(0.01)
        began = time.monotonic()
        await driver.drive(take(Step("write", lambda: None, submit)))
        return await call, time.monotonic() - began

    outcome, took_s = run(store, work)
    assert outcome == [False]
    assert took_s < 0.03


def test_a_store_that_is_gone_fails_the_requests_that_wait_for_their_rows() -> None:
    """A closed store raised out of the loop's own callback, so that these requests waited for ever; now each carries
    the failure, and the lane takes the next rows."""
    store = Store()
    store.gone = ValueError("closed")

    async def work(driver: Driver) -> Any:
        first = await asyncio.gather(*(driver.drive(take(audit(name))) for name in "ab"))
        store.gone = None
        return first, await driver.drive(take(audit("c")))

    assert run(store, work) == ([["closed"], ["closed"]], [None])
    assert store.groups == [(["c"], True)]
