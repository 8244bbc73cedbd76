"""What the statements and indexes over tasks read out of the properties of a note, as SQL expressions.

Invariant: a stored status that is missing, null or no text counts as the first status of the contract, and a priority
that is none of the contract's as the default one, wherever tasks are filtered or ordered. The expressions are those of
the indexes in the schema, letter for letter: a statement that writes them otherwise would not find its index.
"""

from __future__ import annotations

from typing import Final

from hivekeep.storage.statements import sql
from hivekeep_contract.limits import ACTIONABLE_STATUSES, TASK_PRIORITY
from hivekeep_contract.vocabulary import ENUMS, TRANSITIONS

KIND: Final = "task"
STATUSES: Final = ENUMS["gtd.status"]
INITIAL_STATUS: Final = STATUSES[0]
OPEN_STATUSES: Final = tuple(status for status in STATUSES if TRANSITIONS["gtd.status"][status])
FINAL_STATUSES: Final = tuple(status for status in STATUSES if not TRANSITIONS["gtd.status"][status])
DONE: Final = "done"
"""The one status that frees what depends on a task."""
PRIORITIES: Final = ENUMS["gtd.priority"]

LIVE_TASK: Final = "kind = 'task' AND deleted_at IS NULL"
"""The condition of the indexes over tasks."""

_STATUS: Final = (
    "CASE json_type({p}properties, '$.status') WHEN 'text' THEN json_extract({p}properties, '$.status')"
    " ELSE '{initial}' END"
)
_RANK: Final = "CASE json_extract({p}properties, '$.priority') {known} ELSE {default} END"


def status(prefix: str = "") -> str:
    """The status that counts; `prefix` is the alias of the notes table with a dot, or nothing."""
    return sql(_STATUS, p=prefix, initial=INITIAL_STATUS)


def rank(prefix: str = "") -> str:
    """The place of the priority among all, the highest first."""
    others = ((place, name) for place, name in enumerate(PRIORITIES) if name != TASK_PRIORITY)
    known = " ".join(f"WHEN '{name}' THEN {place}" for place, name in others)
    return sql(_RANK, p=prefix, known=known, default=str(PRIORITIES.index(TASK_PRIORITY)))


def assignee(prefix: str = "") -> str:
    """Who does it, null when nobody is named."""
    return "json_extract(" + prefix + "properties, '$.assignee')"


def actionable(prefix: str = "") -> str:
    """Whether somebody can work on a task of this status."""
    return status(prefix) + " IN (" + ", ".join(f"'{name}'" for name in ACTIONABLE_STATUSES) + ")"


INDEXES: Final = tuple(
    sql(text, status=status(), rank=rank(), assignee=assignee(), live=LIVE_TASK, actionable=actionable())
    for text in (
        "CREATE INDEX notes_tasks ON notes (namespace, {status}, created_at DESC, id) WHERE {live}",
        "CREATE INDEX notes_tasks_assigned ON notes (namespace, {assignee}, {status}, created_at DESC, id)"
        " WHERE {live}",
        "CREATE INDEX notes_tasks_next ON notes (namespace, {rank}, created_at DESC, id) WHERE {live} AND {actionable}",
    )
)
"""The indexes as the schema must have them."""
