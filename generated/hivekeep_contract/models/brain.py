"""Arguments and results of the pack `brain`.

Printed from registry/packs/brain/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import common, kg, memory


class Belief(TypedDict):
    """
    A share that is not known for sure, as a Beta distribution.
    """

    alpha: float
    beta: float
    mean: float
    variance: float
    ess: float


class BindResult(TypedDict):
    bound: bool
    profile_id: str
    actor: str
    namespace: str
    consumer_kind: str
    priority: int


class Binding(TypedDict):
    """
    Who is served by which profile.
    """

    profile_id: str
    actor: str
    namespace: str
    consumer_kind: str
    priority: int
    created_at: str


class BindingsResult(TypedDict):
    count: int
    bindings: list[Binding]


class EventCountsResult(TypedDict):
    since: str
    until: str | None
    actor: str | None
    kind: str | None
    total: int
    truncated: bool
    window_event_total: int
    counts_by_kind: dict[str, int]
    counts_by_actor: dict[str, int]
    counts_by_verb: dict[str, int]
    counts_by_verb_and_actor: NotRequired[dict[str, dict[str, int]]]
    counts_by_verb_and_actor_page_scoped: NotRequired[dict[str, dict[str, int]]]
    by_profile: NotRequired[dict[str, int]]
    counts_by_signal: NotRequired[dict[str, int]]
    by_profile_and_signal: NotRequired[dict[str, dict[str, int]]]
    feedback_by_originating_verb: NotRequired[dict[str, int]]
    counts_by_work_class: NotRequired[dict[str, int]]
    total_cost_unit: NotRequired[int]
    total_cost_unit_page_scoped: NotRequired[int]
    cost_unit_by_verb: NotRequired[dict[str, int]]


class MarkTurnResult(TypedDict):
    ok: bool
    emitted: bool
    event_id: str | None
    work_class: str


class Observed(TypedDict):
    """
    Operations that one process saw in a namespace since it started.
    """

    relevance: Belief
    salience: Belief
    temporal: Belief
    entity_count: int
    total_events: int


class RecordServeResult(TypedDict):
    ok: bool
    written: int
    skipped: int
    query_class: str
    serve_ledger_ids: list[str]
    verb: str


class ResetResult(TypedDict):
    reset: bool
    profile_id: str
    exploration_epoch: int


class SectionBelief(TypedDict):
    """
    What is believed of the use of a section.
    """

    alpha: float
    beta: float
    mean: float
    variance: float
    ess: float
    weight: float


class SeedBelief(TypedDict):
    """
    What a section is believed to be worth at first.
    """

    alpha: float
    beta: float


class TargetBelief(TypedDict):
    """
    What is believed of a record.
    """

    alpha: float
    beta: float
    mean: float
    variance: float
    ess: float
    target_id: str


class UnbindResult(TypedDict):
    removed: int
    unbound: int


Lifecycle: TypeAlias = Literal["active", "inactive", "archived"]


class AutoFeedbackResult(TypedDict):
    """
    What became of feedback.
    """

    emitted: bool
    verb: str
    signal: NotRequired[memory.FeedbackSignal]
    target_id: NotRequired[str]
    event_id: NotRequired[str]
    profile_id: NotRequired[str]
    deduped: NotRequired[bool]
    serve_ledger_id: NotRequired[str]
    scorer_run_id: NotRequired[str]
    reason: NotRequired[str]
    feedback_verb: NotRequired[str]
    result_count: NotRequired[int]


class CreateProfileResult(TypedDict):
    created: bool
    profile_id: str
    consumer_kind: str
    lifecycle: Lifecycle


class CreateProfileSeedPriors(TypedDict):
    """
    What sections are believed to be worth at first.
    """

    section_posteriors: dict[str, SeedBelief]


class FeedbackAnswer(TypedDict):
    """
    What became of feedback.
    """

    emitted: bool
    verb: str
    signal: NotRequired[memory.FeedbackSignal]
    target_id: NotRequired[str]
    event_id: NotRequired[str]
    profile_id: NotRequired[str]
    deduped: NotRequired[bool]
    serve_ledger_id: NotRequired[str]
    scorer_run_id: NotRequired[str]


class LifecycleStep(TypedDict):
    """
    Where a profile stands now.
    """

    profile_id: str
    lifecycle: Lifecycle


class ProfileRow(TypedDict):
    """
    A profile in a list.
    """

    id: str
    description: str | None
    consumer_kind: str
    state_class: str
    lifecycle: Lifecycle
    created_at: str | None
    total_events: int
    exploration_epoch: int


class ProfileState(TypedDict):
    """
    What a profile has learned in this namespace.
    """

    relevance: Belief
    salience: Belief
    temporal: Belief
    entity_posteriors: list[TargetBelief]
    entity_count: int
    total_events: int
    exploration_epoch: int
    observed: Observed
    updated_at: str | None


class ProfilesResult(TypedDict):
    count: int
    profiles: list[ProfileRow]


class RegisterAdapterResult(TypedDict):
    registered: bool
    adapter_id: str
    entity_id: str
    content_hash: str
    base_model_revision: str
    warnings: NotRequired[list[kg.Warning]]


class ResolveResult(TypedDict):
    resolved_profile_id: str
    lifecycle: Lifecycle
    requested_consumer_kind: str
    matched_consumer_kind: str
    matched_binding: bool


class ProfileRecord(TypedDict):
    """
    A profile with what it has learned.
    """

    id: str
    description: str | None
    consumer_kind: str
    state_class: str
    lifecycle: Lifecycle
    created_at: str | None
    total_events: int
    exploration_epoch: int
    state_snapshot: ProfileState
    section_posteriors: dict[str, SectionBelief] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ActivateArgs:
    """
    Arguments of brain.activate.
    """

    profile_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ArchiveArgs:
    """
    Arguments of brain.archive.
    """

    profile_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BindArgs:
    """
    Arguments of brain.bind.
    """

    profile_id: str
    actor: str = "*"
    namespace: str = "*"
    consumer_kind: str = "*"
    priority: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class BindingsArgs:
    """
    Arguments of brain.bindings.
    """

    profile_id: str | None = None
    actor: str | None = None
    namespace: str | None = None
    consumer_kind: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class DeactivateArgs:
    """
    Arguments of brain.deactivate.
    """

    profile_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkTurnArgs:
    """
    Arguments of brain.mark_turn.
    """

    label: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileArgs:
    """
    Arguments of brain.profile.
    """

    profile_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisterAdapterArgs:
    """
    Arguments of brain.register_adapter.
    """

    adapter_id: str
    content_hash: str
    base_model_revision: str
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ResetArgs:
    """
    Arguments of brain.reset.
    """

    profile_id: str = "balanced-recall-v1"


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolveArgs:
    """
    Arguments of brain.resolve.
    """

    consumer_kind: str
    actor: str | None = None
    namespace: str = "*"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnbindArgs:
    """
    Arguments of brain.unbind.
    """

    profile_id: str | None = None
    actor: str | None = None
    namespace: str | None = None
    consumer_kind: str | None = None


CountDimension: TypeAlias = Literal["verb", "actor"]


SectionSignal: TypeAlias = Literal["useful", "not_useful", "wrong"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AutoFeedbackArgs:
    """
    Arguments of brain.auto_feedback.
    """

    query: str
    results: list[dict[str, Any]]
    target_id: str | None = None
    signal: memory.FeedbackSignal | None = None
    served_by_profile_id: str | None = None
    serve_attribution: memory.ServeAttribution | None = None
    scorer_run_id: str | None = None
    serve_ledger_id: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EventCountsArgs:
    """
    Arguments of brain.event_counts.
    """

    since: int
    until: int | None = None
    actor: str | None = None
    all_actors: bool = False
    kind: common.EventKind | None = None
    group_by: list[CountDimension] | None = None
    exhaustive: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedbackArgs:
    """
    Arguments of brain.feedback.
    """

    target_id: str
    signal: memory.FeedbackSignal
    served_by_profile_id: str | None = None
    serve_attribution: memory.ServeAttribution | None = None
    section_signals: dict[str, SectionSignal] | None = None
    scorer_run_id: str | None = None
    serve_ledger_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfilesArgs:
    """
    Arguments of brain.profiles.
    """

    lifecycle: Lifecycle | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordServeArgs:
    """
    Arguments of brain.record_serve.
    """

    consumer_kind: str
    target_ids: list[str]
    query_raw: str
    served_by_profile_id: str | None = None
    served_at: int | None = None
    serve_attribution: memory.ServeAttribution | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CreateProfileArgs:
    """
    Arguments of brain.create_profile.
    """

    name: str
    description: str | None = None
    consumer_kind: str = "recall"
    seed_priors: CreateProfileSeedPriors | None = None
