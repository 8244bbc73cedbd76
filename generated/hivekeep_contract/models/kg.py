"""Arguments and results of the pack `kg`.

Printed from registry/packs/kg/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import common


class AddEdgeChange(TypedDict):
    """
    Join two records, as link does.
    """

    kind: Literal["add_edge"]
    source: str
    target: str
    relation: str
    weight: NotRequired[float | None]


class Annotation(TypedDict):
    """
    A note about an edge.
    """

    id: str
    namespace: str
    kind: str
    status: str
    lifecycle: NotRequired[str]
    name: str | None
    content: Any
    salience: float | None
    decay_factor: float | None
    expires_at: str | None
    properties: dict[str, Any]
    key: NotRequired[str]
    version: int
    created_at: str
    updated_at: str
    deleted_at: str | None
    annotation_edge_id: str


class ApplyError(TypedDict):
    """
    Why an approved change was not applied. Nothing of it was written.
    """

    step: int
    kind: str
    code: NotRequired[str]
    message: str


class Build(TypedDict):
    """
    Which program answers.
    """

    version: str
    revision: str


class ContextDropped(TypedDict):
    """
    What did not fit into the budget.
    """

    anchors: int
    neighbors: int


class ContextEntity(TypedDict):
    """
    An anchor.
    """

    id: str
    name: str
    kind: str
    description: str | None
    properties: dict[str, Any]


class CountScope(TypedDict):
    """
    What counts range over.
    """

    namespaces: str
    rows: str


class CreateEdgesItem(TypedDict):
    target_id: str
    relation: str
    weight: NotRequired[float | None]


class DbBuild(TypedDict):
    """
    Which program reports.
    """

    version: str
    build_hash: str | None


class DbProcess(TypedDict):
    """
    Which process reports. Compare pid and start together; pids are used again.
    """

    pid: int
    started_at: int | None
    started_at_unavailable_reason: str | None
    pool_generation: int


class DbSections(TypedDict):
    """
    What is known of one file.
    """

    build: DbBuild
    process: DbProcess
    note_search_ann_route_total: int | None
    note_search_fallback_route_total: int | None
    note_search_routes_unavailable_reason: str | None
    reader_contention: dict[str, Any]
    writer_contention: dict[str, Any]
    checkpoint_counters: dict[str, Any]
    checkpoint_counters_unavailable_reason: str | None
    checkpoint_probe: dict[str, Any] | None
    checkpoint_probe_unavailable_reason: str | None
    wal_file_bytes: int | None
    wal_file_unavailable_reason: str | None
    size_composition: dict[str, Any] | None
    size_composition_error: str | None
    graph_edge_integrity: dict[str, Any] | None
    graph_edge_integrity_error: str | None
    wal_pin: dict[str, Any]


class Duplicate(TypedDict):
    """
    A live record of the same kind and name.
    """

    id: str
    name: str
    kind: str


class Edge(TypedDict):
    """
    A typed, directed connection.
    """

    id: str
    namespace: str
    source_id: str
    target_id: str
    relation: str
    weight: float
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: dict[str, Any] | None
    target_backend: str | None


class EdgePage(TypedDict):
    """
    A page of a cursor walk.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool
    edges: list[Edge]
    next_after: str | None


class Entity(TypedDict):
    """
    An entity as stored.
    """

    id: str
    namespace: str
    kind: str
    entity_type: str | None
    name: str
    description: str | None
    properties: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    merged_into: str | None
    merge_event_id: str | None
    content_ref: NotRequired[str]


class EntityItem(TypedDict):
    """
    An entity in `items` of create.
    """

    kind: str
    name: str
    entity_kind: NotRequired[str | None]
    entity_type: NotRequired[str | None]
    description: NotRequired[str | None]
    properties: NotRequired[dict[str, Any] | None]
    tags: NotRequired[list[str] | None]


