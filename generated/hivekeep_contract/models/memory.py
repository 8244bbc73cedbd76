"""Arguments and results of the pack `memory`.

Printed from registry/packs/memory/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import kg


class Contributions(TypedDict):
    """
    Three parts times their default weights.
    """

    relevance_contribution: float
    salience_contribution: float
    temporal_contribution: float


class LegHit(TypedDict):
    """
    A candidate of one embedding model.
    """

    id: str
    score: float
    rank: int


class ModelHits(TypedDict):
    """
    The candidates of one embedding model.
    """

    model: str
    hits: list[LegHit]


class Pruned(TypedDict):
    """
    What was forgotten, or would be.
    """

    pruned: int
    dry_run: bool
    would_prune: NotRequired[int]
    namespace: str


class RecallCandidates(TypedDict):
    """
    What the legs found.
    """

    vector_candidates_per_model: list[ModelHits]


class Vacuumed(TypedDict):
    """
    The file was rewritten.
    """

    ok: bool


FeedbackSignal: TypeAlias = Literal["useful", "not_useful", "wrong", "explicit_positive", "explicit_negative", "implicit_positive", "implicit_negative", "correction"]


MemoryType: TypeAlias = Literal["episodic", "semantic"]


ServeAttribution: TypeAlias = Literal["profile", "unattributed", "unspecified"]


class Breakdown(TypedDict):
    """
    What the score of one memory is made of. The weighted parts explain; rank_score is a product and not their sum.
    """

    relevance: float
    salience_raw: float
    salience_decayed: float
    temporal: float
    weighted: Contributions
    profile_component: float
    entity_posterior_mean: float | None


class Judged(TypedDict):
    """
    The acknowledgement of feedback.
    """

    ok: bool
    target_id: str
    signal: FeedbackSignal
    profile_id: NotRequired[str]
    event_id: NotRequired[str]


class Recalled(TypedDict):
    """
    A memory that was found.
    """

    id: str
    full_id: str
    score: float
    rank_score: float
    raw_score: float | None
    content: str
    salience: float
    decay_factor: float
    memory_type: MemoryType
    created_at: str
    serve_attribution: ServeAttribution
    served_by_profile_id: NotRequired[str]
    breakdown: NotRequired[Breakdown]
    source_id: NotRequired[str | None]
    superseded: NotRequired[bool]
    truncated: NotRequired[bool]
    degraded: NotRequired[str]
    degraded_reason: NotRequired[str]


class Remembered(TypedDict):
    """
    The memory as stored; on a replay the one that was stored before.
    """

    id: str
    full_id: str
    kind: str
    salience: float
    decay_factor: float
    memory_type: MemoryType
    created_at: str
    edge_id: NotRequired[str]
    supersedes_edge_id: NotRequired[str]
    replayed: NotRequired[bool]
    warnings: NotRequired[list[kg.Warning]]


class RecallReport(TypedDict):
    """
    The answer together with facts about it. Used when an empty answer needs a reason, and with include_breakdown of several models.
    """

    results: list[Recalled]
    degraded: NotRequired[bool]
    degraded_reason: NotRequired[str]
    candidates: NotRequired[RecallCandidates]
    budget_capped: NotRequired[bool]
    truncated_for_budget: NotRequired[int]


RecallResult: TypeAlias = list[Recalled] | RecallReport


@dataclass(frozen=True, kw_only=True, slots=True)
class PruneArgs:
    """
    Arguments of memory.prune.
    """

    min_salience: float | None = None
    min_effective_salience: float | None = None
    before: int | None = None
    namespace: str = "local"
    dry_run: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class VacuumArgs:
    """
    Arguments of memory.vacuum.
    """


FusionStrategy: TypeAlias = Literal["weighted", "rrf", "union", "vector_only", "keyword_only"]


TagMode: TypeAlias = Literal["any", "all"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackArgs:
    """
    Arguments of memory.feedback.
    """

    target_id: str
    signal: FeedbackSignal


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallArgs:
    """
    Arguments of memory.recall.
    """

    query: str
    limit: int = 10
    top_k: int | None = None
    min_score: float | None = None
    min_salience: float | None = None
    memory_type: MemoryType | None = None
    fusion_strategy: FusionStrategy = "weighted"
    embedding_model: str | None = None
    include_breakdown: bool = False
    entity_names: list[str] | None = None
    full_content: bool = True
    tags: list[str] | None = None
    tag_mode: TagMode = "any"
    exclude_tags: list[str] | None = None
    created_after: int | None = None
    created_before: int | None = None
    namespace: str | None = None
    include_superseded: bool = False
    include_source_id: bool = False
    profile_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RememberArgs:
    """
    Arguments of memory.remember.
    """

    content: str
    salience: float | None = None
    decay_factor: float | None = None
    memory_type: MemoryType = "episodic"
    source_id: str | None = None
    supersedes: str | None = None
    embedding_model: str | None = None
    tags: list[str] | None = None
    namespace: str | None = None
    idempotency_key: str | None = None
