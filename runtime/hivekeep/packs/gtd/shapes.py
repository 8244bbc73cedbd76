"""A task as the verbs of its pack answer it.

Invariant: a task whose note lacks something, or has it in another type, is still shown: a missing status counts as
inbox and a missing priority as the default one, as they do when tasks are filtered.
"""

from typing import Any

from hivekeep.storage.json_text import load
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.task_fields import INITIAL_STATUS, KIND
from hivekeep.storage.tasks import TaskRow
from hivekeep.times import iso
from hivekeep_contract.limits import TASK_PRIORITY
from hivekeep_contract.models import gtd as models

NO_TITLE = "[task]"


def properties_of(row: NoteRow | TaskRow) -> dict[str, Any]:
    """What is stored of a task besides its columns; nothing when that is no object."""
    stored = load(row.properties)
    return stored if isinstance(stored, dict) else {}


def status_of(properties: dict[str, Any]) -> str:
    """Where a task stands: a status, or whatever other text is stored."""
    stored = properties.get("status")
    return stored if isinstance(stored, str) else INITIAL_STATUS


def task(row: NoteRow | TaskRow) -> models.Task:
    """The envelope of every verb that answers tasks."""
    properties = properties_of(row)
    stored = properties.get
    # Written out: a list has up to 200 of these, and a helper would be called four times for each.
    priority, assignee, due, context = (
        stored("priority"),
        stored("assignee"),
        stored("due"),
        stored("context_entity_id"),
    )
    created = iso(row.created_at)
    return {
        "id": row.id,
        "full_id": row.id,
        "kind": KIND,
        "title": row.name or NO_TITLE,
        "status": status_of(properties),
        "priority": priority if isinstance(priority, str) else TASK_PRIORITY,
        "assignee": assignee if isinstance(assignee, str) else None,
        "due": due if isinstance(due, str) else None,
        "context_entity_id": context if isinstance(context, str) else None,
        "namespace": row.namespace,
        "created_at": created,
        "updated_at": created if row.updated_at == row.created_at else iso(row.updated_at),
        "properties": properties,
    }