class EntityPage(TypedDict):
    """
    A page of a cursor walk.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool
    entities: list[Entity]
    next_after: str | None


class EntityPatch(TypedDict):
    """
    What a step changes on an entity; what is not named stays.
    """

    name: NotRequired[str]
    description: NotRequired[str | None]
    entity_type: NotRequired[str | None]
    properties: NotRequired[dict[str, Any]]
    tags: NotRequired[list[str]]


class Event(TypedDict):
    """
    Something that happened. Events never change.
    """

    id: str
    namespace: str
    verb: str
    substrate: str
    actor: str
    kind: str
    outcome: str
    payload: dict[str, Any]
    payload_schema_version: int
    profile_state_version: int | None
    duration_us: int | None
    target_id: str | None
    session_id: str | None
    aggregate_kind: str | None
    aggregate_id: str | None
    created_at: str


class FetchedEdge(TypedDict):
    """
    An edge as get shows it.
    """

    id: str
    namespace: str
    source_id: str
    target_id: str
    relation: str
    weight: float
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: dict[str, Any] | None
    target_backend: str | None
    kind: str
    annotations: list[Annotation]


class FetchedEntity(TypedDict):
    """
    An entity as get shows it.
    """

    id: str
    namespace: str
    kind: str
    entity_type: str | None
    name: str
    description: str | None
    properties: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    merged_into: str | None
    merge_event_id: str | None
    content_ref: NotRequired[str]
    redirected_from: NotRequired[list[str]]


class FetchedEvent(TypedDict):
    """
    An event as get shows it.
    """

    id: str
    namespace: str
    verb: str
    substrate: str
    actor: str
    outcome: str
    payload: dict[str, Any]
    payload_schema_version: int
    profile_state_version: int | None
    duration_us: int | None
    target_id: str | None
    session_id: str | None
    aggregate_kind: str | None
    aggregate_id: str | None
    created_at: str
    kind: str
    event_kind: str


class ItemEntity(TypedDict):
    """
    An entity that a bulk create made.
    """

    id: str
    namespace: str
    kind: str
    entity_type: str | None
    name: str
    description: str | None
    properties: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    merged_into: str | None
    merge_event_id: str | None
    content_ref: NotRequired[str]
    created: bool


class ItemNote(TypedDict):
    """
    A note that a bulk create made.
    """

    id: str
    namespace: str
    kind: str
    status: str
    lifecycle: NotRequired[str]
    name: str | None
    content: Any
    salience: float | None
    decay_factor: float | None
    expires_at: str | None
    properties: dict[str, Any]
    key: NotRequired[str]
    version: int
    created_at: str
    updated_at: str
    deleted_at: str | None
    created: bool


class ItemReceipt(TypedDict):
    """
    A record that a bulk create made.
    """

    id: str
    kind: str
    created: bool


class ItemSuccess(TypedDict):
    """
    An item that was stored.
    """

    index: int
    ok: bool
    result: ItemReceipt | ItemEntity | ItemNote


class LinkItem(TypedDict):
    """
    An edge in `links` of link. The aliases of the arguments are taken here as well.
    """

    source_id: str
    target_id: str
    relation: str
    weight: NotRequired[float | None]
    metadata: NotRequired[dict[str, Any] | None]
    dependency_kind: NotRequired[str | None]
    resurrect: NotRequired[bool | None]


class MaskedPreview(TypedDict):
    """
    The input with every finding masked.
    """

    content: str
    name: str | None


MergeEntitiesChange = TypedDict(
    "MergeEntitiesChange",
    {
        "kind": Literal["merge_entities"],
        "into": str,
        "from": str,
    },
)


class Neighbor(TypedDict):
    """
    One edge and who is at its other end.
    """

    origin_id: str
    id: str
    edge_id: str
    relation: str
    weight: float
    name: NotRequired[str]
    kind: NotRequired[str]
    entity_type: NotRequired[str]


class NeighborEdge(TypedDict):
    """
    The edge alone.
    """

    origin_id: str
    edge_id: str
    source_id: str
    target_id: str
    relation: str
    weight: float


class NeighborSummary(TypedDict):
    """
    Who a neighbor is.
    """

    origin_id: str
    id: str
    name: NotRequired[str]
    kind: NotRequired[str]
    entity_type: NotRequired[str]


class NewEntity(TypedDict):
    """
    The entity that a step makes.
    """

    kind: str
    name: str
    entity_type: NotRequired[str | None]
    description: NotRequired[str | None]
    properties: NotRequired[dict[str, Any] | None]
    tags: NotRequired[list[str] | None]


class NewNote(TypedDict):
    """
    The note that a step makes.
    """

    kind: str
    content: str
    name: NotRequired[str | None]
    salience: NotRequired[float | None]
    properties: NotRequired[dict[str, Any] | None]
    tags: NotRequired[list[str] | None]
    annotates: NotRequired[list[str] | None]


class Note(TypedDict):
    """
    A note as stored. Tags live in properties.tags.
    """

    id: str
    namespace: str
    kind: str
    status: str
    lifecycle: NotRequired[str]
    name: str | None
    content: Any
    salience: float | None
    decay_factor: float | None
    expires_at: str | None
    properties: dict[str, Any]
    key: NotRequired[str]
    version: int
    created_at: str
    updated_at: str
    deleted_at: str | None


class NoteItem(TypedDict):
    """
    A note in `items` of create.
    """

    kind: str
    content: str
    note_kind: NotRequired[str | None]
    name: NotRequired[str | None]
    salience: NotRequired[float | None]
    properties: NotRequired[dict[str, Any] | None]
    tags: NotRequired[list[str] | None]


class NotePage(TypedDict):
    """
    A page of a cursor walk.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool
    notes: list[Note]
    next_after: str | None
    scan_incomplete: NotRequired[bool]


