"""Words that all packs share.

Printed from registry/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Literal, TypeAlias


Category: TypeAlias = Literal["Assertive", "Directive", "Commissive", "Declaration"]


DependencyKind: TypeAlias = Literal["build", "runtime", "data", "artifact", "tooling", "normative"]


EventKind: TypeAlias = Literal["audit", "recall_executed", "rerank_executed", "search_executed", "link_created", "entity_created", "entity_updated", "entity_deleted", "entity_merged", "note_created", "note_updated", "note_deleted", "note_merged", "edge_updated", "edge_deleted", "task_transitioned", "feedback_explicit", "profile_resolution_recommended", "profile_merged", "embedding_model_changed", "embedding_migration_completed", "embedding_migration_failed", "embedding_drift_detected", "proposal_created", "proposal_reviewed", "proposal_applied", "proposal_withdrawn", "channel_poll_started", "channel_poll_succeeded", "channel_poll_failed", "channel_backoff_armed", "channel_backoff_reset", "channel_heartbeat_persist_failed", "config_locked", "checkpoint_outcome_recorded", "scheduled_event_ran", "phase_started", "phase_completed", "phase_cancelled"]


Outcome: TypeAlias = Literal["success", "denied", "error"]


Relation: TypeAlias = Literal["contains", "part_of", "instance_of", "links_to", "located_in", "extends", "variant_of", "introduced_by", "supersedes", "derived_from", "precedes", "depends_on", "enables", "implements", "competes_with", "composed_with", "annotates", "supports", "refutes"]


Substrate: TypeAlias = Literal["entity", "note", "edge", "event"]
