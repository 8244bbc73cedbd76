"""Arguments and results of the pack `kg`.

Printed from registry/packs/kg/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import common


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


class Build(TypedDict):
    """
    Which program answers.
    """

    version: str
    revision: str


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


class Deletion(TypedDict):
    """
    What was deleted.
    """

    deleted: bool
    id: str
    kind: str | None


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


class EntityPage(TypedDict):
    """
    A page of a cursor walk.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool
    entities: list[Entity]
    next_after: str | None


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


class MaskedPreview(TypedDict):
    """
    The input with every finding masked.
    """

    content: str
    name: str | None


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


class OffsetPage(TypedDict):
    """
    A page by offset. Advance offset by the number of items.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool
    items: list[Entity | Note | Edge | Event]
    scan_incomplete: NotRequired[bool]


class Page(TypedDict):
    """
    One page.
    """

    requested_limit: int
    effective_limit: int
    limit_clamped: bool


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


class WhoamiResult(TypedDict):
    actor_id: str
    actor_kind: str
    unattributed: bool
    namespace: str
    visible_namespaces: list[str]
    build: Build


ArmStatus: TypeAlias = Literal["ran", "skipped", "error"]


HitSource: TypeAlias = Literal["text", "vector", "both"]


Mutation: TypeAlias = Literal["created", "updated", "resurrected"]


RankScoreKind: TypeAlias = Literal["rrf", "vector", "keyword", "weighted", "union"]


SearchStatus: TypeAlias = Literal["complete", "partial"]


TextMode: TypeAlias = Literal["all_terms", "any_term"]


GetResult: TypeAlias = FetchedEntity | Note | FetchedEdge | FetchedEvent


ListResult: TypeAlias = OffsetPage | EntityPage | NotePage | EdgePage


RestoreResult: TypeAlias = RestoredEntity | RestoredNote | RestoredEdge


UpdateResult: TypeAlias = Entity | UpdatedNote | Edge


class Arm(TypedDict):
    """
    What one search arm did.
    """

    status: ArmStatus
    candidate_count: int
    mode: NotRequired[TextMode]
    reason: NotRequired[str]


class ArmParticipation(TypedDict):
    """
    What each arm did.
    """

    text: Arm
    vector: Arm


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


CreateResult: TypeAlias = CreatedEntity | CreatedNote | ReplayedNote


NeighborsResult: TypeAlias = list[Neighbor | NeighborSummary | NeighborEdge] | NeighborPage


SearchResult: TypeAlias = list[EntityHit | NoteHit]


class SearchBeside(TypedDict):
    """
    What search tells beside its result.
    """

    status: SearchStatus
    arm_participation: ArmParticipation


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


Direction: TypeAlias = Literal["outgoing", "incoming", "both"]


Projection: TypeAlias = Literal["edge", "summary", "record"]


SearchOrder: TypeAlias = Literal["score", "created_at", "updated_at"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkArgs:
    """
    Arguments of link.
    """

    source_id: str
    target_id: str
    relation: common.Relation
    weight: float = 1.0
    metadata: dict[str, Any] | None = None
    dependency_kind: common.DependencyKind | None = None
    resurrect: bool = False


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
    parse_content: bool = False
    namespace: str | None = None


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

    kind: str
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
    key: str | None = None
    annotates: list[str] | None = None
    edges: list[CreateEdgesItem] | None = None
    skip_dedup_check: bool = False
    namespace: str | None = None
