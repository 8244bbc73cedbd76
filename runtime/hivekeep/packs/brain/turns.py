"""mark_turn: the note that a unit of work began, which counts are divided by."""

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.packs.context import Context
from hivekeep_contract.errors import HivekeepError
from hivekeep_contract.models import brain as models

WORK_CLASS = "actor_turn"
_STORE_FAULT = "unavailable"


def mark_turn(ctx: Context, args: models.MarkTurnArgs) -> models.MarkTurnResult:
    """Store the event; a store that cannot take it now does not fail the call. Raises SecretDetected."""
    refuse_secrets((("turn.label", args.label),))
    payload = {"phase": args.label, "work_class": WORK_CLASS}
    try:
        event_id: str | None = ctx.write(lambda inner: inner.emit("phase_started", "event", None, payload))
    except HivekeepError as fault:
        if fault.kind != _STORE_FAULT:
            raise
        event_id = None
    return {"ok": True, "emitted": event_id is not None, "event_id": event_id, "work_class": WORK_CLASS}
