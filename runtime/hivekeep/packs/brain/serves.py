"""record_serve: the note of an answer that another pack gave, row for row as a recall leaves it.

Invariant: one bad target costs its own row and no other.
"""

from hivekeep.identity.ids import classify
from hivekeep.packs.brain.consumers import consumer_kinds
from hivekeep.packs.context import Context
from hivekeep.storage import records
from hivekeep.tuning import serving
from hivekeep.tuning.serving import Served
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import brain as models

JUDGED = ("entity", "note")


def record_serve(ctx: Context, args: models.RecordServeArgs) -> models.RecordServeResult:
    """Store the rows; raises InvalidInput for facts that contradict each other, NotFound for an unknown profile."""
    served = _served(ctx, args)
    targets = _targets(ctx, args.target_ids)
    moment = ctx.now_us if args.served_at is None else args.served_at
    note = serving.ledger_rows(served, ctx.namespace, args.consumer_kind, args.query_raw, targets, moment)
    note(ctx.tx)
    return {
        "ok": True,
        "written": len(targets),
        "skipped": len(args.target_ids) - len(targets),
        "query_class": serving.query_class(args.query_raw),
        "serve_ledger_ids": list(note.ids),
        "verb": ctx.verb,
    }


def _served(ctx: Context, args: models.RecordServeArgs) -> Served:
    """Who the rows count for."""
    kinds = consumer_kinds(ctx)
    if args.consumer_kind not in kinds:
        raise InvalidInput(f"{ctx.verb}: unknown consumer_kind {args.consumer_kind!r}; accepted: {', '.join(kinds)}")
    named, said = args.served_by_profile_id, args.serve_attribution
    if said is not None and (said == "profile") != (named is not None):
        raise InvalidInput(
            f"{ctx.verb}: 'served_by_profile_id' goes with serve_attribution='profile' and with no other; got {said!r}"
        )
    if said == "unattributed":
        return serving.defaults()._replace(attribution=said)
    return serving.resolve(ctx.tx, ctx.caller, ctx.namespace, args.consumer_kind, ctx.now_us, named)


def _targets(ctx: Context, target_ids: list[str]) -> list[str]:
    """The ids of those that are records which feedback can be about, in their order."""
    named = [ref.text for text in target_ids if text.strip() and (ref := classify(text)).form == "uuid"]
    found = records.locate_many(ctx.tx, list(dict.fromkeys(named)))
    return [name for name in named if name in found and found[name].substrate in JUDGED]
