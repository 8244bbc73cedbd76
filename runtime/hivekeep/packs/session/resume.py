"""resume: one session with its content, and how a verb of this pack finds the session that it is given."""

from hivekeep.identity.ids import classify
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.session import answers
from hivekeep.storage import notes
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.sessions import KIND
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import session as models


def resume(ctx: Context, args: models.ResumeArgs) -> models.OneSession:
    """The session; raises InvalidInput, NotFound, Ambiguous."""
    return {"ok": True, "session": answers.record(found(ctx, args.id))}


def found(ctx: Context, reference: str) -> NoteRow:
    """The live session of a reference; a prefix looks into the caller's primary namespace alone.

    Raises NotFound, Ambiguous, and InvalidInput for a record of another kind.
    """
    prefix = classify(reference).form == "prefix"
    namespaces = (ctx.caller.namespace,) if prefix else None
    place = resolve(
        ctx.tx, reference, Wanted("id", ("entity", "note"), by_name=False, namespaces=namespaces), ctx.caller
    )
    if place.kind != KIND:
        raise InvalidInput(f"{ctx.verb}: 'id' must name a session; {place.id} is of the kind {place.kind}")
    ctx.touch("note", place.id)
    row = notes.get(ctx.tx, place.id)
    assert row is not None
    return row
