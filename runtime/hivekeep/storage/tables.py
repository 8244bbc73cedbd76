"""The tables as the code believes them to be, declared once more as peewee models.

The migrations make a file; this module says what must come out. `differences` compares the two, for the
tests and for `doctor`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import apsw
from peewee import SQL, BlobField, CompositeKey, FloatField, ForeignKeyField, IntegerField, Model, TextField
from playhouse.apsw_ext import APSWDatabase
from playhouse.sqlite_ext import AutoIncrementField

from hivekeep.storage import message_fields, schedules, sessions, task_fields, threads, vector_layout

_LIVE: Final = SQL("deleted_at IS NULL")
_DELETED: Final = SQL("deleted_at IS NOT NULL")


class _Table(Model):
    """What all tables share."""

    class Meta:
        strict_tables = True


class SchemaMigration(_Table):
    """A migration that was carried out."""

    version = IntegerField(primary_key=True)
    name = TextField()
    checksum = TextField()
    applied_at = IntegerField()

    class Meta:
        table_name = "schema_migrations"


class EntityLedger(_Table):
    """An entity id with its number."""

    seq = AutoIncrementField()
    id = TextField()

    class Meta:
        table_name = "entity_ledger"


class NoteLedger(_Table):
    """A note id with its number."""

    seq = AutoIncrementField()
    id = TextField()

    class Meta:
        table_name = "note_ledger"


class EdgeLedger(_Table):
    """An edge id with its number."""

    seq = AutoIncrementField()
    id = TextField()

    class Meta:
        table_name = "edge_ledger"


class Entity(_Table):
    """See `entities.EntityRow`."""

    seq = ForeignKeyField(EntityLedger, column_name="seq", primary_key=True)
    id = TextField()
    namespace = TextField()
    kind = TextField()
    entity_type = TextField(null=True)
    name = TextField()
    name_key = TextField()
    description = TextField(null=True)
    properties = TextField()
    tags = TextField()
    created_at = IntegerField()
    updated_at = IntegerField()
    deleted_at = IntegerField(null=True)
    merged_into = TextField(null=True)
    merge_event_id = TextField(null=True)
    version = IntegerField()

    class Meta:
        table_name = "entities"


class Note(_Table):
    """See `notes.NoteRow`."""

    seq = ForeignKeyField(NoteLedger, column_name="seq", primary_key=True)
    id = TextField()
    namespace = TextField()
    kind = TextField()
    status = TextField()
    name = TextField(null=True)
    content = TextField()
    salience = FloatField(null=True)
    decay_factor = FloatField(null=True)
    expires_at = IntegerField(null=True)
    properties = TextField()
    key = TextField(null=True)
    created_at = IntegerField()
    updated_at = IntegerField()
    deleted_at = IntegerField(null=True)
    merged_into = TextField(null=True)
    merge_event_id = TextField(null=True)
    version = IntegerField()

    class Meta:
        table_name = "notes"


class TaskStep(_Table):
    """See `task_history.Step`."""

    seq = IntegerField(primary_key=True)
    note_id = TextField()
    namespace = TextField()
    from_state = TextField()
    to_state = TextField()
    note = TextField(null=True)
    at = IntegerField()

    class Meta:
        table_name = "gtd_lifecycle_audit"


class MessageArrival(_Table):
    """See `messages.arrived`."""

    seq = AutoIncrementField()
    note_seq = IntegerField()
    namespace = TextField()
    actor = TextField()

    class Meta:
        table_name = "message_arrivals"


class ChannelCursor(_Table):
    """See `channels.CursorRow`."""

    namespace = TextField()
    channel_kind = TextField()
    channel_slug = TextField()
    source = TextField()
    generation = TextField()
    high_water = TextField()
    updated_at = IntegerField()

    class Meta:
        table_name = "channel_cursors"
        primary_key = CompositeKey("namespace", "channel_kind", "channel_slug")
        without_rowid = True


class Edge(_Table):
    """See `edges.EdgeRow`."""

    seq = ForeignKeyField(EdgeLedger, column_name="seq", primary_key=True)
    id = TextField()
    namespace = TextField()
    source_id = TextField()
    target_id = TextField()
    relation = TextField()
    weight = FloatField()
    metadata = TextField(null=True)
    target_backend = TextField(null=True)
    created_at = IntegerField()
    updated_at = IntegerField()
    deleted_at = IntegerField(null=True)
    version = IntegerField()

    class Meta:
        table_name = "edges"


class Event(_Table):
    """See `engine.EventRow`."""

    seq = IntegerField(primary_key=True)
    id = TextField()
    namespace = TextField()
    verb = TextField()
    substrate = TextField()
    actor = TextField()
    kind = TextField()
    outcome = TextField()
    payload = TextField()
    payload_schema_version = IntegerField()
    profile_state_version = IntegerField(null=True)
    duration_us = IntegerField(null=True)
    target_id = TextField(null=True)
    session_id = TextField(null=True)
    aggregate_kind = TextField(null=True)
    aggregate_id = TextField(null=True)
    created_at = IntegerField()

    class Meta:
        table_name = "events"


class EventObservation(_Table):
    """See `events.Observation`."""

    event_id = ForeignKeyField(Event, field=Event.id, column_name="event_id", index=False)
    role = TextField()
    position = IntegerField()
    referent_id = TextField()

    class Meta:
        table_name = "event_observations"
        primary_key = CompositeKey("event_id", "role", "position")
        without_rowid = True


class Proposal(_Table):
    """See `proposals.ProposalRow`."""

    seq = IntegerField(primary_key=True)
    id = TextField()
    namespace = TextField()
    proposer_kind = TextField()
    proposer_id = TextField()
    title = TextField()
    status = TextField()
    expiry = IntegerField(null=True)
    created_event_id = ForeignKeyField(Event, field=Event.id, column_name="created_event_id", index=False)
    last_decision = TextField(null=True)
    review_count = IntegerField()
    approve_count = IntegerField()
    reject_count = IntegerField()
    apply_error = TextField(null=True)
    created_at = IntegerField()
    updated_at = IntegerField()

    class Meta:
        table_name = "proposals"


class BrainProfile(_Table):
    """See `brain_profiles.ProfileRow`."""

    namespace = TextField()
    profile_id = TextField()
    description = TextField(null=True)
    consumer_kind = TextField()
    state_class = TextField()
    lifecycle = TextField()
    created_at = IntegerField(null=True)
    updated_at = IntegerField()

    class Meta:
        table_name = "brain_profiles"
        primary_key = CompositeKey("namespace", "profile_id")
        without_rowid = True


class BrainBinding(_Table):
    """See `brain_profiles.BindingRow`."""

    namespace = TextField()
    actor = TextField()
    for_namespace = TextField()
    consumer_kind = TextField()
    profile_id = TextField()
    priority = IntegerField()
    created_at = IntegerField()

    class Meta:
        table_name = "brain_bindings"
        primary_key = CompositeKey("namespace", "actor", "for_namespace", "consumer_kind")
        without_rowid = True


class BrainState(_Table):
    """See `brain_states.StateRow`."""

    namespace = TextField()
    profile_id = TextField()
    relevance_alpha = FloatField()
    relevance_beta = FloatField()
    salience_alpha = FloatField()
    salience_beta = FloatField()
    temporal_alpha = FloatField()
    temporal_beta = FloatField()
    target_count = IntegerField()
    total_events = IntegerField()
    exploration_epoch = IntegerField()
    section_events = IntegerField()
    section_epoch = IntegerField()
    updated_at = IntegerField()

    class Meta:
        table_name = "brain_states"
        primary_key = CompositeKey("namespace", "profile_id")
        without_rowid = True


class BrainTarget(_Table):
    """See `brain_states.TargetRow`."""

    seq = IntegerField(primary_key=True)
    namespace = TextField()
    profile_id = TextField()
    target_id = TextField()
    alpha = FloatField()
    beta = FloatField()

    class Meta:
        table_name = "brain_targets"


class BrainSection(_Table):
    """See `brain_states.SectionRow`."""

    namespace = TextField()
    profile_id = TextField()
    section = TextField()
    alpha = FloatField()
    beta = FloatField()
    prior_alpha = FloatField()
    prior_beta = FloatField()

    class Meta:
        table_name = "brain_sections"
        primary_key = CompositeKey("namespace", "profile_id", "section")
        without_rowid = True


class BrainEvent(_Table):
    """See `brain_states.log`."""

    seq = IntegerField(primary_key=True)
    id = TextField()
    namespace = TextField()
    profile_id = TextField()
    event_kind = TextField()
    payload = TextField()
    created_at = IntegerField()

    class Meta:
        table_name = "brain_events"


class BrainMass(_Table):
    """See `brain_states.Mass`."""

    namespace = TextField()
    profile_id = TextField()
    target_id = TextField()
    mass = FloatField()
    updated_at = IntegerField()

    class Meta:
        table_name = "brain_mass"
        primary_key = CompositeKey("namespace", "profile_id", "target_id")
        without_rowid = True


class BrainScored(_Table):
    """See `serve_ledger.claim`."""

    scorer_run_id = TextField()
    serve_ledger_id = TextField()
    created_at = IntegerField()

    class Meta:
        table_name = "brain_scored"
        primary_key = CompositeKey("serve_ledger_id", "scorer_run_id")
        without_rowid = True


class BrainServe(_Table):
    """See `serve_ledger.ServeRow`; SQLite computes `accounting_profile_id`."""

    seq = IntegerField(primary_key=True)
    id = TextField()
    namespace = TextField()
    consumer_kind = TextField()
    served_by_profile_id = TextField(null=True)
    resolved_profile_id = TextField(null=True)
    resolved_at = IntegerField(null=True)
    target_id = TextField()
    query_class = TextField()
    query_raw = TextField()
    served_at = IntegerField()
    grade = TextField(null=True)
    graded_at = IntegerField(null=True)
    scorer_run_id = TextField(null=True)

    class Meta:
        table_name = "brain_serve_ledger"


class EmbeddingModel(_Table):
    """See `vector_layout.Model`."""

    id = AutoIncrementField()
    name = TextField()
    revision = TextField()
    dims = IntegerField()
    created_at = IntegerField()

    class Meta:
        table_name = "embedding_models"


class Vector(_Table):
    """See `vectors.VectorRow`; `place` is made of substrate and seq, see `vector_layout.place`."""

    model_id = ForeignKeyField(EmbeddingModel, column_name="model_id", index=False)
    place = IntegerField()
    substrate = TextField()
    namespace = TextField()
    kind = TextField()
    source_hash = IntegerField()
    embedding = BlobField(null=True)

    class Meta:
        table_name = "vectors"
        primary_key = CompositeKey("model_id", "place")
        without_rowid = True


class VectorStamp(_Table):
    """The state of one partition of the vectors; see `vector_memory`."""

    namespace = TextField()
    model_id = ForeignKeyField(EmbeddingModel, column_name="model_id", index=False)
    substrate = TextField()
    kind = TextField()
    stamp = IntegerField()

    class Meta:
        table_name = "vector_stamps"
        primary_key = CompositeKey("namespace", "model_id", "substrate", "kind")
        without_rowid = True


class EmbeddingQueue(_Table):
    """See `embedding_queue.QueueRow`."""

    model_name = TextField()
    substrate = TextField()
    seq = IntegerField()
    namespace = TextField()
    kind = TextField()
    source_hash = IntegerField()
    input = TextField()
    enqueued_at = IntegerField()
    attempts = IntegerField()
    not_before = IntegerField()
    error = TextField(null=True)

    class Meta:
        table_name = "embedding_queue"
        primary_key = False


class MirroredSession(_Table):
    """A session of the mirror; see `session_mirror`."""

    id = TextField(primary_key=True)
    provider_session_id = TextField()
    source = TextField()
    cwd = TextField(null=True)
    git_branch = TextField(null=True)
    slug = TextField(null=True)
    message_count = IntegerField()
    first_seen_at = IntegerField()
    last_seen_at = IntegerField()
    namespace = TextField()

    class Meta:
        table_name = "sessions"
        without_rowid = True


class MirroredMessage(_Table):
    """A message of a session of the mirror; `id` is what its source calls it."""

    mirror_rowid = IntegerField(primary_key=True)
    id = TextField()
    session_id = TextField()
    source = TextField()
    seq = IntegerField()
    parent_uuid = TextField(null=True)
    is_sidechain = IntegerField()
    role = TextField(null=True)
    msg_type = TextField()
    text = TextField()
    raw_json = TextField(column_name="raw")
    content_hash = TextField()
    created_at = IntegerField()
    namespace = TextField()

    class Meta:
        table_name = "session_messages"


class MirrorCursor(_Table):
    """How far a file of transcripts was read."""

    file_path = TextField(primary_key=True)
    session_id = TextField()
    byte_offset = IntegerField()
    updated_at = IntegerField()

    class Meta:
        table_name = "session_mirror_cursor"
        without_rowid = True


class Lease(_Table):
    """See `leases`."""

    name = TextField(primary_key=True)
    owner = TextField()
    fence = IntegerField()
    expires_at = IntegerField()

    class Meta:
        table_name = "leases"
        without_rowid = True


class CuratedRepository(_Table):
    """See `agent_workspaces.RepositoryRow`."""

    id = TextField(primary_key=True)
    workspace = TextField()
    remote_key = TextField(null=True)
    created_at = IntegerField()

    class Meta:
        table_name = "agent_repositories"
        without_rowid = True


class CuratedRepositoryPlace(_Table):
    """A folder that is known to be a checkout of a repository."""

    path = TextField(primary_key=True)
    repository_id = ForeignKeyField(CuratedRepository, column_name="repository_id", index=False)
    created_at = IntegerField()

    class Meta:
        table_name = "agent_repository_places"
        without_rowid = True


class CuratedSource(_Table):
    """See `agent_sources.SourceRow`."""

    workspace = TextField()
    id = TextField()
    state = TextField()
    checksum = TextField()
    created_at = IntegerField()
    refreshed_at = IntegerField()

    class Meta:
        table_name = "agent_sources"
        primary_key = CompositeKey("workspace", "id")
        without_rowid = True


class CuratedEntry(_Table):
    """See `agent_entries.EntryRow`."""

    seq = AutoIncrementField()
    id = TextField()
    workspace = TextField()
    status = TextField()
    trust_level = TextField()
    confidence = FloatField()
    revision = IntegerField()
    content_hash = TextField()
    superseded_by = TextField(null=True)
    disabled = IntegerField()
    source_id = TextField(null=True)
    source_mapping = TextField(null=True)
    source_state = TextField(null=True)
    created_by = TextField()
    created_at = IntegerField()
    updated_at = IntegerField()
    verified_at = IntegerField(null=True)

    class Meta:
        table_name = "agent_entries"


class CuratedRevision(_Table):
    """See `agent_revisions.RevisionRow`."""

    seq = IntegerField(primary_key=True)
    entry_seq = ForeignKeyField(CuratedEntry, column_name="entry_seq", index=False)
    revision = IntegerField()
    kind = TextField()
    title = TextField()
    body = TextField()
    summary = TextField(null=True)
    scope = TextField()
    provenance = TextField()
    tags = TextField()
    content_hash = TextField()
    created_by = TextField()
    created_at = IntegerField()

    class Meta:
        table_name = "agent_entry_revisions"


class CuratedTag(_Table):
    """A tag of the current revision of an entry."""

    workspace = TextField()
    tag_key = TextField()
    entry_seq = ForeignKeyField(CuratedEntry, column_name="entry_seq", index=False)
    revision = IntegerField()

    class Meta:
        table_name = "agent_entry_tags"
        primary_key = CompositeKey("workspace", "tag_key", "entry_seq")
        without_rowid = True


class CuratedSignal(_Table):
    """A signal of the current revision of an entry."""

    workspace = TextField()
    kind = TextField()
    value_key = TextField()
    entry_seq = ForeignKeyField(CuratedEntry, column_name="entry_seq", index=False)
    revision = IntegerField()

    class Meta:
        table_name = "agent_entry_signals"
        primary_key = CompositeKey("workspace", "kind", "value_key", "entry_seq")
        without_rowid = True


class CuratedLink(_Table):
    """See `agent_links.LinkRow`."""

    seq = IntegerField(primary_key=True)
    id = TextField()
    from_seq = ForeignKeyField(CuratedEntry, column_name="from_seq", index=False)
    to_seq = ForeignKeyField(CuratedEntry, column_name="to_seq", index=False)
    relation = TextField()
    created_by = TextField()
    created_at = IntegerField()

    class Meta:
        table_name = "agent_entry_links"


class CuratedAudit(_Table):
    """See `agent_entries.AuditRow`."""

    seq = IntegerField(primary_key=True)
    workspace = TextField()
    operation = TextField()
    entry_id = TextField(null=True)
    revision = IntegerField(null=True)
    other_id = TextField(null=True)
    actor = TextField()
    created_at = IntegerField()

    class Meta:
        table_name = "agent_entry_audit"


class AgentRun(_Table):
    """See `agent_runs.RunRow`."""

    seq = AutoIncrementField()
    id = TextField()
    workspace = TextField()
    client_kind = TextField()
    client_version = TextField(null=True)
    client_session_id = TextField(null=True)
    capture_profile = TextField()
    coverage = TextField()
    status = TextField()
    title = TextField()
    task = TextField()
    task_hash = TextField()
    metadata = TextField()
    binding_digest = TextField(null=True)
    parent_run_id = TextField(null=True)
    last_sequence = IntegerField()
    last_source_sequence = IntegerField(null=True)
    last_event_hash = TextField()
    started_at = IntegerField()
    ended_at = IntegerField(null=True)
    created_at = IntegerField()
    updated_at = IntegerField()

    class Meta:
        table_name = "agent_runs"


class AgentIntake(_Table):
    """See `agent_intakes.IntakeRow`."""

    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", primary_key=True)
    session_id = TextField()
    policy_version = TextField()
    profile_version = IntegerField()
    status = TextField()
    question_count = IntegerField()
    profile = TextField()
    sources = TextField()
    declined = TextField()
    tags = TextField()
    profile_hash = TextField(null=True)
    created_at = IntegerField()
    updated_at = IntegerField()
    finalised_at = IntegerField(null=True)

    class Meta:
        table_name = "agent_intakes"


class AgentAnswer(_Table):
    """See `agent_intakes.AnswerRow`."""

    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", index=False)
    position = IntegerField()
    question_id = TextField()
    value = TextField()
    answered_at = IntegerField()

    class Meta:
        table_name = "agent_answers"
        primary_key = CompositeKey("run_seq", "position")
        without_rowid = True


class AgentEvent(_Table):
    """See `agent_events.EventRow`."""

    seq = IntegerField(primary_key=True)
    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", index=False)
    sequence = IntegerField()
    event_id = TextField()
    source_event_id = TextField(null=True)
    source_sequence = IntegerField(null=True)
    event_type = TextField()
    source_type = TextField(null=True)
    actor = TextField()
    outcome = TextField(null=True)
    occurred_at = IntegerField()
    ingested_at = IntegerField()
    payload = TextField()
    redaction = TextField()
    previous_hash = TextField()
    event_hash = TextField()

    class Meta:
        table_name = "agent_events"


class AgentProjection(_Table):
    """See `agent_projections`."""

    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", primary_key=True)
    through_sequence = IntegerField()
    state = TextField()

    class Meta:
        table_name = "agent_projections"


class AgentIdempotency(_Table):
    """See `agent_idempotency.StoredAnswer`."""

    scope = TextField()
    key_hash = TextField()
    request_hash = TextField()
    response = TextField()
    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", index=False)
    created_at = IntegerField()

    class Meta:
        table_name = "agent_idempotency"
        primary_key = False


class AgentDelivery(_Table):
    """See `agent_deliveries.DeliveryRow`."""

    seq = IntegerField(primary_key=True)
    id = TextField()
    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", index=False)
    through_sequence = IntegerField()
    session_id = TextField()
    profile_hash = TextField()
    query_hash = TextField()
    history_hash = TextField()
    policy_version = TextField()
    character_budget = IntegerField()
    character_count = IntegerField()
    truncated = IntegerField()
    created_at = IntegerField()

    class Meta:
        table_name = "agent_deliveries"


class AgentDeliveryItem(_Table):
    """One entry of a delivery, at its rank."""

    delivery_seq = ForeignKeyField(AgentDelivery, column_name="delivery_seq", index=False)
    rank = IntegerField()
    entry_id = TextField()
    revision = IntegerField()
    origin = TextField()
    score_components = TextField()
    selection_reasons = TextField()
    character_count = IntegerField()
    truncated = IntegerField()

    class Meta:
        table_name = "agent_delivery_items"
        primary_key = CompositeKey("delivery_seq", "rank")
        without_rowid = True


class AgentFeedback(_Table):
    """See `agent_feedback.FeedbackRow`."""

    seq = IntegerField(primary_key=True)
    category = TextField()
    feedback_id = TextField()
    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", index=False)
    actor = TextField()
    key_hash = TextField()
    delivery_id = TextField(null=True)
    entry_id = TextField(null=True)
    entry_revision = IntegerField(null=True)
    verdict = TextField(null=True)
    recommendation_code = TextField(null=True)
    recommendation_verdict = TextField(null=True)
    outcome = TextField(null=True)
    rating = IntegerField(null=True)
    question_id = TextField(null=True)
    profile_field = TextField(null=True)
    session_id = TextField(null=True)
    comment = TextField(null=True)
    created_at = IntegerField()

    class Meta:
        table_name = "agent_feedback"


class AgentNudge(_Table):
    """See `agent_nudges.NudgeRow`."""

    seq = IntegerField(primary_key=True)
    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", index=False)
    policy_version = TextField()
    code = TextField()
    occurrence_id = TextField()
    checkpoint_id = TextField()
    through_sequence = IntegerField()
    priority = IntegerField()
    evidence_event_ids = TextField()
    reference_ids = TextField()
    created_at = IntegerField()

    class Meta:
        table_name = "agent_nudges"


class AgentMemoryLink(_Table):
    """See `agent_memory_links.LinkRow`."""

    seq = IntegerField(primary_key=True)
    id = TextField()
    run_seq = ForeignKeyField(AgentRun, column_name="run_seq", index=False)
    event_id = TextField()
    delivery_id = TextField(null=True)
    entry_id = TextField()
    created_at = IntegerField()

    class Meta:
        table_name = "agent_memory_links"


class AgentRunPurge(_Table):
    """That a run was purged."""

    seq = IntegerField(primary_key=True)
    run_id = TextField()
    event_count = IntegerField()
    last_event_hash = TextField()
    open_key_hash = TextField(null=True)
    actor = TextField()
    purged_at = IntegerField()
    erased_at = IntegerField(null=True)

    class Meta:
        table_name = "agent_run_purges"


TABLES: Final = (
    SchemaMigration,
    EntityLedger,
    NoteLedger,
    EdgeLedger,
    Entity,
    Note,
    TaskStep,
    MessageArrival,
    ChannelCursor,
    Edge,
    Event,
    EventObservation,
    Proposal,
    BrainProfile,
    BrainBinding,
    BrainState,
    BrainTarget,
    BrainSection,
    BrainEvent,
    BrainMass,
    BrainScored,
    BrainServe,
    EmbeddingModel,
    Vector,
    VectorStamp,
    EmbeddingQueue,
    MirroredSession,
    MirroredMessage,
    MirrorCursor,
    Lease,
    CuratedRepository,
    CuratedRepositoryPlace,
    CuratedSource,
    CuratedEntry,
    CuratedRevision,
    CuratedTag,
    CuratedSignal,
    CuratedLink,
    CuratedAudit,
    AgentRun,
    AgentIntake,
    AgentAnswer,
    AgentEvent,
    AgentProjection,
    AgentIdempotency,
    AgentDelivery,
    AgentDeliveryItem,
    AgentFeedback,
    AgentNudge,
    AgentMemoryLink,
    AgentRunPurge,
)


def _index(model: Any, name: str, *columns: str, unique: bool = False, where: SQL | None = None) -> None:
    fields = [getattr(model, column) for column in columns]
    table = model._meta.table_name
    model.add_index(model.index(*fields, unique=unique, where=where, name=table + "_" + name))


for _model in (Entity, Note, Edge):
    _index(_model, "id", "id", unique=True)
    _index(_model, "deleted", "id", where=_DELETED)
    _index(_model, "listed", "namespace", "created_at", "id", where=_LIVE)
for _model in (Entity, Note):
    _index(_model, "by_kind", "namespace", "kind", "created_at", "id", where=_LIVE)
_index(Entity, "by_name", "namespace", "name_key", where=_LIVE)
_index(Note, "by_key", "namespace", "kind", "key", unique=True, where=SQL("deleted_at IS NULL AND key IS NOT NULL"))
Note.add_index(
    SQL(
        "CREATE INDEX notes_by_thread ON notes (namespace, " + threads.thread("") + ")"
        " WHERE kind = 'memory' AND deleted_at IS NULL"
    )
)
for _made in task_fields.INDEXES:
    Note.add_index(SQL(_made))
for _made in schedules.INDEXES:
    Note.add_index(SQL(_made))
for _made in sessions.INDEXES:
    Note.add_index(SQL(_made))
_index(MirroredSession, "natural", "namespace", "source", "provider_session_id", unique=True)
_index(MirroredMessage, "natural", "namespace", "source", "session_id", "id", unique=True)
_index(TaskStep, "by_note", "note_id", "at")
for _made in message_fields.INDEXES:
    Note.add_index(SQL(_made))
_index(MessageArrival, "by_actor", "namespace", "actor", "seq")
_index(Edge, "natural", "namespace", "source_id", "target_id", "relation", unique=True)
_index(Edge, "by_source", "source_id", "relation")
_index(Edge, "by_target", "target_id", "relation")
_index(Event, "id", "id", unique=True)
_index(Event, "listed", "namespace", "created_at", "id")
_index(Event, "by_target", "namespace", "target_id", "created_at", "id", where=SQL("target_id IS NOT NULL"))
_index(Event, "by_kind", "namespace", "kind", "created_at", "id", where=SQL("kind <> 'audit'"))
_index(Event, "failed", "namespace", "outcome", "created_at", "id", where=SQL("outcome <> 'success'"))
_index(Event, "told", "namespace", "created_at", "id", where=SQL("kind <> 'audit'"))
_index(EventObservation, "by_referent", "referent_id", "role")
_index(Proposal, "id", "id", unique=True)
_index(Proposal, "listed", "namespace", "created_at", "id")
_index(Proposal, "by_status", "namespace", "status", "created_at", "id")
_index(BrainTarget, "natural", "namespace", "profile_id", "target_id", unique=True)
_index(BrainTarget, "oldest", "namespace", "profile_id", "seq")
_index(BrainEvent, "id", "id", unique=True)
_index(BrainEvent, "listed", "namespace", "profile_id", "created_at")
_index(BrainMass, "oldest", "namespace", "profile_id", "updated_at")
_index(BrainServe, "id", "id", unique=True)
_index(BrainServe, "listed", "namespace", "served_at")
_index(EmbeddingModel, "natural", "name", "revision", unique=True)
_index(Vector, "by_scope", "namespace", "model_id", "substrate", "kind")
_index(Vector, "sampled", "namespace", "model_id", "substrate", "kind", where=SQL(vector_layout.SAMPLED_PLACES))
_index(Vector, "apart", "model_id", "place", where=SQL("embedding IS NOT NULL"))
_index(EmbeddingQueue, "natural", "model_name", "substrate", "seq", unique=True)
_index(EmbeddingQueue, "by_scope", "namespace", "model_name", "substrate", "kind")
_index(EmbeddingQueue, "due", "not_before", "enqueued_at", "seq")
_index(CuratedRepository, "by_remote", "remote_key", unique=True, where=SQL("remote_key IS NOT NULL"))
_index(CuratedRepository, "by_workspace", "workspace")
_index(CuratedEntry, "id", "id", unique=True)
_index(CuratedEntry, "content", "workspace", "content_hash", unique=True)
_index(
    CuratedEntry,
    "managed",
    "workspace",
    "source_id",
    "source_mapping",
    unique=True,
    where=SQL("source_id IS NOT NULL"),
)
_index(CuratedEntry, "listed", "workspace", "created_at", "id")
_index(CuratedRevision, "natural", "entry_seq", "revision", unique=True)
_index(CuratedTag, "by_entry", "entry_seq")
_index(CuratedSignal, "by_entry", "entry_seq")
_index(CuratedLink, "id", "id", unique=True)
_index(CuratedLink, "natural", "from_seq", "relation", "to_seq", unique=True)
_index(CuratedLink, "by_target", "to_seq", "relation")
_index(CuratedAudit, "by_entry", "entry_id", "seq", where=SQL("entry_id IS NOT NULL"))
_index(CuratedAudit, "listed", "workspace", "seq")
_index(AgentRun, "id", "id", unique=True)
_index(AgentRun, "listed", "workspace", "created_at", "id")
_index(AgentRun, "by_status", "workspace", "status", "created_at", "id")
_index(AgentRun, "by_client", "workspace", "client_kind", "created_at", "id")
_index(AgentIntake, "session", "session_id", unique=True)
_index(AgentEvent, "listed", "run_seq", "sequence", unique=True)
_index(AgentEvent, "id", "event_id", unique=True)
_index(AgentEvent, "source", "run_seq", "source_event_id", unique=True, where=SQL("source_event_id IS NOT NULL"))
_index(AgentEvent, "by_type", "run_seq", "event_type", "sequence")
_index(AgentIdempotency, "key", "scope", "key_hash", unique=True)
_index(AgentIdempotency, "of_run", "run_seq")
_index(AgentDelivery, "id", "id", unique=True)
_index(AgentDelivery, "of_run", "run_seq", "query_hash")
_index(AgentDelivery, "in_order", "run_seq")
_index(AgentDeliveryItem, "by_entry", "entry_id", "delivery_seq")
_index(AgentFeedback, "id", "category", "feedback_id", unique=True)
_index(AgentFeedback, "key", "run_seq", "actor", "key_hash", unique=True)
_index(AgentFeedback, "by_entry", "entry_id", "entry_revision", "verdict", "run_seq", where=SQL("entry_id IS NOT NULL"))
_index(AgentNudge, "occurrence", "run_seq", "occurrence_id", unique=True)
_index(AgentNudge, "checkpoint", "checkpoint_id", unique=True)
_index(AgentMemoryLink, "id", "id", unique=True)
_index(AgentMemoryLink, "event", "event_id", unique=True)
_index(AgentMemoryLink, "by_run", "run_seq")
_index(AgentRunPurge, "run", "run_id", unique=True)
_index(AgentRunPurge, "open_key", "open_key_hash", unique=True)
_index(AgentRunPurge, "unerased", "seq", where=SQL("erased_at IS NULL"))


class Table(NamedTuple):
    """What a table is, read from a database.

    columns: (name, type, may be null, place in the primary key); indexes: (name, unique, columns, condition);
    foreign_keys: (column, table, column there).
    """

    strict: bool
    without_rowid: bool
    autoincrement: bool
    columns: frozenset[tuple[str, str, bool, int]]
    indexes: frozenset[tuple[str, bool, tuple[str, ...], str]]
    foreign_keys: frozenset[tuple[str, str, str]]


def declared() -> dict[str, Table]:
    """The tables of the models."""
    database = APSWDatabase(":memory:")
    with database.bind_ctx(TABLES):
        database.create_tables(TABLES)
        described = describe(database.connection())
    database.close()
    return described


def describe(connection: apsw.Connection) -> dict[str, Table]:
    """The tables of a database by name; the text indexes and SQLite's own tables are left out."""
    rows = connection.execute(
        "SELECT name, strict, wr FROM pragma_table_list"
        " WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
    ).fetchall()
    return {str(name): _describe(connection, str(name), bool(strict), bool(wr)) for name, strict, wr in rows}


