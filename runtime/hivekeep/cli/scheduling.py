"""`hivekeep agenda` as a table, and `hivekeep schedule drain`: one pass of the dispatcher.

Invariant: the agenda shows what schedule.agenda answers; a drain waits for another dispatcher no longer than one that
is gone can hold it up.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any, Final

from hivekeep.cli.columns import table
from hivekeep.jobs.dispatching import Dispatcher, Summary
from hivekeep.times import iso
from hivekeep.wiring import open_server
from hivekeep_contract.errors import Unsupported
from hivekeep_contract.limits import SCHEDULE_LEASE_MS
from hivekeep_contract.settings import Settings

NOTHING: Final = "nothing is scheduled"
BUSY: Final = "another process is carrying out what is due"

_ID_CHARS: Final = 8
_HEADINGS: Final = ("DUE (UTC)", "REPEAT", "WHAT", "BY", "ID")
_ELASTIC: Final = ("REPEAT", "WHAT", "BY")
_LOOK_AGAIN_S: Final = 0.1


def to_table(agenda: dict[str, Any]) -> str:
    """The events of an answer of schedule.agenda, one line each."""
    rows = [_row(event, event["properties"]) for event in agenda["events"]]
    return table(_HEADINGS, rows, elastic=_ELASTIC) if rows else NOTHING


def _row(event: dict[str, Any], properties: dict[str, Any]) -> tuple[str, ...]:
    due = iso(properties["trigger_us"]).partition(".")[0].replace("T", " ")
    return due, properties["repeat"] or "-", event["content"], properties["created_by_actor"], event["id"][:_ID_CHARS]


def drain(settings: Settings) -> Summary | None:
    """Carry out what is due; None when another process still does after its lease could have run out.

    Raises Unsupported where the pack is not loaded, and the errors of the store.
    """
    server = open_server(settings, threaded=False)
    try:
        if "schedule" not in server.around.packs:
            raise Unsupported("the pack schedule is not loaded (runtime.packs)")
        dispatcher = Dispatcher(server)
        until = time.monotonic() + 2 * SCHEDULE_LEASE_MS / 1000
        while (summary := dispatcher.run_pass()) is None and time.monotonic() < until:
            time.sleep(_LOOK_AGAIN_S)
        return summary
    finally:
        server.engine.close()


def to_json(summary: Summary) -> dict[str, Any]:
    """The counters of a pass."""
    return asdict(summary)


def to_text(summary: Summary) -> str:
    """The counters of a pass that say something, one line each."""
    shown = {name: len(value) if isinstance(value, list) else value for name, value in asdict(summary).items()}
    told = [f"{name:20}{value}" for name, value in shown.items() if value]
    return "\n".join(told) if told else "nothing was due"
