"""prune: forgetting what weighs too little or has expired.

Invariant: what goes is deleted as delete does it, softly, with an event each, and restore brings it back.
"""

from hivekeep.packs.context import Context, Happened
from hivekeep.packs.memory.scoring import age_days, effective_salience
from hivekeep.storage import memories, notes
from hivekeep.storage.memories import FadingRow
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import memory as models

NO_EXPIRY = 0
"""The value of `before` that leaves expiry out."""


def prune(ctx: Context, args: models.PruneArgs) -> models.Pruned:
    """How many memories went, or would go; raises InvalidInput for a moment before 1970."""
    if args.before is not None and args.before < 0:
        raise InvalidInput(f"memory.prune: 'before' must be microseconds from 0; got {args.before}")
    gone = [row.id for row in memories.fading(ctx.tx, args.namespace) if _goes(ctx, args, row)]
    if args.dry_run:
        return {"pruned": 0, "dry_run": True, "would_prune": len(gone), "namespace": args.namespace}
    for record_id in gone:
        row = notes.get(ctx.tx, record_id)
        assert row is not None
        notes.soft_delete(ctx.tx, row, ctx.now_us)
    payload = {"namespace": args.namespace, "hard": False}
    ctx.emit_all([Happened("note_deleted", "note", record_id, {"id": record_id, **payload}) for record_id in gone])
    return {"pruned": len(gone), "dry_run": False, "namespace": args.namespace}


def _goes(ctx: Context, args: models.PruneArgs, row: FadingRow) -> bool:
    """Whether one of the conditions holds."""
    if args.min_salience is not None and row.salience < args.min_salience:
        return True
    if args.min_effective_salience is not None:
        left = effective_salience(row.salience, row.decay_factor, age_days(ctx.now_us, row.created_at))
        if left < args.min_effective_salience:
            return True
    cutoff = ctx.now_us if args.before is None else args.before
    return cutoff != NO_EXPIRY and row.expires_at is not None and row.expires_at <= cutoff
