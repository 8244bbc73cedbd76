"""Runs the steps of a dispatched request on the event loop, each in the lane it asks for.

What it keeps true: the loop does not wait for a disk or a lock. Writes go to the writing thread and slow work to a
pool; what dispatch calls quick runs inline. Audit rows of all requests of one turn of the loop are committed together:
on the loop when nobody is in the way (such a commit needs no sync of the disk), otherwise in a thread. When the client
goes away the steps are closed; a write that the writer already took is still carried out.
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
                    outcome = await self._take(step)
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

    async def _take(self, step: Step) -> Any:
        if step.lane == "quick":
            return step.run()
        if step.lane == "audit":
            lane = self._lenient if step.degradable else self._strict
            return await lane.append(step.rows)
        if step.submit is not None:
            return await asyncio.wrap_future(step.submit())
        return await asyncio.get_running_loop().run_in_executor(self._slow, step.run)


class _AuditLane:
    """Audit rows on their way to the store, committed in groups: what came during one commit goes into the next."""

    def __init__(self, engine: Engine, *, may_degrade: bool) -> None:
        self._busy = False
        self._engine = engine
        self._may_degrade = may_degrade
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="audit")
        self._rows: list[EventRow] = []
        self._group: asyncio.Future[None] | None = None

    async def append(self, rows: tuple[EventRow, ...]) -> None:
        """Return when `rows` are committed; raises what the commit of their group raised."""
        loop = asyncio.get_running_loop()
        self._rows.extend(rows)
        if self._group is None:
            self._group = loop.create_future()
        group = self._group
        if not self._busy:
            self._busy = True
            loop.call_soon(self._commit_group, loop, group)
        await asyncio.shield(group)

    def close(self) -> None:
        """Wait for the commit that is going on."""
        self._thread.shutdown()

    def _commit_group(self, loop: asyncio.AbstractEventLoop, group: asyncio.Future[None]) -> None:
        rows, self._rows, self._group = self._rows, [], None
        if self._engine.try_append_audit(rows):
            self._settle(loop, group, None)
            return
        commit = loop.run_in_executor(self._thread, self._commit, rows)
        commit.add_done_callback(lambda done: self._settle(loop, group, done.result()))

    def _commit(self, rows: list[EventRow]) -> Exception | None:
        """What went wrong, or None; handed over as a value because a whole group waits for it."""
        try:
            self._engine.append_audit(rows, may_degrade=self._may_degrade)
        except Exception as failure:
            return failure
        return None

    def _settle(self, loop: asyncio.AbstractEventLoop, group: asyncio.Future[None], failure: Exception | None) -> None:
        if failure is None:
            group.set_result(None)
        else:
            group.set_exception(failure)
            # Every request of the group may have gone away; then nobody else asks for it.
            group.exception()
        if self._group is None:
            self._busy = False
        else:
            self._commit_group(loop, self._group)
