"""Stored rows as the contract's shapes: every declared field present, full ids, ISO timestamps."""

import json
from collections.abc import Mapping
from typing import Any, cast

from hivekeep import strict_json
from hivekeep.identity.caller import Caller
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.engine import EventRow
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import load_object, load_tags
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.proposals import ProposalRow
from hivekeep.times import iso, iso_or_none
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import kg as models


def entity(row: EntityRow, *, properties: dict[str, Any] | None = None, tags: list[str] | None = None) -> models.Entity:
    """The public record of an entity; `properties` and `tags` spare reading the row's text again."""
    return {
        "id": row.id,
        "namespace": row.namespace,
        "kind": row.kind,
        "entity_type": row.entity_type,
        "name": row.name,
        "description": row.description,
        "properties": load_object(row.properties) if properties is None else properties,
        "tags": load_tags(row.tags) if tags is None else tags,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "deleted_at": iso_or_none(row.deleted_at),
        "merged_into": row.merged_into,
        "merge_event_id": row.merge_event_id,
    }


def note(row: NoteRow, *, parse_content: bool = False) -> models.Note:
    """The public record of a note.

    A text `properties.status` is shown as the status, and the row's own one as `lifecycle` then. Raises InvalidInput
    when content should be parsed and is not JSON.
    """
    properties = load_object(row.properties)
    shown: models.Note = {
        "id": row.id,
        "namespace": row.namespace,
        "kind": row.kind,
        "status": row.status,
        "name": row.name,
        "content": parsed(row) if parse_content else row.content,
        "salience": row.salience,
        "decay_factor": row.decay_factor,
        "expires_at": iso_or_none(row.expires_at),
        "properties": properties,
        "version": row.version,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "deleted_at": iso_or_none(row.deleted_at),
    }
    status = properties.get("status")
    if isinstance(status, str):
        shown["lifecycle"] = row.status
        shown["status"] = status
    if row.key is not None:
        shown["key"] = row.key
    return shown


def parsed(row: NoteRow) -> Any:
    """The content of a note as its JSON value; raises InvalidInput that names note and field."""
    try:
        return strict_json.decode(row.content)
    except ValueError:
        raise InvalidInput(f"note {row.id}: field 'content' is not JSON; read it without parse_content") from None


def edge(row: EdgeRow) -> models.Edge:
    """The public record of an edge, endpoints in stored order."""
    return {
        "id": row.id,
        "namespace": row.namespace,
        "source_id": row.source_id,
        "target_id": row.target_id,
        "relation": row.relation,
        "weight": row.weight,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "deleted_at": iso_or_none(row.deleted_at),
        "metadata": None if row.metadata is None else load_object(row.metadata),
        "target_backend": row.target_backend,
    }


def event(row: EventRow) -> models.Event:
    """The public record of an event."""
    return {
        "id": row.id,
        "namespace": row.namespace,
        "verb": row.verb,
        "substrate": row.substrate,
        "actor": row.actor,
        "kind": row.kind,
        "outcome": row.outcome,
        "payload": load_object(row.payload),
        "payload_schema_version": row.payload_schema_version,
        "profile_state_version": row.profile_state_version,
        "duration_us": row.duration_us,
        "target_id": row.target_id,
        "session_id": row.session_id,
        "aggregate_kind": row.aggregate_kind,
        "aggregate_id": row.aggregate_id,
        "created_at": iso(row.created_at),
    }


def proposal_row(row: ProposalRow) -> models.ProposalRow:
    """A proposal in a list."""
    return {
        "id": row.id,
        "proposer": Caller(row.proposer_kind, row.proposer_id).caller_label,
        "title": row.title,
        "status": status(row),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "expiry": iso_or_none(row.expiry),
        "last_decision": cast("models.ReviewDecision | None", row.last_decision),
        "review_count": row.review_count,
        "approve_count": row.approve_count,
        "reject_count": row.reject_count,
    }


def proposal(row: ProposalRow, proposed: Mapping[str, Any]) -> models.Proposal:
    """The public record of a proposal; `proposed` is the payload of the event that made it."""
    return {
        **proposal_row(row),
        "kind": "proposal",
        "namespace": row.namespace,
        "description": proposed["description"],
        "changeset": proposed["changeset"],
        "reviewers": proposed["reviewers"],
        "parent_id": proposed["parent_id"],
        "apply_error": None if row.apply_error is None else json.loads(row.apply_error),
    }


def status(row: ProposalRow) -> models.ProposalStatus:
    """Where a proposal stands."""
    return cast("models.ProposalStatus", row.status)
