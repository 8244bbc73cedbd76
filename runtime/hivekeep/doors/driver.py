"""Runs the steps of a dispatched request on the event loop, each in the lane it asks for.

What it keeps true: the loop never waits for a disk. Writes go to the writing thread, slow work to a pool,
audit rows to a thread that commits whatever requests have gathered while it was busy; only what dispatch
calls quick runs inline. When the client goes away the steps are closed; a write that the writer already
took is still carried out.
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
    """Takes generators of steps to their end, on the event loop that first uses it.

    `readers` is the size of the store's pool: slow work never takes the last reader, for which the loop
    would wait.
    """

    def __init__(self, engine: Engine, readers: int) -> None:
        self._audits = {degradable: _AuditGroup(engine, degradable) for degradable in (True, False)}
        self._slow = ThreadPoolExecutor(max(1, readers - 1), thread_name_prefix="slow")

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
        for group in self._audits.values():
            group.close()

    async def _take(self, step: Step) -> Any:
        if step.lane == "quick":
            return step.run()
        if step.lane == "audit":
            return await self._audits[step.degradable].append(step.rows)
        if step.submit is not None:
            return await asyncio.wrap_future(step.submit())
        return await asyncio.get_running_loop().run_in_executor(self._slow, step.run)


class _AuditGroup:
    """Audit rows of many requests, committed together: what came during one commit goes into the next."""

    def __init__(self, engine: Engine, degradable: bool) -> None:
        self._engine = engine
        self._degradable = degradable
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="audit")
        self._rows: list[EventRow] = []
        self._waiting: asyncio.Future[None] | None = None
        self._busy = False

    async def append(self, rows: tuple[EventRow, ...]) -> None:
        """Return when `rows` are committed; raises what the commit of their group raised."""
        loop = asyncio.get_running_loop()
        self._rows.extend(rows)
        if self._waiting is None:
            self._waiting = loop.create_future()
        group = self._waiting
        if not self._busy:
            self._busy = True
            loop.call_soon(self._start, loop)
        await asyncio.shield(group)

    def close(self) -> None:
        self._thread.shutdown()

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        group, rows = self._waiting, self._rows
        self._waiting, self._rows = None, []
        commit = loop.run_in_executor(self._thread, self._commit, rows)
        commit.add_done_callback(lambda done: self._finish(loop, group, done))

    def _commit(self, rows: list[EventRow]) -> None:
        self._engine.append_audit(rows, may_degrade=self._degradable)

    def _finish(
        self, loop: asyncio.AbstractEventLoop, group: asyncio.Future[None] | None, done: asyncio.Future[None]
    ) -> None:
        failure = done.exception()
        if group is not None and not group.done():
            if failure is None:
                group.set_result(None)
            else:
                group.set_exception(failure)
                # Every request of the group may have gone away; then nobody is left to retrieve it.
                group.exception()
        if self._waiting is not None:
            self._start(loop)
        else:
            self._busy = False