class Page(TypedDict):
    """
    One page.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool


class PathNode(TypedDict):
    """
    A node that was reached, at its smallest distance from the root.
    """

    id: str
    via_edge: str | None
    depth: int
    name: NotRequired[str]
    kind: NotRequired[str]
    properties: NotRequired[dict[str, Any]]


class QueryPage(TypedDict):
    """
    A page of the rows of a query.
    """

    rows: list[dict[str, Any]]
    offset: int
    page_size: int
    has_more: bool
    truncated: bool
    next_offset: NotRequired[int]
    warnings: NotRequired[list[str]]


class ReferenceCandidate(TypedDict):
    """
    An entity that may be meant.
    """

    id: str
    name: str | None
    score: float


class RemovedEdge(TypedDict):
    """
    An edge that a merge took away, as it was before.
    """

    dropped_edge: Edge
    incident_edge_preimages: NotRequired[list[Edge]]


class ReplayedNote(TypedDict):
    """
    A keyed note that existed already with the same content and properties. Nothing was written.
    """

    id: str
    created: bool


class RestoredEdge(TypedDict):
    """
    The edge, live.
    """

    id: str
    namespace: str
    source_id: str
    target_id: str
    relation: str
    weight: float
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: dict[str, Any] | None
    target_backend: str | None
    restored: bool


class ScanResult(TypedDict):
    would_refuse: bool
    detector: str | None
    trigger: str | None
    masked: str | None
    location: str | None
    message: str | None
    masked_preview: MaskedPreview


class Signals(TypedDict):
    """
    What the arms measured.
    """

    keyword_score: NotRequired[float]
    vector_similarity: NotRequired[float]


class StatsResult(TypedDict):
    entities: int
    edges: int
    notes: int
    count_scope: CountScope


class SupersedeEntityChange(TypedDict):
    """
    Say that one entity took the place of another; joins them by supersedes.
    """

    kind: Literal["supersede_entity"]
    old: str
    new: str


class Traversal(TypedDict):
    """
    What one root leads to.
    """

    root_id: str
    nodes: list[PathNode]


class UpdateEntityChange(TypedDict):
    """
    Change an entity, as update does.
    """

    kind: Literal["update_entity"]
    id: str
    patch: EntityPatch


class VerbRow(TypedDict):
    """
    One verb.
    """

    name: str
    pack: str
    category: str
    description: str


class VerbsResult(TypedDict):
    verbs: list[VerbRow]
    total: int
    pack_counts: dict[str, int]


class Warning(TypedDict):
    """
    Something about a successful write, such as text that was longer than an embedder takes.
    """

    code: str
    message: str
    embedding_model: NotRequired[str]
    discarded_bytes: NotRequired[int]


class WhoamiResult(TypedDict):
    actor_id: str
    actor_kind: str
    unattributed: bool
    namespace: str
    visible_namespaces: list[str]
    session_id: NotRequired[str]
    build: Build


ArmStatus: TypeAlias = Literal["ran", "skipped", "error"]


DegradationStage: TypeAlias = Literal["fts_cleanup", "vector_cleanup", "event_append"]


Direction: TypeAlias = Literal["outgoing", "incoming", "both"]


HitSource: TypeAlias = Literal["text", "vector", "both"]


ItemDisposition: TypeAlias = Literal["not_committed", "unknown"]


MergeGuard: TypeAlias = Literal["entity_kind", "note_kind", "name_similarity", "project_compatibility"]


Mutation: TypeAlias = Literal["created", "updated", "resurrected"]


ProposalStatus: TypeAlias = Literal["open", "changes_requested", "approved", "applying", "applied", "rejected", "withdrawn"]


RankScoreKind: TypeAlias = Literal["rrf", "vector", "keyword", "weighted", "union"]


ReferenceStatus: TypeAlias = Literal["resolved", "ambiguous", "not_found"]


ReviewDecision: TypeAlias = Literal["approve", "reject", "comment", "request_changes"]


SearchStatus: TypeAlias = Literal["complete", "partial"]


TextMode: TypeAlias = Literal["all_terms", "any_term"]


TraverseResult: TypeAlias = list[Traversal]


class AddEntityChange(TypedDict):
    """
    Make an entity, as create does.
    """

    kind: Literal["add_entity"]
    entity: NewEntity


class AddNoteChange(TypedDict):
    """
    Make a note, as create does.
    """

    kind: Literal["add_note"]
    note: NewNote


class Arm(TypedDict):
    """
    What one search arm did.
    """

    status: ArmStatus
    candidate_count: int
    mode: NotRequired[TextMode]
    reason: NotRequired[str]
    pending: NotRequired[int]


class ArmParticipation(TypedDict):
    """
    What each arm did.
    """

    text: Arm
    vector: Arm


class CompoundChange(TypedDict):
    """
    Several steps that are carried out together or not at all.
    """

    kind: Literal["compound"]
    steps: list[AddEntityChange | UpdateEntityChange | AddEdgeChange | AddNoteChange | MergeEntitiesChange | SupersedeEntityChange | CompoundChange]


class ConflictingEdge(TypedDict):
    """
    An edge whose place was taken.
    """

    dropped_edge: Edge
    incident_edge_preimages: NotRequired[list[Edge]]
    surviving_edge_id: str


class ContextNeighbor(TypedDict):
    """
    An entity near an anchor.
    """

    id: str
    name: str
    relation: str
    direction: Direction
    weight: float
    hop: int
    via: str | None
    description: str | None


class DbFile(TypedDict):
    """
    One database file.
    """

    backend_names: list[str]
    path: str
    diagnostics: DbSections | None
    error: str | None


class DbFiles(TypedDict):
    """
    Every file, when the main one could not be inspected; its entry says why.
    """

    databases: list[DbFile]


class DbReport(TypedDict):
    """
    The main file, and every file.
    """

    build: DbBuild
    process: DbProcess
    note_search_ann_route_total: int | None
    note_search_fallback_route_total: int | None
    note_search_routes_unavailable_reason: str | None
    reader_contention: dict[str, Any]
    writer_contention: dict[str, Any]
    checkpoint_counters: dict[str, Any]
    checkpoint_counters_unavailable_reason: str | None
    checkpoint_probe: dict[str, Any] | None
    checkpoint_probe_unavailable_reason: str | None
    wal_file_bytes: int | None
    wal_file_unavailable_reason: str | None
    size_composition: dict[str, Any] | None
    size_composition_error: str | None
    graph_edge_integrity: dict[str, Any] | None
    graph_edge_integrity_error: str | None
    wal_pin: dict[str, Any]
    databases: list[DbFile]


class Degradation(TypedDict):
    """
    A step after the commit that failed. Record, text index and events are one commit, so only work outside of it can be named here.
    """

    stage: DegradationStage
    error: str


class Deletion(TypedDict):
    """
    What was deleted.
    """

    deleted: bool
    id: str
    kind: str | None
    post_commit_degradations: NotRequired[list[Degradation]]


class EntityHit(TypedDict):
    """
    An entity that was found.
    """

    id: str
    rank_score: float
    rank_score_kind: RankScoreKind
    signals: Signals
    score: float
    title: str | None
    snippet: str | None
    source: HitSource
    entity_kind: str | None


class Hit(TypedDict):
    """
    A ranked hit.
    """

    id: str
    rank_score: float
    rank_score_kind: RankScoreKind
    signals: Signals
    score: float
    title: str | None
    snippet: str | None
    source: HitSource


class ItemError(TypedDict):
    """
    Why an item of a bulk call failed; the same fields as the error of an operation.
    """

    kind: str
    code: str
    message: str
    domain_disposition: ItemDisposition
    retryable: NotRequired[bool]
    details: NotRequired[dict[str, str]]


class ItemFailure(TypedDict):
    """
    An item that was refused.
    """

    index: int
    ok: bool
    domain_disposition: ItemDisposition
    error: ItemError


class LinkFailure(TypedDict):
    """
    A link that was refused.
    """

    index: int
    error: ItemError


class LinkedEdge(TypedDict):
    """
    The edge as stored, endpoints in the order of the caller.
    """

    id: str
    namespace: str
    source_id: str
    target_id: str
    relation: str
    weight: float
    created_at: str
    updated_at: str
    deleted_at: str | None
    metadata: dict[str, Any] | None
    target_backend: str | None
    mutation: Mutation


class MergeRefusal(TypedDict):
    """
    Why a dry run would be refused.
    """

    dry_run: bool
    would_merge: bool
    refused_by: MergeGuard
    compared: str
    into_value: Any
    from_value: Any
    detail: str


class MergeReport(TypedDict):
    """
    What a merge did, or would do.
    """

    kept_id: str
    removed_id: str
    edges_rewired: int
    edges_contract_skipped: int
    contract_skipped_edge_preimages: list[RemovedEdge]
    edges_self_loop_dropped: int
    self_loop_edge_preimages: list[RemovedEdge]
    edge_conflict_preimages: list[ConflictingEdge]
    properties_merged: int
    tags_unioned: int
    content_appended: bool
    dry_run: bool
    would_merge: NotRequired[bool]
    record: NotRequired[Entity | Note]
    warnings: NotRequired[list[Warning]]


class NeighborPage(TypedDict):
    """
    A page of neighbors.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool
    neighbors: list[Neighbor | NeighborSummary | NeighborEdge]
    next_after: str | None


