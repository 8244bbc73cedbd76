"""Runs the steps of a dispatched request on the event loop, each in the lane it asks for.

What it keeps true: the loop does not wait for a disk or a lock. Writes go to the writing thread and slow work to a
pool; what dispatch calls quick it does itself between two steps. Audit rows of requests that are at work at the same
time are committed together, as soon as a turn of the loop brings no more of them: on the loop when nobody is in the
way (such a commit needs no sync of the disk), otherwise in a thread. When the client goes away the steps are closed; a
write that the writer already took is still carried out.

A call that waits is a future and nothing else. While there is any, one look each `limits.WAIT_LOOK_EVERY_MS`, and one
after each write of this process, says to all of them whether the store changed. A wait whose client is gone is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from hivekeep_contract.limits import WAIT_LOOK_EVERY_MS

if TYPE_CHECKING:
    from hivekeep.dispatch.run import Step
    from hivekeep.storage.engine import Engine, EventRow


Gone = Callable[[], Awaitable[None]]


class Driver:
    """Takes generators of steps to their end, on the event loop that uses it.

    `readers` is the size of the store's pool: slow work never takes the last reader, for which the loop would wait.
    """

    def __init__(self, engine: Engine, readers: int) -> None:
        self._slow = ThreadPoolExecutor(max(1, readers - 1), thread_name_prefix="slow")
        self._strict = _AuditLane(engine, may_degrade=False)
        self._lenient = _AuditLane(engine, may_degrade=True)
        self._waiting = _WaitLane(engine)

    async def drive(self, steps: Generator[Step, Any, Any], gone: Gone | None = None) -> Any:
        """The value that the generator `steps` returns; what a step raises is raised inside the generator.

        `gone` returns when the client wants no answer any more.
        """
        try:
            step = next(steps)
            while True:
                try:
                    outcome = await (self._taken(step) if step.lane != "wait" else self._waiting.outcome(step, gone))
                except Exception as failure:
                    step = steps.throw(failure)
                else:
                    step = steps.send(outcome)
        except StopIteration as end:
            return end.value
        finally:
            steps.close()

    def close(self) -> None:
        """Wait for the threads; requests have ended by then."""
        self._slow.shutdown()
        self._strict.close()
        self._lenient.close()

    def _taken(self, step: Step) -> asyncio.Future[Any]:
        """What becomes of a step, which is on its way in its lane now."""
        if step.lane == "audit":
            return (self._lenient if step.degradable else self._strict).append(step.rows)
        if step.submit is not None:
            written = asyncio.wrap_future(step.submit())
            if self._waiting.parked:
                written.add_done_callback(self._waiting.look_soon)
            return written
        return asyncio.get_running_loop().run_in_executor(self._slow, step.run)


class _WaitLane:
    """Calls that wait for a change of the store. `parked` are their steps by the futures that end their waits."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._timer: asyncio.TimerHandle | None = None
        self.parked: dict[asyncio.Future[bool], Step] = {}

    async def outcome(self, step: Step, gone: Gone | None) -> bool:
        """The result of a wait; a client that goes away ends it."""
        woken = self._park(step)
        watched: list[asyncio.Future[Any]] = [woken]
        if gone is not None:
            watched.append(asyncio.ensure_future(gone()))
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            return woken.result() if woken.done() else True
        finally:
            self.parked.pop(woken, None)
            for future in watched:
                future.cancel()

    def look_soon(self, _written: asyncio.Future[Any]) -> None:
        """A write of this process ended: nobody has to wait for the next look."""
        self._look()

    def _park(self, step: Step) -> asyncio.Future[bool]:
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[bool] = loop.create_future()
        self.parked[woken] = step
        if self._timer is None:
            self._timer = loop.call_later(WAIT_LOOK_EVERY_MS / 1000, self._tick)
        # What changed since the call itself looked must not wait for the next tick.
        self._look()
        return woken

    def _tick(self) -> None:
        self._timer = None
        self._look()
        if self.parked:
            self._timer = asyncio.get_running_loop().call_later(WAIT_LOOK_EVERY_MS / 1000, self._tick)

    def _look(self) -> None:
        """One look at the store for everybody; a store that cannot be looked at fails them all."""
        try:
            version = self._engine.data_version()
        except Exception as failure:
            for woken in self._waiting():
                woken.set_exception(failure)
            return
        for woken in self._waiting():
            over = self.parked[woken].verdict(version)
            if over is not None:
                woken.set_result(over)

    def _waiting(self) -> list[asyncio.Future[bool]]:
        return [woken for woken in self.parked if not woken.done()]


class _AuditLane:
    """Audit rows on their way to the store, committed in groups: what came during one commit goes into the next."""

    def __init__(self, engine: Engine, *, may_degrade: bool) -> None:
        self._engine = engine
        self._may_degrade = may_degrade
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="audit")
        self._busy = False
        self._loop: asyncio.AbstractEventLoop
        self._rows: list[EventRow] = []
        self._waiting: list[asyncio.Future[None]] = []

    def append(self, rows: tuple[EventRow, ...]) -> asyncio.Future[None]:
        """Done when `rows` are committed; it carries what the commit of their group raised.

        Each request has a future of its own, so that one that is cancelled takes nothing from the others.
        """
        if not self._busy:
            self._busy = True
            self._loop = asyncio.get_running_loop()
            self._loop.call_soon(self._gather, 0)
        committed = self._loop.create_future()
        self._rows += rows
        self._waiting.append(committed)
        return committed

    def close(self) -> None:
        """Wait for the commit that is going on."""
        self._thread.shutdown()

    def _gather(self, seen: int) -> None:
        """Commit as soon as a turn of the loop brought no more rows; what others work on meanwhile is no time lost."""
        if len(self._rows) > seen:
            self._loop.call_soon(self._gather, len(self._rows))
        else:
            self._commit_group()

    def _commit_group(self) -> None:
        rows, self._rows = self._rows, []
        waiting, self._waiting = self._waiting, []
        try:
            stored = self._engine.try_append_audit(rows)
        except Exception as failure:
            # A store that is gone: nobody must wait for ever, nor must the loop hear of it.
            self._settle(waiting, failure)
            return
        if stored:
            self._settle(waiting, None)
            return
        commit = self._loop.run_in_executor(self._thread, self._commit, rows)
        commit.add_done_callback(lambda done: self._settle(waiting, done.result()))

    def _commit(self, rows: list[EventRow]) -> Exception | None:
        """What went wrong, or None; handed over as a value because a whole group waits for it."""
        try:
            self._engine.append_audit(rows, may_degrade=self._may_degrade)
        except Exception as failure:
            return failure
        return None

    def _settle(self, waiting: list[asyncio.Future[None]], failure: Exception | None) -> None:
        for committed in waiting:
            if committed.done():
                # Its client went away.
                continue
            if failure is None:
                committed.set_result(None)
            else:
                committed.set_exception(failure)
        if self._waiting:
            self._commit_group()
        else:
            self._busy = False
