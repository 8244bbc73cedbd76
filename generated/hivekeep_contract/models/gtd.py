"""Arguments and results of the pack `gtd`.

Printed from registry/packs/gtd/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import kg


class CensusCursor(TypedDict):
    """
    A place in a walk over candidates.
    """

    namespace: str
    id: str


class ExpectedBuckets(TypedDict):
    """
    The sort of each value that this program writes.
    """

    created_at: str
    updated_at: str


class Histogram(TypedDict):
    """
    How many values there are of each sort.
    """

    null: int
    nonnumeric: int
    epoch_zero: int
    magnitude_10_digits: int
    magnitude_13_digits: int
    magnitude_16_digits: int
    other: int


class RawTimes(TypedDict):
    """
    Stored values as JSON source; what repair compares with observed.
    """

    created_at: str
    updated_at: str
    archived_at: str | None


class RepairChange(TypedDict):
    """
    One correction.
    """

    observed: str | None
    value: Any


class RepairItemsItem(TypedDict):
    id: str
    changes: dict[str, RepairChange]


class Task(TypedDict):
    """
    A task.
    """

    id: str
    full_id: str
    kind: str
    title: str
    status: str
    priority: str
    assignee: str | None
    due: str | None
    context_entity_id: str | None
    namespace: str
    created_at: str
    updated_at: str
    properties: dict[str, Any]


class TimeBuckets(TypedDict):
    """
    The sort of each value.
    """

    created_at: str
    updated_at: str
    archived_at: str


BlockerState: TypeAlias = Literal["pending", "cancelled", "soft_deleted", "missing", "invalid", "different_namespace", "wrong_kind"]


DependencyState: TypeAlias = Literal["ready", "blocked", "broken"]


Excluded: TypeAlias = Literal["done", "cancelled", "unrecognized_status"]


RepairRefusal: TypeAlias = Literal["stale_observed", "not_found", "not_task", "deleted", "canonical_status", "lifecycle_status", "unsupported_field", "invalid_target", "invalid_properties", "invalid_repair_history"]


Status: TypeAlias = Literal["inbox", "next", "waiting", "someday", "active", "done", "cancelled"]


class AssignedTask(TypedDict):
    """
    The task as stored; on a replay the one that was stored before.
    """

    id: str
    full_id: str
    kind: str
    title: str
    status: str
    priority: str
    assignee: str | None
    due: str | None
    context_entity_id: str | None
    namespace: str
    created_at: str
    updated_at: str
    properties: dict[str, Any]
    replayed: NotRequired[bool]
    warnings: NotRequired[list[kg.Warning]]


class Blocker(TypedDict):
    """
    Something that a task depends on and that is not done.
    """

    id: Any
    state: BlockerState
    status: NotRequired[str]


class Candidate(TypedDict):
    """
    A task that a repair may be for.
    """

    id: str
    namespace: str
    stored_status: str | None
    raw: RawTimes
    buckets: TimeBuckets


class CandidatePage(TypedDict):
    """
    Tasks whose created_at or updated_at does not have 16 digits, by namespace and id.
    """

    rows: list[Candidate]
    next_cursor: CensusCursor | None
    expected_buckets: ExpectedBuckets


class Census(TypedDict):
    """
    Raw timestamps of live tasks, counted.
    """

    schema_version: int
    scope: list[str]
    total_tasks: int
    created_at: Histogram
    archived_at: Histogram
    created_at_gt_archived_at_raw: int
    interpretation: str
    candidates: NotRequired[CandidatePage]


CompletedTask = TypedDict(
    "CompletedTask",
    {
        "completed": bool,
        "id": str,
        "full_id": str,
        "from": Status,
        "to": Status,
        "completed_at": str,
        "is_terminal": bool,
        "audit_persisted": bool,
    },
)


class ListedTask(TypedDict):
    """
    A task and what it waits for.
    """

    id: str
    full_id: str
    kind: str
    title: str
    status: str
    priority: str
    assignee: str | None
    due: str | None
    context_entity_id: str | None
    namespace: str
    created_at: str
    updated_at: str
    properties: dict[str, Any]
    dependency_state: DependencyState
    actionable: bool
    blocked_by: list[Blocker]


MovedTask = TypedDict(
    "MovedTask",
    {
        "transitioned": bool,
        "id": str,
        "full_id": str,
        "from": Status,
        "to": Status,
        "is_terminal": bool,
        "title": str,
        "priority": str,
        "assignee": str | None,
        "due": str | None,
        "audit_persisted": bool,
    },
)


class RepairResult(TypedDict):
    """
    One task of a repair.
    """

    id: str
    accepted: bool
    applied: bool
    stored: dict[str, Any]
    proposed: dict[str, Any]
    reason: RepairRefusal | None
    message: str | None


UnmovedTask = TypedDict(
    "UnmovedTask",
    {
        "transitioned": bool,
        "id": str,
        "full_id": str,
        "from": Status,
        "to": Status,
        "note": str,
        "note_recorded": NotRequired[bool],
    },
)


NextResult: TypeAlias = list[ListedTask]


TransitionResult: TypeAlias = MovedTask | UnmovedTask


class ExcludedTasks(TypedDict):
    """
    The answer when only tasks that the list leaves out meet the filters.
    """

    tasks: list[ListedTask]
    total: int
    filter_excluded: list[Excluded]


class RepairReport(TypedDict):
    """
    What a repair did, or would do.
    """

    apply: bool
    accepted: int
    applied: int
    refused: int
    results: list[RepairResult]


TasksResult: TypeAlias = list[ListedTask] | ExcludedTasks


@dataclass(frozen=True, kw_only=True, slots=True)
class CompleteArgs:
    """
    Arguments of gtd.complete.
    """

    id: str
    result: str | None = None
    status: Literal["done", "cancelled"] = "done"
    duplicate_of: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class NextArgs:
    """
    Arguments of gtd.next.
    """

    limit: int = 10
    assignee: str | None = None
    include_blocked: bool = False


Priority: TypeAlias = Literal["p0", "p1", "p2", "p3"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AssignArgs:
    """
    Arguments of gtd.assign.
    """

    title: str
    description: str | None = None
    status: Literal["inbox", "next", "waiting", "someday", "active"] = "inbox"
    priority: Priority = "p2"
    assignee: str | None = None
    due: str | None = None
    start: str | None = None
    end: str | None = None
    depends_on: list[str] | None = None
    context_entity_id: str | None = None
    tags: list[str] | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CensusArgs:
    """
    Arguments of gtd.census.
    """

    namespace: str | None = None
    include_candidates: bool = False
    limit: int | None = None
    cursor: CensusCursor | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RepairArgs:
    """
    Arguments of gtd.repair.
    """

    items: list[RepairItemsItem]
    apply: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TasksArgs:
    """
    Arguments of gtd.tasks.
    """

    status: Status | None = None
    assignee: str | None = None
    priority: Priority | None = None
    tags: list[str] | None = None
    context_entity_id: str | None = None
    duplicate_of: str | None = None
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TransitionArgs:
    """
    Arguments of gtd.transition.
    """

    id: str
    status: Status
    note: str | None = None
    duplicate_of: str | None = None