class NoteHit(TypedDict):
    """
    A note that was found.
    """

    id: str
    rank_score: float
    rank_score_kind: RankScoreKind
    signals: Signals
    score: float
    title: str | None
    snippet: str | None
    source: HitSource
    note_kind: str | None


class Proposal(TypedDict):
    """
    A proposal as get shows it.
    """

    id: str
    proposer: str
    title: str
    status: ProposalStatus
    created_at: str
    updated_at: str
    expiry: str | None
    last_decision: ReviewDecision | None
    review_count: int
    approve_count: int
    reject_count: int
    kind: str
    namespace: str
    description: str
    changeset: dict[str, Any]
    reviewers: list[str]
    parent_id: str | None
    apply_error: ApplyError | None


class ProposalRow(TypedDict):
    """
    A proposal in a list.
    """

    id: str
    proposer: str
    title: str
    status: ProposalStatus
    created_at: str
    updated_at: str
    expiry: str | None
    last_decision: ReviewDecision | None
    review_count: int
    approve_count: int
    reject_count: int


class Proposed(TypedDict):
    """
    The proposal that was made.
    """

    id: str
    full_id: str
    parent_id: str | None
    status: ProposalStatus
    proposer: str
    title: str


class Reference(TypedDict):
    """
    What one reference means.
    """

    ref: str
    status: ReferenceStatus
    id: NotRequired[str]
    confidence: NotRequired[float]
    candidates: NotRequired[list[ReferenceCandidate]]
    redirected_from: NotRequired[list[str]]


