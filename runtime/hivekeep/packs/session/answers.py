"""Stored sessions as the shapes of the contract.

Invariant: what a session does not have, or has in another form than its verbs store, is shown as null or as no tags.
"""

from typing import Any, cast

from hivekeep.storage.json_text import load_object
from hivekeep.storage.notes import NoteRow
from hivekeep.times import iso
from hivekeep_contract.models import session as models


def record(row: NoteRow) -> models.Session:
    """A session with its content."""
    properties = load_object(row.properties)
    return cast("models.Session", {**_described(row, properties), "content": row.content, "properties": properties})


def summary(row: NoteRow) -> models.SessionSummary:
    """A session without its content."""
    return cast(
        "models.SessionSummary", {"id": row.id, "full_id": row.id, **_described(row, load_object(row.properties))}
    )


def _described(row: NoteRow, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "title": row.name,
        "provider": _text(properties.get("provider")),
        "provider_session_id": _text(properties.get("provider_session_id")),
        "tags": _texts(properties.get("tags")),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "namespace": row.namespace,
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
