"""Entries as JSON for people and for the gateway.

Invariant: one shape for an entry wherever it is shown, the `entry_view` of the contract; moments are in milliseconds.
"""

from __future__ import annotations

from typing import Any

from hivekeep.agent.canonical import ts
from hivekeep.agent.curated.lifecycle import Stored
from hivekeep.storage.agent_entries import AuditRow, EntryRow
from hivekeep.storage.agent_links import NamedLink
from hivekeep.storage.agent_revisions import RevisionRow
from hivekeep.storage.json_text import load_object, load_tags


def entry(stored: Stored) -> dict[str, Any]:
    """An entry at its current revision."""
    row, said = stored.entry, stored.revision
    return {
        "entryId": row.id,
        "workspace": row.workspace,
        "status": row.status,
        "trustLevel": row.trust_level,
        "confidence": row.confidence,
        "revision": row.revision,
        **content(said),
        "supersededBy": row.superseded_by,
        "createdBy": row.created_by,
        "createdAt": ts(row.created_at),
        "updatedAt": ts(row.updated_at),
        "verifiedAt": None if row.verified_at is None else ts(row.verified_at),
        "disabled": bool(row.disabled),
        "source": source(row),
    }


def content(row: RevisionRow) -> dict[str, Any]:
    """What a revision says, and its hash."""
    return {
        "kind": row.kind,
        "title": row.title,
        "body": row.body,
        "summary": row.summary,
        "scope": load_object(row.scope),
        "provenance": load_object(row.provenance),
        "tags": load_tags(row.tags),
        "contentHash": row.content_hash,
    }


def source(row: EntryRow) -> dict[str, str] | None:
    """Where an entry stands in its managed source, if it has one."""
    if row.source_id is None or row.source_mapping is None or row.source_state is None:
        return None
    return {"id": row.source_id, "mapping": row.source_mapping, "state": row.source_state}


def revision(row: RevisionRow) -> dict[str, Any]:
    """One revision of an entry."""
    return {
        "revision": row.revision,
        **content(row),
        "createdBy": row.created_by,
        "createdAt": ts(row.created_at),
    }


def link(row: NamedLink) -> dict[str, str]:
    """A link by the ids of its entries."""
    return {
        "linkId": row.id,
        "fromId": row.from_id,
        "toId": row.to_id,
        "relation": row.relation,
        "createdBy": row.created_by,
        "createdAt": ts(row.created_at),
    }


def audit(row: AuditRow) -> dict[str, Any]:
    """What was done to an entry."""
    return {
        "operation": row.operation,
        "entryId": row.entry_id,
        "revision": row.revision,
        "otherId": row.other_id,
        "actor": row.actor,
        "createdAt": ts(row.created_at),
    }