class References(TypedDict):
    """
    The references in the order in which they were given.
    """

    results: list[Reference]


class RestoredEntity(TypedDict):
    """
    The entity, live.
    """

    id: str
    namespace: str
    kind: str
    entity_type: str | None
    name: str
    description: str | None
    properties: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    merged_into: str | None
    merge_event_id: str | None
    content_ref: NotRequired[str]
    restored: bool
    warnings: NotRequired[list[Warning]]


class RestoredNote(TypedDict):
    """
    The note, live.
    """

    id: str
    namespace: str
    kind: str
    status: str
    lifecycle: NotRequired[str]
    name: str | None
    content: Any
    salience: float | None
    decay_factor: float | None
    expires_at: str | None
    properties: dict[str, Any]
    key: NotRequired[str]
    version: int
    created_at: str
    updated_at: str
    deleted_at: str | None
    restored: bool
    warnings: NotRequired[list[Warning]]


class Reviewed(TypedDict):
    """
    The review, and what became of the proposal.
    """

    id: str
    reviewer: str
    decision: ReviewDecision
    status: ProposalStatus
    records: NotRequired[list[str]]
    apply_error: NotRequired[ApplyError]
    warnings: NotRequired[list[Warning]]


class UpdatedEntity(TypedDict):
    """
    The entity after the change.
    """

    id: str
    namespace: str
    kind: str
    entity_type: str | None
    name: str
    description: str | None
    properties: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    merged_into: str | None
    merge_event_id: str | None
    content_ref: NotRequired[str]
    warnings: NotRequired[list[Warning]]


