"""How stored runs and events are shown, and how a page of them ends.

Invariant: everything that a client reported is marked untrusted, and no page is larger than an answer may be.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Final, TypeVar, cast

from hivekeep import compact_json
from hivekeep.agent.canonical import ts, ts_us
from hivekeep.storage.agent_events import LedgerRow
from hivekeep.storage.agent_runs import RunPlace, RunRow
from hivekeep.storage.json_text import load, load_object
from hivekeep_contract.gateway import API_VERSION
from hivekeep_contract.gateway_errors import ValidationError
from hivekeep_contract.limits import GATEWAY_PAGE_MAX_BYTES
from hivekeep_contract.models import gateway as models

V = TypeVar("V")

_CURSOR_VERSION: Final = 1


def run_view(run: RunRow) -> models.RunView:
    """A run as reads show it (gateway rules, runs and state)."""
    client: models.Client = {"kind": run.client_kind}
    if run.client_version is not None:
        client["version"] = run.client_version
    if run.client_session_id is not None:
        client["sessionId"] = run.client_session_id
    return {
        "runId": run.id,
        "workspace": run.workspace,
        "client": client,
        "protocolVersion": API_VERSION,
        "captureProfile": cast(models.CaptureProfile, run.capture_profile),
        "coverage": cast(models.Coverage, load_object(run.coverage)),
        "status": cast(models.RunStatus, run.status),
        "title": run.title,
        "taskHash": run.task_hash,
        "metadata": load_object(run.metadata),
        "parentRunId": run.parent_run_id,
        "lastSequence": run.last_sequence,
        "lastSourceSequence": run.last_source_sequence,
        "startedAt": ts(run.started_at),
        "endedAt": None if run.ended_at is None else ts(run.ended_at),
        "createdAt": ts(run.created_at),
        "updatedAt": ts(run.updated_at),
        "untrusted": True,
    }


def event_view(run_id: str, row: LedgerRow) -> models.EventView:
    """An event as reads show it (gateway rules, pagination)."""
    return {
        "eventId": row.event_id,
        "runId": run_id,
        "sequence": row.sequence,
        "sourceEventId": row.source_event_id,
        "sourceSequence": row.source_sequence,
        "eventType": cast(models.EventType, row.event_type),
        "sourceType": row.source_type,
        "actor": row.actor,
        "outcome": row.outcome,
        "occurredAt": ts(row.occurred_at),
        "ingestedAt": ts(row.ingested_at),
        "payload": load(row.payload),
        "redaction": load(row.redaction),
        "previousHash": row.previous_hash,
        "eventHash": row.event_hash,
        "untrusted": True,
    }


def within_bytes(items: Iterable[V]) -> list[V]:
    """The leading items that fit into a page, and the first one whatever its size."""
    page: list[V] = []
    size = 0
    for item in items:
        size += len(compact_json.encode(item))
        if page and size > GATEWAY_PAGE_MAX_BYTES:
            break
        page.append(item)
    return page


def run_cursor(run: RunRow) -> str:
    """Where the page behind a run begins: base64url without padding of its place (gateway rules, pagination)."""
    return _cursor(RunPlace(run.created_at, run.id))


def run_place(cursor: str) -> RunPlace:
    """The place of a cursor. Raises ValidationError for a text that no page gave."""
    try:
        value = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        place = RunPlace(ts_us(value["createdAt"]), value["runId"])
        given = isinstance(place.id, str) and _cursor(place) == cursor
    except (ValueError, KeyError, TypeError, RecursionError):
        given = False
    if not given:
        raise ValidationError("bad_cursor", field="/cursor")
    return place


def _cursor(place: RunPlace) -> str:
    value = {"version": _CURSOR_VERSION, "createdAt": ts(place.created_at), "runId": place.id}
    return urlsafe_b64encode(compact_json.encode(value)).decode().rstrip("=")
