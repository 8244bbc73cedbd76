"""next and tasks: which tasks there are, and which of them can be done now.

Invariant: no task is left out silently: a list that hides finished tasks says so when it is empty for that, and a
choice that would have to look at too many is refused.
"""

from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.gtd.dependencies import CANCELLED, listed, ready
from hivekeep.storage import tasks as storage
from hivekeep.storage.task_fields import OPEN_STATUSES
from hivekeep.storage.tasks import TaskFilter
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import NEXT_CANDIDATES_MAX, TASKS_CAP
from hivekeep_contract.models import gtd as models


def next_up(ctx: Context, args: models.NextArgs) -> models.NextResult:
    """The most urgent tasks; raises InvalidInput when there are more candidates than are looked at."""
    namespaces = ctx.visible()
    if storage.more_than(ctx.tx, namespaces, args.assignee, NEXT_CANDIDATES_MAX):
        raise InvalidInput(
            f"gtd.next: more than {NEXT_CANDIDATES_MAX:,} tasks are next or active here; name an 'assignee'"
            " or move some of them on"
        )
    rows = storage.next_up(
        ctx.tx, namespaces, args.assignee, with_blocked=args.include_blocked, limit=_clamped(args.limit)
    )
    shown = listed if args.include_blocked else ready
    return [shown(row) for row in rows]


def tasks(ctx: Context, args: models.TasksArgs) -> models.TasksResult:
    """One page of tasks; raises NotFound and Ambiguous for a duplicate_of that leads to no note."""
    filters = _filters(ctx, args)
    namespaces = ctx.visible()
    rows = storage.list_page(ctx.tx, namespaces, filters, limit=_clamped(args.limit), offset=args.offset)
    if rows or args.offset or filters.statuses != OPEN_STATUSES:
        return [listed(row) for row in rows]
    hidden = storage.excluded(ctx.tx, namespaces, filters)
    if not any(hidden):
        return []
    names: list[models.Excluded] = ["done", "cancelled", "unrecognized_status"]
    return {
        "tasks": [],
        "total": 0,
        "filter_excluded": [name for name, found in zip(names, hidden, strict=True) if found],
    }


def _filters(ctx: Context, args: models.TasksArgs) -> TaskFilter:
    duplicate_of = None
    statuses: tuple[str, ...] = OPEN_STATUSES
    if args.duplicate_of is not None:
        wanted = Wanted("duplicate_of", ("note",), include_deleted=True, by_name=False)
        duplicate_of = resolve(ctx.tx, args.duplicate_of, wanted, ctx.caller).id
        statuses = (CANCELLED,)
    if args.status is not None:
        statuses = (args.status,)
    return TaskFilter(
        statuses=statuses,
        assignee=args.assignee,
        priority=args.priority,
        tags=tuple(args.tags or ()),
        context_entity_id=args.context_entity_id,
        duplicate_of=duplicate_of,
    )


def _clamped(limit: int) -> int:
    return min(max(limit, 1), TASKS_CAP)