class UpdatedNote(TypedDict):
    """
    The note after the change.
    """

    id: str
    namespace: str
    kind: str
    status: str
    lifecycle: NotRequired[str]
    name: str | None
    content: Any
    salience: float | None
    decay_factor: float | None
    expires_at: str | None
    properties: dict[str, Any]
    key: NotRequired[str]
    version: int
    created_at: str
    updated_at: str
    deleted_at: str | None
    unchanged: NotRequired[bool]
    warnings: NotRequired[list[Warning]]


class Withdrawn(TypedDict):
    """
    The proposal after its withdrawal.
    """

    id: str
    status: ProposalStatus
    by: str


DbDiagnosticsResult: TypeAlias = DbReport | DbFiles


GetResult: TypeAlias = FetchedEntity | Note | FetchedEdge | FetchedEvent | Proposal


MergeResult: TypeAlias = MergeReport | MergeRefusal


NeighborsResult: TypeAlias = list[Neighbor | NeighborSummary | NeighborEdge] | NeighborPage


RestoreResult: TypeAlias = RestoredEntity | RestoredNote | RestoredEdge


SearchResult: TypeAlias = list[EntityHit | NoteHit]


class SearchBeside(TypedDict):
    """
    What search tells beside its result.
    """

    status: SearchStatus
    arm_participation: ArmParticipation


UpdateResult: TypeAlias = UpdatedEntity | UpdatedNote | Edge


class BulkCreated(TypedDict):
    """
    What became of a bulk create.
    """

    attempted: int
    created: int
    skipped: int
    failed: int
    results: list[ItemSuccess | ItemFailure]
    entities: NotRequired[list[Entity]]


class BulkLinked(TypedDict):
    """
    What became of a bulk link.
    """

    attempted: int
    created: int
    updated: int
    resurrected: int
    skipped: int
    failed: int
    errors: NotRequired[list[LinkFailure]]
    edges: NotRequired[list[LinkedEdge]]


class ContextAnchor(TypedDict):
    """
    An anchor and what surrounds it.
    """

    entity: ContextEntity
    neighbors: list[ContextNeighbor]


