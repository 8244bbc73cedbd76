"""Bodies, queries and answers of the agent event gateway.

Printed from registry/gateway/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class PromotionsBody(TypedDict):
    """
    Body of agent.promotions.
    """

    apiVersion: Literal["1"]
    proposalEventId: str
    deliveryId: NotRequired[str]
    actor: str
    createdAt: str
    confirmed: Literal[True]


class RunReadQuery(TypedDict):
    """
    Query of agent.run.read.
    """


class IntakeReadQuery(TypedDict):
    """
    Query of agent.intake.read.
    """


class Client(TypedDict):
    """
    The program that reports.
    """

    kind: str
    version: NotRequired[str]
    sessionId: NotRequired[str]


class ContextContent(TypedDict):
    """
    What is shown of an entry.
    """

    title: str
    summary: str | None
    bodyPreview: str
    characterCount: int
    truncated: bool


class Diagnostics(TypedDict):
    """
    What became of the items of a catalog.
    """

    received: int
    accepted: int
    truncated: int
    dropped: int


class MemoryLink(TypedDict):
    """
    The proposal that an entry was made from.
    """

    linkId: str
    runId: str
    eventId: str
    deliveryId: str | None
    entryId: str
    createdAt: str


class ScoreComponents(TypedDict):
    """
    How the rank of an item comes about; whole points.
    """

    status: int
    trust: int
    confidence: int
    taskAffinity: int
    recommendedTags: int
    pathOverlap: int
    errorSignature: int
    feedback: int
    recency: int
    contradiction: int
    total: int


Availability: TypeAlias = Literal["unknown", "known-empty", "known-nonempty"]


CapabilityKind: TypeAlias = Literal["skill", "mcp_tool"]


CapabilitySource: TypeAlias = Literal["akinator_policy", "catalog_similarity"]


CapabilityState: TypeAlias = Literal["available", "missing", "unknown"]


CaptureProfile: TypeAlias = Literal["minimal", "standard", "diagnostic"]


CatalogWarning: TypeAlias = Literal["CAPABILITY_CATALOG_COMPACTED", "CAPABILITY_CATALOG_ITEMS_DROPPED", "CAPABILITY_CATALOG_BUDGET_EXCEEDED", "CAPABILITY_CATALOG_UNAVAILABLE"]


CloseStatus: TypeAlias = Literal["completed", "failed", "cancelled", "interrupted"]


ContextVerdict: TypeAlias = Literal["helpful", "irrelevant", "stale", "conflicting"]


CoverageCategory: TypeAlias = Literal["run", "tool", "command", "file", "approval"]


CoverageLevel: TypeAlias = Literal["complete", "best_effort", "declared", "unavailable"]


EntryKind: TypeAlias = Literal["fact", "decision", "lesson", "preference", "reference"]


EntryStatus: TypeAlias = Literal["candidate", "verified", "superseded"]


EventType: TypeAlias = Literal["intake.started", "intake.answered", "intake.ready", "intake.exhausted", "run.started", "run.closed", "request.received", "constraint.recorded", "decision.recorded", "step.started", "step.completed", "step.failed", "approval.requested", "approval.decided", "tool.requested", "tool.started", "tool.completed", "tool.failed", "tool.outcome_unknown", "command.started", "command.completed", "file.observed", "file.changed", "test.started", "test.completed", "verification.recorded", "error.recorded", "retry.recorded", "cancellation.recorded", "context.used", "context.feedback", "memory.proposed", "memory.promoted", "task_profile.revised", "correction.recorded", "source.event"]


EvidenceState: TypeAlias = Literal["none", "failed", "fresh", "stale"]


FeedbackCategory: TypeAlias = Literal["context", "recommendation", "run", "intake"]


IntakeStatus: TypeAlias = Literal["needs_answer", "ready", "exhausted"]


IntakeVerdict: TypeAlias = Literal["helpful", "unnecessary", "corrected"]


NextAction: TypeAlias = Literal["proceed", "answer_from_evidence_or_ask_user", "required_capability_unavailable"]


NudgeCode: TypeAlias = Literal["SIDE_EFFECT_OUTCOME_UNKNOWN", "UNRESOLVED_FAILURE", "VERIFY_AFTER_MUTATION"]


Origin: TypeAlias = Literal["project", "ecosystem", "global"]


ProfileField: TypeAlias = Literal["taskType", "target", "expected", "constraints"]


ProjectedCoverage: TypeAlias = Literal["complete", "partial"]


RecommendationCode: TypeAlias = Literal["INTAKE_INCOMPLETE", "VERIFY_AFTER_MUTATION", "SIDE_EFFECT_OUTCOME_UNKNOWN", "UNRESOLVED_FAILURE", "COVERAGE_INCOMPLETE", "CONTEXT_STALE", "CONTRADICTORY_MEMORY", "PROMOTION_CANDIDATE"]


RecommendationVerdict: TypeAlias = Literal["accepted", "dismissed", "resolved"]


RedactionKind: TypeAlias = Literal["hidden_reasoning", "environment_value", "sensitive_key", "secret_pattern", "url", "home_path", "preview_truncated"]


RunStatus: TypeAlias = Literal["intake", "active", "completed", "failed", "cancelled", "interrupted"]


SourceState: TypeAlias = Literal["active", "stale", "disabled"]


TaskType: TypeAlias = Literal["build", "debug", "research", "review", "devops", "writing", "analysis"]


TrustLevel: TypeAlias = Literal["untrusted", "user_asserted", "source_verified", "system_verified"]


WithheldReason: TypeAlias = Literal["memory_reasoning_missing", "memory_reasoning_unknown"]


class AnswerBody(TypedDict):
    """
    Body of agent.answer.
    """

    apiVersion: Literal["1"]
    questionId: ProfileField
    value: str
    capabilities: NotRequired[Any]


class FeedbackBody(TypedDict):
    """
    Body of agent.feedback.
    """

    apiVersion: Literal["1"]
    category: FeedbackCategory
    feedbackId: str
    actor: NotRequired[str]
    createdAt: NotRequired[str]
    comment: NotRequired[str | None]
    deliveryId: NotRequired[str]
    entryId: NotRequired[str]
    verdict: NotRequired[ContextVerdict | IntakeVerdict]
    recommendationCode: NotRequired[str]
    recommendationVerdict: NotRequired[RecommendationVerdict]
    outcome: NotRequired[str]
    rating: NotRequired[int]
    questionId: NotRequired[str]
    profileField: NotRequired[ProfileField]
    sessionId: NotRequired[str]


class RunsListQuery(TypedDict):
    """
    Query of agent.runs.list.
    """

    workspace: str
    client: NotRequired[str]
    status: NotRequired[RunStatus]
    cursor: NotRequired[str]
    limit: NotRequired[int]


class EventsListQuery(TypedDict):
    """
    Query of agent.events.list.
    """

    after: NotRequired[int]
    limit: NotRequired[int]
    type: NotRequired[EventType]


class Acknowledged(TypedDict):
    """
    What was appended to the ledger.
    """

    runId: str
    acceptedThrough: int
    localSequences: list[int]
    sourceSequences: list[int | None]
    eventIds: list[str]
    runStatus: RunStatus
    untrusted: bool


class CapabilityRecommendation(TypedDict):
    """
    A capability that would help.
    """

    kind: CapabilityKind
    name: str
    availability: CapabilityState
    reason: str
    source: CapabilitySource
    required: NotRequired[bool]


class CatalogWarningEntry(TypedDict):
    """
    A warning about a catalog.
    """

    code: CatalogWarning
    message: str


class CheckpointEvent(TypedDict):
    """
    An event of a type that a checkpoint takes.
    """

    actor: str
    payload: Any
    eventId: NotRequired[str]
    sourceEventId: NotRequired[str]
    sourceSequence: NotRequired[int]
    sourceType: NotRequired[str]
    outcome: NotRequired[str | None]
    occurredAt: NotRequired[str]
    eventType: EventType


class ClosedRun(TypedDict):
    """
    The end of a run.
    """

    runId: str
    acceptedThrough: int
    localSequences: list[int]
    sourceSequences: list[int | None]
    eventIds: list[str]
    runStatus: RunStatus
    untrusted: bool
    status: CloseStatus


class ContextFeedbackInput(TypedDict):
    """
    A judgement of a delivered entry.
    """

    feedbackId: str
    deliveryId: str
    entryId: str
    verdict: ContextVerdict
    actor: NotRequired[str]
    comment: NotRequired[str | None]
    createdAt: NotRequired[str]


class ContextItem(TypedDict):
    """
    One entry of the context.
    """

    entryId: str
    entryRevision: int
    rank: int
    scoreComponents: ScoreComponents
    selectionReasons: list[str]
    content: ContextContent
    origin: Origin
    untrusted: bool


class Coverage(TypedDict):
    """
    How much of each category the client can report. Stored as sent and never raised.
    """

    run: CoverageLevel
    tool: CoverageLevel
    command: CoverageLevel
    file: CoverageLevel
    approval: CoverageLevel


class EntrySource(TypedDict):
    """
    The managed source of an entry.
    """

    id: str
    mapping: str
    state: SourceState


class EntryView(TypedDict):
    """
    An entry of the curated memory at its current revision.
    """

    entryId: str
    workspace: str
    status: EntryStatus
    trustLevel: TrustLevel
    confidence: float
    revision: int
    kind: EntryKind
    title: str
    body: str
    summary: str | None
    scope: dict[str, Any]
    provenance: dict[str, Any]
    tags: list[str]
    contentHash: str
    supersededBy: str | None
    createdBy: str
    createdAt: str
    updatedAt: str
    verifiedAt: str | None
    disabled: bool
    source: EntrySource | None


class EventInput(TypedDict):
    """
    An event as a client reports it.
    """

    eventType: EventType
    actor: str
    payload: Any
    eventId: NotRequired[str]
    sourceEventId: NotRequired[str]
    sourceSequence: NotRequired[int]
    sourceType: NotRequired[str]
    outcome: NotRequired[str | None]
    occurredAt: NotRequired[str]


class FeedbackRecord(TypedDict):
    """
    Feedback as it is stored.
    """

    feedbackId: str
    workspace: str
    runId: str
    actor: str
    idempotencyKeyHash: str
    createdAt: str
    comment: str | None
    deliveryId: NotRequired[str]
    entryId: NotRequired[str]
    entryRevision: NotRequired[int]
    verdict: NotRequired[str]
    recommendationCode: NotRequired[str | None]
    recommendationVerdict: NotRequired[RecommendationVerdict | None]
    outcome: NotRequired[str | None]
    rating: NotRequired[int | None]
    questionId: NotRequired[str | None]
    profileField: NotRequired[str | None]
    sessionId: NotRequired[str | None]


class MemoryPolicy(TypedDict):
    """
    Whether memory may be used.
    """

    memoryReasoningRequired: bool
    contextWithheld: bool
    withheldReason: WithheldReason | None
    deliveryEmpty: NotRequired[bool]
    storedEntryCount: NotRequired[int]


class Nudge(TypedDict):
    """
    The one piece of advice that a checkpoint points at.
    """

    occurrenceId: str
    code: NudgeCode
    message: str
    evidenceEventIds: list[str]
    referenceIds: list[str]
    priority: int
    policyVersion: str


class ProfileHints(TypedDict):
    """
    Slots of the profile that the client knows already.
    """

    taskType: NotRequired[TaskType | None]
    target: NotRequired[str | None]
    expected: NotRequired[str | None]
    constraints: NotRequired[str | None]


class ProfileRevision(TypedDict):
    """
    Slots of the profile that are understood otherwise now.
    """

    taskType: NotRequired[TaskType | None]
    target: NotRequired[str | None]
    expected: NotRequired[str | None]
    constraints: NotRequired[str | None]


class ProjectedProfile(TypedDict):
    """
    The profile with all revisions.
    """

    taskType: TaskType | None
    target: str | None
    expected: str | None
    constraints: str | None
    source: str


class Promoted(TypedDict):
    """
    The entry that was made of a proposal. It is a candidate and not verified.
    """

    entry: EntryView
    link: MemoryLink
    untrusted: bool


class Question(TypedDict):
    """
    A question of the intake.
    """

    id: ProfileField
    prompt: str
    options: list[TaskType] | None
    required: bool


class RecommendationMetadata(TypedDict):
    """
    Facts beside a recommendation.
    """

    truncated: bool
    referenceIds: list[str]
    incompleteCoverageCategories: NotRequired[list[CoverageCategory]]


class RecordedFeedback(TypedDict):
    """
    Feedback that was stored. It changes no entry and no policy.
    """

    category: FeedbackCategory
    record: FeedbackRecord
    untrusted: bool


class Redaction(TypedDict):
    """
    A part of a payload that was masked or left out.
    """

    path: str
    kind: RedactionKind


class RunView(TypedDict):
    """
    A run.
    """

    runId: str
    workspace: str
    client: Client
    protocolVersion: str
    captureProfile: CaptureProfile
    coverage: Coverage
    status: RunStatus
    title: str
    taskHash: str
    metadata: dict[str, Any]
    parentRunId: str | None
    lastSequence: int
    lastSourceSequence: int | None
    startedAt: str
    endedAt: str | None
    createdAt: str
    updatedAt: str
    untrusted: bool


class Task(TypedDict):
    """
    The task of a run.
    """

    title: str
    query: str
    profileHints: NotRequired[ProfileHints]


class TaskProfile(TypedDict):
    """
    What is known of the task.
    """

    taskType: TaskType | None
    target: str | None
    expected: str | None
    constraints: str | None


class OpenBody(TypedDict):
    """
    Body of agent.open.
    """

    apiVersion: Literal["1"]
    workspace: str
    client: Client
    task: Task
    captureProfile: CaptureProfile
    coverage: Coverage
    metadata: NotRequired[dict[str, Any]]
    capabilities: NotRequired[Any]
    parentRunId: NotRequired[str]
    startedAt: NotRequired[str]


class EventsBody(TypedDict):
    """
    Body of agent.events.
    """

    apiVersion: Literal["1"]
    events: list[EventInput]


class CheckpointBody(TypedDict):
    """
    Body of agent.checkpoint.
    """

    apiVersion: Literal["1"]
    capabilities: NotRequired[Any]
    events: NotRequired[list[CheckpointEvent]]
    currentGoal: NotRequired[str]
    currentStep: NotRequired[str]
    changedPaths: NotRequired[list[str]]
    errorSignatures: NotRequired[list[str]]
    unresolvedItems: NotRequired[list[str]]
    taskProfileRevision: NotRequired[ProfileRevision]
    contextFeedback: NotRequired[list[ContextFeedbackInput]]
    characterBudget: NotRequired[int]


class CloseBody(TypedDict):
    """
    Body of agent.close.
    """

    apiVersion: Literal["1"]
    status: CloseStatus
    events: NotRequired[list[EventInput]]


class Capabilities(TypedDict):
    """
    What the gateway makes of the catalog. The catalog itself is not kept.
    """

    availability: Availability
    catalogProvided: bool
    availableSkillCount: int | None
    diagnostics: Diagnostics
    warnings: list[CatalogWarningEntry]
    recommendations: list[CapabilityRecommendation]


class Context(TypedDict):
    """
    Context from the curated memory, recorded as a delivery.
    """

    deliveryId: str
    runId: str
    throughSequence: int
    taskProfileHash: str
    queryHash: str
    policyVersion: str
    items: list[ContextItem]
    untrusted: bool


class EventView(TypedDict):
    """
    An event of the ledger.
    """

    eventId: str
    runId: str
    sequence: int
    sourceEventId: str | None
    sourceSequence: int | None
    eventType: EventType
    sourceType: str | None
    actor: str
    outcome: str | None
    occurredAt: str
    ingestedAt: str
    payload: Any
    redaction: list[Redaction]
    previousHash: str
    eventHash: str
    untrusted: bool


class IntakeView(TypedDict):
    """
    The intake in short.
    """

    status: IntakeStatus
    sessionId: str
    question: Question | None


class Projection(TypedDict):
    """
    What follows from the events of a run up to a number.
    """

    throughSequence: int
    taskProfile: TaskProfile
    profileHash: str
    evidenceState: EvidenceState
    unresolvedFailureEventIds: list[str]
    unknownOutcomeEventIds: list[str]
    latestMutationSequence: int | None
    latestPassingVerificationSequence: int | None
    latestMutationEventIds: list[str]
    latestPassingVerificationEventIds: list[str]
    coverage: ProjectedCoverage
    declaredCoverage: Coverage
    intakeIncomplete: bool
    missingProfileFields: list[ProfileField]


class Recommendation(TypedDict):
    """
    Advice that follows from what was reported.
    """

    code: RecommendationCode
    message: str
    evidenceEventIds: list[str]
    priority: int
    untrusted: bool
    actionable: bool
    metadata: RecommendationMetadata


class RunPage(TypedDict):
    """
    A page of runs.
    """

    items: list[RunView]
    nextCursor: str | None
    untrusted: bool


class Checkpointed(TypedDict):
    """
    What a checkpoint appended, and what follows.
    """

    runId: str
    acceptedThrough: int
    localSequences: list[int]
    sourceSequences: list[int | None]
    eventIds: list[str]
    runStatus: RunStatus
    intakeStatus: IntakeStatus
    taskProfile: ProjectedProfile
    profileHash: str
    projection: Projection
    recommendations: list[Recommendation]
    characterBudget: int
    context: Context | None
    capabilities: Capabilities
    memoryPolicy: MemoryPolicy
    warnings: list[CatalogWarningEntry]
    nextAction: NextAction
    nudge: Nudge | None
    untrusted: bool


class EventPage(TypedDict):
    """
    A page of events.
    """

    items: list[EventView]
    nextCursor: int | None
    untrusted: bool


class IntakeState(TypedDict):
    """
    The intake of a run.
    """

    runId: str
    runStatus: RunStatus
    intakeSessionId: str
    intakeStatus: IntakeStatus
    intake: IntakeView
    question: Question | None
    currentQuestion: Question | None
    missingFields: list[ProfileField]
    recommendedTags: list[str]
    taskProfile: TaskProfile
    profileHash: str | None
    context: Context | None
    recommendations: list[Recommendation]
    untrusted: bool


class OpenedRun(TypedDict):
    """
    A run and its intake.
    """

    runId: str
    runStatus: RunStatus
    intakeSessionId: str
    intakeStatus: IntakeStatus
    intake: IntakeView
    question: Question | None
    currentQuestion: Question | None
    missingFields: list[ProfileField]
    recommendedTags: list[str]
    taskProfile: TaskProfile
    profileHash: str | None
    context: Context | None
    recommendations: list[Recommendation]
    capabilities: Capabilities
    memoryPolicy: MemoryPolicy
    warnings: list[CatalogWarningEntry]
    nextAction: NextAction
    untrusted: bool
