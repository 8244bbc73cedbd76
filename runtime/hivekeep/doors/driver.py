"""Runs the steps of a dispatched request on the event loop, each in the lane it asks for.

What it keeps true: the loop does not wait for a disk or a lock. Writes go to the writing thread and slow work to a
pool; what dispatch calls quick it does itself between two steps. Audit rows of requests that are at work at the same
time are committed together, as soon as a turn of the loop brings no more of them: on the loop when nobody is in the
way (such a commit needs no sync of the disk), otherwise in a thread. When the client goes away the steps are closed; a
write that the writer already took is still carried out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hivekeep.dispatch.run import Step
    from hivekeep.storage.engine import Engine, EventRow


class Driver:
    """Takes generators of steps to their end, on the event loop that uses it.

    `readers` is the size of the store's pool: slow work never takes the last reader, for which the loop would wait.
    """

    def __init__(self, engine: Engine, readers: int) -> None:
        self._slow = ThreadPoolExecutor(max(1, readers - 1), thread_name_prefix="slow")
        self._strict = _AuditLane(engine, may_degrade=False)
        self._lenient = _AuditLane(engine, may_degrade=True)

    async def drive(self, steps: Generator[Step, Any, Any]) -> Any:
        """The value that the generator `steps` returns; what a step raises is raised inside the generator."""
        try:
            step = next(steps)
            while True:
                try:
                    outcome = await self._taken(step)
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
            return asyncio.wrap_future(step.submit())
        return asyncio.get_running_loop().run_in_executor(self._slow, step.run)


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
        if self._engine.try_append_audit(rows):
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