class ContextBody(TypedDict):
    """
    Anchors within the budget. Of each number that the caller gave, three fields say what was asked for, what was used, and whether the two differ.
    """

    anchors: list[ContextAnchor]
    truncated: bool
    dropped: ContextDropped
    requested_hops: NotRequired[int]
    effective_hops: NotRequired[int]
    hops_clamped: NotRequired[bool]
    requested_budget: NotRequired[int]
    effective_budget: NotRequired[int]
    budget_clamped: NotRequired[bool]
    requested_limit: NotRequired[int]
    effective_limit: NotRequired[int]
    limit_clamped: NotRequired[bool]
    requested_fanout: NotRequired[int]
    effective_fanout: NotRequired[int]
    fanout_clamped: NotRequired[bool]


class CreatedEntity(TypedDict):
    """
    The entity that was made.
    """

    id: str
    namespace: str
    kind: str
    entity_type: str | None
    name: str
    description: str | None
    properties: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    merged_into: str | None
    merge_event_id: str | None
    content_ref: NotRequired[str]
    possible_duplicates: NotRequired[list[Duplicate]]
    warnings: NotRequired[list[Warning]]
    post_commit_degradations: NotRequired[list[Degradation]]


class CreatedNote(TypedDict):
    """
    The note that was made.
    """

    id: str
    namespace: str
    kind: str
    status: str
    lifecycle: NotRequired[str]
    name: str | None
    content: Any
    salience: float | None
    decay_factor: float | None
    expires_at: str | None
    properties: dict[str, Any]
    key: NotRequired[str]
    version: int
    created_at: str
    updated_at: str
    deleted_at: str | None
    created: NotRequired[bool]
    warnings: NotRequired[list[Warning]]
    post_commit_degradations: NotRequired[list[Degradation]]


class OffsetPage(TypedDict):
    """
    A page by offset. Advance offset by the number of items.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool
    items: list[Entity | Note | Edge | Event | ProposalRow]
    scan_incomplete: NotRequired[bool]


CreateResult: TypeAlias = CreatedEntity | CreatedNote | ReplayedNote | BulkCreated


LinkResult: TypeAlias = LinkedEdge | BulkLinked


ListResult: TypeAlias = OffsetPage | EntityPage | NotePage | EdgePage


@dataclass(frozen=True, kw_only=True, slots=True)
class DbDiagnosticsArgs:
    """
    Arguments of db_diagnostics.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteArgs:
    """
    Arguments of delete.
    """

    id: str
    kind: str | None = None
    hard: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GetArgs:
    """
    Arguments of get.
    """

    id: str
    include_deleted: bool = False
    parse_content: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryArgs:
    """
    Arguments of query.
    """

    query: str
    page_size: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolveArgs:
    """
    Arguments of resolve.
    """

    refs: list[str]
    kind: str | None = None
    limit: int = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class RestoreArgs:
    """
    Arguments of restore.
    """

    id: str
    kind: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScanArgs:
    """
    Arguments of scan.
    """

    content: str
    name: str | None = None
    properties: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StatsArgs:
    """
    Arguments of stats.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class WhoamiArgs:
    """
    Arguments of whoami.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class WithdrawArgs:
    """
    Arguments of withdraw.
    """

    id: str
    rationale: str | None = None


MergeContentStrategy: TypeAlias = Literal["append", "prefer_into", "prefer_from"]


MergeStrategy: TypeAlias = Literal["prefer_into", "prefer_from", "union"]


Projection: TypeAlias = Literal["edge", "summary", "record"]


