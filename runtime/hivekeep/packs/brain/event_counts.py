"""event_counts: what happened in a window of time, by kind, actor and verb.

Invariant: nobody reads the events of another actor without being allowed to; an answer that left events out says so.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from hivekeep.identity.caller import PRINCIPAL, filter_labels, own_labels
from hivekeep.packs.brain.actors import check_events_of
from hivekeep.packs.context import Context
from hivekeep.storage import event_counts as counting
from hivekeep.storage.event_counts import Group, Window
from hivekeep.times import iso, iso_or_none
from hivekeep_contract.errors import EventWindowTooLarge, InvalidInput, PermissionDenied
from hivekeep_contract.limits import EVENT_COUNTS_MAX, EVENT_COUNTS_PAGE, EVENT_COUNTS_SHARE, EVENT_COUNTS_STEP
from hivekeep_contract.models import brain as models

_CROSS = ["verb", "actor"]
_COST_MAX = (1 << 63) - 1

Cross = dict[str, Counter[str]]


def event_counts(ctx: Context, args: models.EventCountsArgs) -> models.EventCountsResult:
    """The counts of a window; raises InvalidInput, PermissionDenied, EventWindowTooLarge."""
    _check(ctx, args)
    until = ctx.now_us if args.until is None else args.until
    window = Window(ctx.visible(), args.since, until, args.kind, _actors(ctx, args))
    in_window = counting.total(ctx.tx, window)
    groups = _walk(ctx, window, in_window) if args.exhaustive else _newest(ctx, window)
    is_own = args.actor is None and not args.all_actors
    tally = Tally(groups, ctx.caller.caller_label if is_own else None)
    return _report(args, tally, in_window)


class Tally:
    """Groups added up along every dimension; `actor` stands for whatever label the events have."""

    def __init__(self, groups: Iterable[Group], actor: str | None) -> None:
        self.total = 0
        self.kinds: Counter[str] = Counter()
        self.actors: Counter[str] = Counter()
        self.verbs: Counter[str] = Counter()
        self.pairs: Cross = defaultdict(Counter)
        self.profiles: Counter[str] = Counter()
        self.signals: Counter[str] = Counter()
        self.judged: Cross = defaultdict(Counter)
        self.origins: Counter[str] = Counter()
        self.work_classes: Counter[str] = Counter()
        self.costs: Counter[str] = Counter()
        for group in groups:
            self._add(group, group.actor if actor is None else actor)

    def _add(self, group: Group, actor: str) -> None:
        events = group.events
        self.total += events
        self.kinds[group.kind] += events
        self.actors[actor] += events
        self.verbs[group.verb] += events
        self.pairs[group.verb][actor] += events
        if group.feedback is not None:
            profile, signal, origin = group.feedback
            self.profiles[profile] += events
            self.signals[signal] += events
            self.judged[profile][signal] += events
            self.origins[origin] += events
        if group.work_class is not None:
            self.work_classes[group.work_class] += events
        if group.costed:
            self.costs[group.verb] += group.cost


def _check(ctx: Context, args: models.EventCountsArgs) -> None:
    if args.group_by is not None and list(args.group_by) != _CROSS:
        raise InvalidInput(f'{ctx.verb}: \'group_by\' must be ["verb", "actor"], in this order; got {args.group_by}')
    if args.until is not None and args.until < args.since:
        raise InvalidInput(f"{ctx.verb}: 'until' must not be before 'since' ({iso(args.since)}); got {iso(args.until)}")
    if args.all_actors and args.actor is not None:
        raise InvalidInput(f"{ctx.verb}: give either all_actors=true or an actor, not both")


def _actors(ctx: Context, args: models.EventCountsArgs) -> tuple[str, ...]:
    """The stored labels whose events count, none for everybody's; raises PermissionDenied."""
    caller = ctx.caller
    if args.all_actors:
        if caller.kind != PRINCIPAL or caller.id not in ctx.settings.brain_fleet_readers:
            raise PermissionDenied(
                f"{ctx.verb}: all_actors=true is for those whom the operator lists in brain.fleet_readers, "
                f"and {caller.caller_label!r} is not listed"
            )
        return ()
    if args.actor is None:
        return own_labels(caller.kind, caller.id)
    check_events_of(ctx, args.actor)
    return filter_labels(args.actor)


def _newest(ctx: Context, window: Window) -> list[Group]:
    if window.kind is None:
        return counting.newest_by_share(ctx.tx, window, EVENT_COUNTS_SHARE)
    return counting.newest(ctx.tx, window, EVENT_COUNTS_PAGE)


def _walk(ctx: Context, window: Window, in_window: int) -> Iterator[Group]:
    """Every group of the window, one step after another; raises EventWindowTooLarge."""
    if in_window > EVENT_COUNTS_MAX:
        raise EventWindowTooLarge(
            f"{ctx.verb}: the window holds {in_window:,} events, and an exhaustive count looks at {EVENT_COUNTS_MAX:,} "
            "at most; narrow since and until, or name an actor or a kind",
            details={"matched": in_window, "max_events": EVENT_COUNTS_MAX},
        )
    for namespace in window.namespaces:
        place = None
        while True:
            groups, place = counting.step(ctx.tx, window, namespace, place, EVENT_COUNTS_STEP)
            yield from groups
            if place is None:
                break


def _report(args: models.EventCountsArgs, tally: Tally, in_window: int) -> models.EventCountsResult:
    truncated = not args.exhaustive and tally.total < in_window
    report: models.EventCountsResult = {
        "since": iso(args.since),
        "until": iso_or_none(args.until),
        "actor": args.actor,
        "kind": args.kind,
        "total": tally.total,
        "truncated": truncated,
        "window_event_total": in_window,
        "counts_by_kind": _sorted(tally.kinds),
        "counts_by_actor": _sorted(tally.actors),
        "counts_by_verb": _sorted(tally.verbs),
    }
    if args.group_by is not None:
        pairs = _crossed(tally.pairs)
        if truncated:
            report["counts_by_verb_and_actor_page_scoped"] = pairs
        else:
            report["counts_by_verb_and_actor"] = pairs
    if tally.profiles:
        report["by_profile"] = _sorted(tally.profiles)
        report["counts_by_signal"] = _sorted(tally.signals)
        report["by_profile_and_signal"] = _crossed(tally.judged)
        report["feedback_by_originating_verb"] = _sorted(tally.origins)
    if tally.work_classes:
        report["counts_by_work_class"] = _sorted(tally.work_classes)
    if tally.costs:
        total = _saturated(sum(tally.costs.values()))
        if truncated:
            report["total_cost_unit_page_scoped"] = total
        else:
            report["total_cost_unit"] = total
        report["cost_unit_by_verb"] = {verb: _saturated(cost) for verb, cost in _sorted(tally.costs).items()}
    return report


def _sorted(counts: Counter[str]) -> dict[str, int]:
    """The counts by key."""
    return dict(sorted(counts.items()))


def _crossed(pairs: Cross) -> dict[str, dict[str, int]]:
    return {key: _sorted(counts) for key, counts in sorted(pairs.items())}


def _saturated(total: int) -> int:
    """The number as far as 64 bits hold it."""
    return max(-_COST_MAX - 1, min(total, _COST_MAX))
