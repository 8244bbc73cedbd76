"""store: one session, with its vectors-to-be, in one transaction."""

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import new_id
from hivekeep.packs.context import Context
from hivekeep.packs.session import answers, rules
from hivekeep.storage import notes
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.sessions import KIND
from hivekeep_contract.models import session as models


def store(ctx: Context, args: models.StoreArgs) -> models.StoredSession:
    """The session as it is stored; raises InvalidInput, SecretDetected."""
    refuse_secrets(
        (
            ("content", args.content),
            ("title", args.title),
            ("provider", args.provider),
            ("provider_session_id", args.provider_session_id),
            ("tags", args.tags),
        )
    )
    row = rules.checked(ctx.verb, _described(ctx, args))
    row = row._replace(seq=notes.insert(ctx.tx, row))
    ctx.touch("note", row.id)
    ctx.emit("note_created", "note", row.id, _told(row))
    stored: models.StoredSession = {"ok": True, "session": answers.record(row)}
    if warnings := ctx.embed("note", row):
        stored["warnings"] = warnings
    return stored


def _described(ctx: Context, args: models.StoreArgs) -> NoteRow:
    """The session of the arguments; an empty list of tags is none."""
    said = {
        "provider": args.provider,
        "provider_session_id": args.provider_session_id,
        "tags": args.tags or None,
    }
    return NoteRow(
        id=new_id(),
        namespace=ctx.namespace,
        kind=KIND,
        name=args.title,
        content=args.content,
        properties=dump({name: value for name, value in said.items() if value is not None}),
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )


def _told(row: NoteRow) -> dict[str, object]:
    told: dict[str, object] = {"id": row.id, "namespace": row.namespace, "kind": row.kind}
    if row.name is not None:
        told["name"] = row.name
    return told