SearchOrder: TypeAlias = Literal["score", "created_at", "updated_at"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextArgs:
    """
    Arguments of context.
    """

    query: str | None = None
    entity_ids: list[str] | None = None
    hops: int | None = None
    budget: int | None = None
    relations: list[common.Relation] | None = None
    direction: Direction = "both"
    limit: int | None = None
    fanout: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkArgs:
    """
    Arguments of link.
    """

    source_id: str | None = None
    target_id: str | None = None
    relation: common.Relation | None = None
    weight: float = 1.0
    metadata: dict[str, Any] | None = None
    dependency_kind: common.DependencyKind | None = None
    resurrect: bool = False
    links: list[dict[str, Any]] | None = None
    atomic: bool = True
    verbose: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ListArgs:
    """
    Arguments of list.
    """

    kind: str
    limit: int = 20
    offset: int = 0
    after: str | None = None
    entity_kind: str | None = None
    entity_type: str | None = None
    note_kind: str | None = None
    thread_id: str | None = None
    direction: str | None = None
    from_: str | None = None
    to: str | None = None
    read: bool | None = None
    delivered: bool | None = None
    tags: list[str] | None = None
    source_id: str | None = None
    target_id: str | None = None
    relations: list[common.Relation] | None = None
    min_weight: float | None = None
    max_weight: float | None = None
    event_kind: common.EventKind | None = None
    event_kinds: list[common.EventKind] | None = None
    verb: str | None = None
    verbs: list[str] | None = None
    outcome: common.Outcome | None = None
    actor: str | None = None
    substrate: common.Substrate | None = None
    since: int | None = None
    until: int | None = None
    session_id: str | None = None
    observed: list[str] | None = None
    selected: list[str] | None = None
    status: ProposalStatus | None = None
    proposer: str | None = None
    parse_content: bool = False
    namespace: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MergeArgs:
    """
    Arguments of merge.
    """

    into_id: str
    from_id: str
    kind: str | None = None
    strategy: MergeStrategy = "prefer_into"
    content_strategy: MergeContentStrategy = "append"
    dry_run: bool = False
    force: bool = False
    reason: str | None = None
    verbose: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class NeighborsArgs:
    """
    Arguments of neighbors.
    """

    node_id: str
    direction: Direction = "both"
    relations: list[common.Relation] | None = None
    min_weight: float | None = None
    limit: int | None = None
    after: str | None = None
    neighbor_kinds: list[str] | None = None
    projection: Projection = "record"
    include_entity_type: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewArgs:
    """
    Arguments of review.
    """

    id: str
    decision: ReviewDecision
    comment: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchArgs:
    """
    Arguments of search.
    """

    kind: str
    query: str
    text_mode: TextMode = "all_terms"
    limit: int = 10
    entity_kind: str | None = None
    entity_type: str | None = None
    note_kind: str | None = None
    include_superseded: bool | None = None
    properties: dict[str, Any] | None = None
    tags: list[str] | None = None
    min_rank_score: float | None = None
    min_score: float | None = None
    order_by: SearchOrder = "score"
    namespace: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TraverseArgs:
    """
    Arguments of traverse.
    """

    roots: list[str]
    max_depth: int = 3
    direction: Direction = "both"
    relations: list[common.Relation] | None = None
    min_weight: float | None = None
    limit: int = 100
    include_roots: bool = True
    include_properties: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class UpdateArgs:
    """
    Arguments of update.
    """

    id: str
    kind: str | None = None
    name: str | None = None
    description: str | None = None
    entity_type: str | None = None
    content: str | None = None
    salience: float | None = None
    decay_factor: float | None = None
    relation: common.Relation | None = None
    weight: float | None = None
    properties: dict[str, Any] | None = None
    tags: list[str] | None = None
    expected_version: int | None = None
    entity_kind: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VerbsArgs:
    """
    Arguments of verbs.
    """

    category: common.Category | None = None
    pack: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CreateArgs:
    """
    Arguments of create.
    """

    kind: str | None = None
    name: str | None = None
    entity_kind: str | None = None
    note_kind: str | None = None
    entity_type: str | None = None
    content: str | None = None
    description: str | None = None
    tags: list[str] | None = None
    properties: dict[str, Any] | None = None
    salience: float | None = None
    decay_factor: float | None = None
    embedding_content: str | None = None
    key: str | None = None
    annotates: list[str] | None = None
    edges: list[CreateEdgesItem] | None = None
    skip_dedup_check: bool = False
    namespace: str | None = None
    items: list[dict[str, Any]] | None = None
    atomic: bool = True
    verbose: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ProposeArgs:
    """
    Arguments of propose.
    """

    title: str
    description: str
    changeset: AddEntityChange | UpdateEntityChange | AddEdgeChange | AddNoteChange | MergeEntitiesChange | SupersedeEntityChange | CompoundChange
    reviewers: list[str] | None = None
    expiry: int | None = None
    parent_id: str | None = None
