"""`hivekeep tasks`: the tasks of a store as a table.

Invariant: what is shown is what gtd.tasks answers, page after page and newest first; a list that is empty only because
finished tasks are left out says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from hivekeep.cli.columns import table
from hivekeep_contract.limits import TASKS_CAP
from hivekeep_contract.vocabulary import TRANSITIONS

FINISHED: Final = tuple(status for status, ways in TRANSITIONS["gtd.status"].items() if not ways)

NOTHING: Final = "no tasks"
NOTHING_OPEN: Final = "no open tasks; --all shows those that are "
_ID_CHARS: Final = 8
_HEADINGS: Final = ("ID", "STATUS", "PRIO", "DUE (UTC)", "ASSIGNEE", "TITLE", "WAITS FOR")
_ELASTIC: Final = ("ASSIGNEE", "TITLE", "WAITS FOR")

Ask = Callable[[str], list[Any]]
"""Runs operations and answers their results; raises when one failed."""


def listed(ask: Ask, filters: Mapping[str, str], *, finished: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """The tasks that meet the filters, and which finished ones were left out of an empty list.

    `filters` are arguments of gtd.tasks; `finished` adds the tasks that have ended to the open ones.
    """
    found: list[dict[str, Any]] = []
    for status in ({}, *({"status": name} for name in FINISHED)) if finished else ({},):
        for page in _pages(ask, {**filters, **status}):
            if isinstance(page, dict) and not finished:
                return [], page["filter_excluded"]
            found += page if isinstance(page, list) else []
    return sorted(found, key=lambda task: str(task["created_at"]), reverse=True), []


def _pages(ask: Ask, args: Mapping[str, str]) -> Iterator[Any]:
    offset = 0
    while True:
        told = {**args, "limit": TASKS_CAP, "offset": offset}
        (page,) = ask(json.dumps([{"tool": "gtd.tasks", "args": told}]))
        yield page
        if len(page) < TASKS_CAP:
            return
        offset += TASKS_CAP


def to_table(tasks: Sequence[dict[str, Any]], left_out: Sequence[str]) -> str:
    """One line a task, or one that says why there is none."""
    if tasks:
        return table(_HEADINGS, [_row(task) for task in tasks], elastic=_ELASTIC)
    return NOTHING_OPEN + " or ".join(word.replace("_", " ") for word in left_out) if left_out else NOTHING


def _row(task: dict[str, Any]) -> tuple[str, ...]:
    return (
        task["id"][:_ID_CHARS],
        task["status"],
        task["priority"],
        _moment(task["due"]),
        task["assignee"] or "-",
        task["title"],
        ", ".join(_blocker(blocker) for blocker in task["blocked_by"]) or "-",
    )


def _moment(due: str | None) -> str:
    """The date, with the time of day unless that is midnight."""
    if due is None:
        return "-"
    day, _, time = due.partition("T")
    return day if time.startswith("00:00:00.000000") else f"{day} {time[:5]}"


def _blocker(blocker: dict[str, Any]) -> str:
    return f"{str(blocker['id'])[:_ID_CHARS]} ({blocker.get('status', blocker['state']).replace('_', ' ')})"
