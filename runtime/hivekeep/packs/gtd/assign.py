"""assign: one task with its edges, in one transaction.

Invariant: a key names one task of a namespace for as long as that lives; a repeated call answers it as it is stored.
"""

from typing import Any, cast

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import classify, new_id
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.gtd import rules, shapes
from hivekeep.packs.gtd.shapes import properties_of, status_of
from hivekeep.storage import notes, task_history
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.task_fields import KIND
from hivekeep_contract.errors import IdempotencyKeyConflict
from hivekeep_contract.models import gtd as models

REASON = "idempotency_key_conflict"
STORED = ("status", "priority", "assignee", "due", "start", "end", "description", "tags", "depends_on", rules.CONTEXT)
"""The arguments that are properties of the same name."""
COMPARED = ("priority", "assignee", "due", "start", "end", "description", rules.CONTEXT)
"""Those that a repeated call must say alike; status, tags and dependencies are compared by their meaning."""


def assign(ctx: Context, args: models.AssignArgs) -> models.AssignedTask:
    """The task that was stored, or the one that holds the key.

    Raises InvalidInput, NotFound, Ambiguous, IdempotencyKeyConflict, SecretDetected.
    """
    refuse_secrets(
        (
            ("title", args.title),
            ("description", args.description),
            ("assignee", args.assignee),
            ("tags", args.tags),
            ("idempotency_key", args.idempotency_key),
        )
    )
    wanted = rules.described(ctx, _row(ctx, args))
    if args.idempotency_key is not None:
        holder = notes.find_by_key(ctx.tx, ctx.namespace, KIND, args.idempotency_key)
        if holder is not None:
            return _replay(ctx, holder, wanted)
    return _store(ctx, rules.referring(ctx, wanted))


def _row(ctx: Context, args: models.AssignArgs) -> NoteRow:
    properties = {name: getattr(args, name) for name in STORED if getattr(args, name) is not None}
    return NoteRow(
        id=new_id(),
        namespace=ctx.namespace,
        kind=KIND,
        name=args.title,
        content=rules.NOT_GIVEN,
        properties=dump(properties),
        key=args.idempotency_key,
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )


def _store(ctx: Context, row: NoteRow) -> models.AssignedTask:
    row = row._replace(seq=notes.insert(ctx.tx, row))
    ctx.touch("note", row.id)
    payload = {"id": row.id, "namespace": row.namespace, "kind": row.kind, "name": row.name}
    ctx.emit("note_created", "note", row.id, payload)
    rules.add_edges(ctx, row)
    told = cast("models.AssignedTask", shapes.task(row))
    if warnings := ctx.embed("note", row):
        told["warnings"] = warnings
    return told


def _replay(ctx: Context, holder: NoteRow, wanted: NoteRow) -> models.AssignedTask:
    """The task that holds the key; other content, or a holder that the policy hides, is a conflict."""
    disclosed = ctx.permits("list", {"kind": KIND, "namespace": holder.namespace, "key": holder.key})
    if disclosed and _alike(ctx, holder, wanted):
        ctx.touch("note", holder.id)
        told = cast("models.AssignedTask", shapes.task(holder))
        told["replayed"] = True
        return told
    details: dict[str, object] = {"reason": REASON, "key": holder.key}
    if disclosed:
        details["existing_id"] = holder.id
    raise IdempotencyKeyConflict(
        f"gtd.assign: a task of namespace {holder.namespace!r} already holds the idempotency key {holder.key!r}"
        " with other content; nothing was written",
        details=details,
    )


def _alike(ctx: Context, holder: NoteRow, wanted: NoteRow) -> bool:
    """Whether a call asks for the task that is stored, wherever that was moved since."""
    stored, said = properties_of(holder), properties_of(wanted)
    began = task_history.first_state(ctx.tx, holder.id) or status_of(stored)
    return (
        (holder.name, holder.content, began) == (wanted.name, wanted.content, said["status"])
        and all(stored.get(name) == said.get(name) for name in COMPARED)
        and _members(stored, "tags") == _members(said, "tags")
        and set(_members(stored, "depends_on")) == {_meant(ctx, one) for one in _members(said, "depends_on")}
    )


def _members(properties: dict[str, Any], name: str) -> list[str]:
    """The texts of a list, in an order of their own."""
    stored = properties.get(name)
    return sorted(one for one in stored if isinstance(one, str)) if isinstance(stored, list) else []


def _meant(ctx: Context, reference: str) -> str:
    """The full id that a repeated call names, also when that task was deleted since."""
    ref = classify(reference)
    if ref.form == "uuid":
        return ref.text
    wanted = Wanted("depends_on", include_deleted=True, by_name=False, namespaces=(ctx.namespace,))
    return resolve(ctx.tx, reference, wanted, ctx.caller).id
