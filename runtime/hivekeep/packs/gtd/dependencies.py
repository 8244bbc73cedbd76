"""What a task depends on: which tasks a reference means, whether they let it begin, and that nothing waits for itself.

Invariant: the property `depends_on` alone says what a task waits for. A search for a circle that would have to look at
too much refuses, so that no circle is let in for lack of time.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from hivekeep.identity.ids import classify
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.gtd.shapes import properties_of, status_of, task
from hivekeep.packs.note_rules import Pair
from hivekeep.storage import tasks
from hivekeep.storage.records import Located
from hivekeep.storage.task_fields import DONE, KIND, STATUSES
from hivekeep.storage.tasks import Entry, TaskRow
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import ACTIONABLE_STATUSES, DEPENDENCY_WALK_MAX
from hivekeep_contract.models import gtd as models

PARAM = "depends_on"
BROKEN: tuple[models.BlockerState, ...] = (
    "cancelled",
    "soft_deleted",
    "missing",
    "invalid",
    "different_namespace",
    "wrong_kind",
)
CANCELLED = "cancelled"
_UUID_CHARS = 36

Follow = Callable[[Sequence[str]], Iterable[Pair]]
"""From some ids the pairs (id, id that one step leads to)."""


def listed(row: TaskRow) -> models.ListedTask:
    """A task with what it waits for."""
    properties = properties_of(row)
    blockers = _blockers(row, properties)
    state: models.DependencyState = "blocked" if blockers else "ready"
    if any(blocker["state"] in BROKEN for blocker in blockers):
        state = "broken"
    actionable = state == "ready" and status_of(properties) in ACTIONABLE_STATUSES
    return _waiting(row, state, actionable, blockers)


def ready(row: TaskRow) -> models.ListedTask:
    """A task that somebody can work on and that waits for nothing."""
    return _waiting(row, "ready", True, [])


def _waiting(
    row: TaskRow, state: models.DependencyState, actionable: bool, blockers: list[models.Blocker]
) -> models.ListedTask:
    told = cast("models.ListedTask", task(row))
    told["dependency_state"] = state
    told["actionable"] = actionable
    told["blocked_by"] = blockers
    return told


def _blockers(row: TaskRow, properties: Mapping[str, Any]) -> list[models.Blocker]:
    """What keeps a task from beginning, in stored order."""
    if PARAM not in properties:
        return []
    member = properties[PARAM]
    if not isinstance(member, list):
        return [{"id": member, "state": "invalid"}]
    judged = (_blocker(row, value, entry) for value, entry in zip(member, tasks.entries(row), strict=True))
    return [blocker for blocker in judged if blocker is not None]


def _blocker(waiting: TaskRow, value: Any, entry: Entry) -> models.Blocker | None:
    state = _state(waiting, value, entry)
    if state is None:
        return None
    if state == "pending":
        assert entry.status is not None
        return {"id": value, "state": state, "status": entry.status}
    return {"id": value, "state": state}


def _state(waiting: TaskRow, value: Any, entry: Entry) -> models.BlockerState | None:
    """Why one entry keeps the task from beginning, None when it is done; the first reason counts."""
    if not _is_full_id(value):
        return "invalid"
    if entry.namespace is None:
        return "missing"
    if entry.namespace != waiting.namespace:
        return "different_namespace"
    if entry.deleted:
        return "soft_deleted"
    if entry.kind != KIND:
        return "wrong_kind"
    if entry.status == DONE:
        return None
    if entry.status == CANCELLED:
        return "cancelled"
    return "pending" if entry.status in STATUSES else "invalid"


def _is_full_id(value: Any) -> bool:
    return isinstance(value, str) and len(value) == _UUID_CHARS and classify(value).form == "uuid"


def resolved(ctx: Context, references: Iterable[str], namespace: str) -> list[str]:
    """The live tasks of a namespace that references mean, each once; raises NotFound, Ambiguous, InvalidInput."""
    found = (_task(ctx, reference, namespace).id for reference in references)
    return list(dict.fromkeys(found))


def _task(ctx: Context, reference: str, namespace: str) -> Located:
    wanted = Wanted(PARAM, by_name=False, namespaces=(namespace,))
    found = resolve(ctx.tx, reference, wanted, ctx.caller)
    if found.kind != KIND:
        raise InvalidInput(f"{ctx.verb}: {PARAM!r} must name tasks; {found.id} is of the kind {found.kind}")
    return found


def checked(ctx: Context, task_id: str, references: Sequence[str], namespace: str) -> list[str]:
    """The new dependencies of a task that exists.

    Raises InvalidInput for a prefix, another kind, the task itself or a circle, NotFound for what is not there.
    """
    for reference in references:
        if not _is_full_id(reference):
            raise InvalidInput(f"{ctx.verb}: {PARAM!r} of a task must be a list of full UUIDs; got {reference!r}")
    ids = resolved(ctx, references, namespace)
    refuse_property_circle(ctx, task_id, ids)
    return ids


def refuse_property_circle(ctx: Context, task_id: str, ids: Iterable[str]) -> None:
    """Refuse dependencies from which properties lead back to the task; raises InvalidInput."""
    if _leads(ctx, ids, task_id, lambda frontier: tasks.waited_for(ctx.tx, frontier)):
        raise InvalidInput(f"{ctx.verb}: {PARAM!r} of task {task_id} leads back to it; a task may not wait for itself")


def refuse_edge_circle(ctx: Context, source_id: str, target_ids: Iterable[str], beside: Sequence[Pair]) -> None:
    """Refuse edges to tasks from which live edges lead back to their source; raises InvalidInput.

    Edges are followed against their direction: most often nothing depends on the source yet.
    """

    def follow(frontier: Sequence[str]) -> list[Pair]:
        wanted = set(frontier)
        return [*tasks.joined(ctx.tx, frontier), *((far, near) for near, far in beside if far in wanted)]

    for target_id in target_ids:
        if _leads(ctx, [source_id], target_id, follow):
            raise InvalidInput(
                f"{ctx.verb}: {target_id} {PARAM} {source_id} already, directly or by way of other tasks; "
                "a task may not wait for itself"
            )


def _leads(ctx: Context, start: Iterable[str], goal: str, follow: Follow) -> bool:
    """Whether steps lead from one of the ids to the goal; raises InvalidInput when there are too many of them."""
    seen = set(start)
    frontier = sorted(seen)
    steps = 0
    while frontier and goal not in seen:
        pairs = list(follow(frontier))
        steps += len(pairs)
        reached = {far for _, far in pairs} - seen
        seen |= reached
        if max(steps, len(seen)) > DEPENDENCY_WALK_MAX:
            raise InvalidInput(
                f"{ctx.verb}: more than {DEPENDENCY_WALK_MAX:,} dependencies would have to be looked at to rule out"
                " that a task waits for itself; divide the work into smaller graphs"
            )
        frontier = sorted(reached)
    return goal in seen
