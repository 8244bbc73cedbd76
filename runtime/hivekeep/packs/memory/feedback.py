"""feedback: what was said about something recalled goes to who served it.

Invariant: with a profile the brain's own verb does the work, in the same transaction and under the same policy.
"""

from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.memory import serving
from hivekeep_contract.models import memory as models

JUDGED = ("entity", "note")
BRAIN_VERB = "brain.feedback"


def feedback(ctx: Context, args: models.FeedbackArgs) -> models.Judged:
    """The acknowledgement; raises NotFound for a record that is not there, and what brain.feedback raises."""
    target = resolve(ctx.tx, args.target_id, Wanted("target_id", JUDGED, by_name=False), ctx.caller)
    told: models.Judged = {"ok": True, "target_id": target.id, "signal": args.signal}
    profile_id = serving.serve(ctx).profile_id
    if profile_id is None:
        serving.judge(ctx, target.id, args.signal)
    else:
        said = {"target_id": target.id, "signal": args.signal, "served_by_profile_id": profile_id}
        answer = ctx.invoke(BRAIN_VERB, said)
        told["profile_id"] = profile_id
        told["event_id"] = answer["event_id"]
    ctx.touch(target.substrate, target.id)
    return told
