"""The job that carries out what is scheduled while a server runs.

Invariant: every `schedule.tick_secs` the server looks once for what is due; a failure of a look is told in the log and
the next one comes all the same. Only `hivekeep serve` has this job: nothing else lives long enough to be relied on.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from hivekeep.dispatch.run import Server
from hivekeep.jobs.dispatching import Dispatcher
from hivekeep.packs.schedule import SchedulePack
from hivekeep.packs.schedule.looking import Tick
from hivekeep.storage.faults import is_closing
from hivekeep.times import now_us
from hivekeep_contract.errors import StorageUnavailable

_STOP_WAIT_S: Final = 10.0
_log = logging.getLogger(__name__)


class ScheduleJob:
    """A thread that runs one pass after the other while the process lives."""

    def __init__(self, server: Server, pack: SchedulePack) -> None:
        self._dispatcher = Dispatcher(server)
        self._pack = pack
        self._tick_s = server.around.settings.schedule_tick_secs
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hivekeep-schedule", daemon=True)

    def start(self) -> None:
        """Begin; once."""
        self._pack.tick = Tick(None)
        self._thread.start()

    def stop(self) -> None:
        """End after the event under way, and let another process go on; call it before the store is closed."""
        self._stopping.set()
        self._dispatcher.stop()
        if self._thread.is_alive():
            self._thread.join(_STOP_WAIT_S)

    def _run(self) -> None:
        while True:
            try:
                self._dispatcher.run_pass()
            except StorageUnavailable as fault:
                if is_closing(fault):
                    return
                _log.warning("carrying out what is scheduled failed: %s", fault.message)
            except Exception as fault:
                # Its text may quote a record, its type does not.
                _log.warning("carrying out what is scheduled failed: %s", type(fault).__name__)
            self._pack.tick = Tick(now_us())
            if self._stopping.wait(self._tick_s):
                return


def start_job(server: Server) -> ScheduleJob | None:
    """The running job of a server that has the pack and may write; None otherwise."""
    pack = server.around.packs.get("schedule")
    if server.engine.read_only or not isinstance(pack, SchedulePack):
        return None
    job = ScheduleJob(server, pack)
    job.start()
    return job
