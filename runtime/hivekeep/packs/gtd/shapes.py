"""A task as the verbs of its pack answer it.

Invariant: a task whose note lacks something, or has it in another type, is still shown: a missing status counts as
inbox and a missing priority as the default one, as they do when tasks are filtered.
"""

from typing import Any

from hivekeep.storage.json_text import load
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.task_fields import INITIAL_STATUS
from hivekeep.times import iso
from hivekeep_contract.limits import TASK_PRIORITY
from hivekeep_contract.models import gtd as models

NO_TITLE = "[task]"


def properties_of(row: NoteRow) -> dict[str, Any]:
    """What is stored of a task besides its columns; nothing when that is no object."""
    stored = load(row.properties)
    return stored if isinstance(stored, dict) else {}


def status_of(properties: dict[str, Any]) -> str:
    """Where a task stands: a status, or whatever other text is stored."""
    return text_or(properties.get("status"), INITIAL_STATUS)


def text_or(value: object, default: str) -> str:
    """The value when it is a text, otherwise the default."""
    return value if isinstance(value, str) else default


def text_or_none(value: object) -> str | None:
    """The value when it is a text."""
    return value if isinstance(value, str) else None


def task(row: NoteRow) -> models.Task:
    """The envelope of every verb that answers tasks."""
    properties = properties_of(row)
    return {
        "id": row.id,
        "full_id": row.id,
        "kind": row.kind,
        "title": row.name or NO_TITLE,
        "status": status_of(properties),
        "priority": text_or(properties.get("priority"), TASK_PRIORITY),
        "assignee": text_or_none(properties.get("assignee")),
        "due": text_or_none(properties.get("due")),
        "context_entity_id": text_or_none(properties.get("context_entity_id")),
        "namespace": row.namespace,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "properties": properties,
    }