def differences(connection: apsw.Connection) -> list[str]:
    """One sentence for each declared table that a database does not have in this shape."""
    found = describe(connection)
    sentences = []
    for name, table in declared().items():
        if name not in found:
            sentences.append(f"table {name} is missing")
            continue
        for aspect, wanted, has in zip(Table._fields, table, found[name], strict=True):
            if wanted != has:
                sentences.append(
                    f"table {name}: {aspect} should be {_only_in(wanted, has)}, not {_only_in(has, wanted)}"
                )
    return sentences


def _describe(connection: apsw.Connection, table: str, strict: bool, without_rowid: bool) -> Table:
    columns = connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,))
    keys = connection.execute('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)', (table,))
    return Table(
        strict=strict,
        without_rowid=without_rowid,
        autoincrement="AUTOINCREMENT" in _made_by(connection, table),
        columns=frozenset((name, kind, not (notnull or pk), pk) for name, kind, notnull, pk in columns),
        indexes=frozenset(_indexes(connection, table)),
        foreign_keys=frozenset((here, other, there) for here, other, there in keys),
    )


def _indexes(connection: apsw.Connection, table: str) -> list[tuple[str, bool, tuple[str, ...], str]]:
    made = "SELECT name, \"unique\" FROM pragma_index_list(?) WHERE origin = 'c'"
    found = []
    for name, unique in connection.execute(made, (table,)).fetchall():
        columns = connection.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,))
        condition = _made_by(connection, str(name)).partition(" WHERE ")[2]
        found.append((str(name), bool(unique), tuple(str(column) for (column,) in columns), condition))
    return found


def _made_by(connection: apsw.Connection, name: str) -> str:
    row = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    return "" if row is None else " ".join(str(row[0]).split())


def _only_in(value: object, other: object) -> str:
    """What a set has that another one has not; any other value as it is."""
    if isinstance(value, frozenset) and isinstance(other, frozenset):
        return str(sorted(value - other))
    return str(value)
