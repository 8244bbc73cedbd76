"""Messages as rows and as answers: how one is made, whose it is, and how it is shown.

Invariant: what is stored of a message is made by `letter` alone, so every one that this pack writes has all properties
of the schema version that it names.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from hivekeep.identity.ids import classify, new_id
from hivekeep.identity.resolve import SHORT_ID_CHARS, Wanted, resolve
from hivekeep.packs.context import Context, Happened
from hivekeep.storage import messages, notes
from hivekeep.storage.json_text import dump, load_object
from hivekeep.storage.message_fields import INBOUND, KIND, NOBODY, OUTBOUND
from hivekeep.storage.notes import NoteRow
from hivekeep.times import iso
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import MESSAGE_PREVIEW_CHARS, MESSAGE_SCHEMA_VERSION
from hivekeep_contract.models import comm as models
from hivekeep_contract.models.kg import Warning as Advice

ELLIPSIS = "…"
FROM_NAMES = ("from_actor", "from")
TO_NAMES = ("to_actor", "to")
_OWN_FIELDS = ("subject", "comm_schema_version", "thread_id", "sent_at", "outbound_ref", "sent_by_process")


class Parties(NamedTuple):
    """Who wrote to whom; `from_` and `to` are where it came from: a namespace, or addresses outside."""

    from_actor: str
    to_actor: str
    from_: str
    to: str


class Text(NamedTuple):
    """What a message says."""

    content: str
    subject: str | None


def label(ctx: Context) -> str:
    """The label of the caller."""
    return ctx.caller.id


def letter(
    ctx: Context,
    parties: Parties,
    text: Text,
    *,
    message_id: str,
    direction: str,
    thread_id: str,
    sent_at: int,
    more: Mapping[str, Any],
) -> NoteRow:
    """A new message; `sent_at` in microseconds, `more` are further properties."""
    properties: dict[str, Any] = {
        "comm_schema_version": MESSAGE_SCHEMA_VERSION,
        "direction": direction,
        "read": False,
        "from_actor": parties.from_actor,
        "to_actor": parties.to_actor,
        "from": parties.from_,
        "to": parties.to,
        "thread_id": thread_id,
        "sent_at": iso(sent_at),
    }
    if text.subject is not None:
        properties["subject"] = text.subject
    return NoteRow(
        id=message_id,
        namespace=ctx.namespace,
        kind=KIND,
        name=text.subject,
        content=text.content,
        properties=dump({**more, **properties}),
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )


def store(ctx: Context, rows: Sequence[NoteRow]) -> list[Advice]:
    """Store new messages with their events and vectors; answers what their author should know, each thing once."""
    advice: list[Advice] = []
    for row in rows:
        stored = messages.insert(ctx.tx, row)
        ctx.emit("note_created", "note", row.id, {"id": row.id, "namespace": row.namespace, "kind": row.kind})
        advice += [one for one in ctx.embed("note", stored) if one not in advice]
    return advice


def found(ctx: Context, reference: str, param: str = "id") -> NoteRow:
    """The live message of the caller's namespace that a reference means; `param` is the argument that holds it.

    Raises NotFound, Ambiguous, and InvalidInput for a note of another kind.
    """
    wanted = Wanted(param, ("note",), by_name=False, namespaces=(ctx.namespace,))
    row = notes.get(ctx.tx, resolve(ctx.tx, reference, wanted, ctx.caller).id)
    assert row is not None
    if row.kind != KIND:
        raise InvalidInput(f"{ctx.verb}: {row.id} is a note of the kind {row.kind}, not a message")
    return row


def first_text(properties: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these properties that is a text."""
    return next((value for name in names if isinstance(value := properties.get(name), str)), None)


def is_for(properties: Mapping[str, Any], actor: str) -> bool:
    """Whether a message is the copy of a recipient, and that is this actor."""
    return properties.get("direction") == INBOUND and _owner(properties, "to_actor") == actor


def is_by(properties: Mapping[str, Any], actor: str) -> bool:
    """Whether a message is the copy of a sender, and that is this actor."""
    return properties.get("direction") == OUTBOUND and _owner(properties, "from_actor") == actor


def _owner(properties: Mapping[str, Any], name: str) -> object:
    """As the indexes have it: what is missing or null means the caller that nobody named."""
    value = properties.get(name)
    return NOBODY if value is None else value


def thread_of(row: NoteRow) -> str | None:
    """The conversation that a message says it belongs to; None when that is no UUID."""
    return canonical_root(load_object(row.properties).get("thread_id"))


def canonical_root(value: object) -> str | None:
    """The UUID that a value spells, in lower case with hyphens; None for anything else."""
    ref = classify(value) if isinstance(value, str) else None
    return ref.text if ref is not None and ref.form == "uuid" else None


def shown(row: NoteRow, *, read: bool | None = None) -> models.Message:
    """A message with everything that is stored of it; `read` stands for what its own copy says."""
    properties = load_object(row.properties)
    return {
        "id": row.id,
        "short_id": row.id[:SHORT_ID_CHARS],
        "full_id": row.id,
        "kind": row.kind,
        "from": _first(properties, FROM_NAMES),
        "to": _first(properties, TO_NAMES),
        "subject": properties.get("subject"),
        "read": properties.get("read") is True if read is None else read,
        "direction": properties.get("direction"),
        "preview": _preview(row.content),
        "content": row.content,
        "namespace": row.namespace,
        "properties": properties,
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
    }


def projected(message: models.Message, names: Sequence[str] | None) -> models.Message | models.ChosenFields:
    """The fields of a message that were asked for, each once and null where there is none; all of them for None."""
    if names is None:
        return message
    properties = message["properties"]
    own = {
        **{name: properties.get(name) for name in _OWN_FIELDS},
        "from_actor": _first(properties, FROM_NAMES),
        "to_actor": _first(properties, TO_NAMES),
    }
    everything = {**own, **message}
    return cast("models.ChosenFields", {name: everything[name] for name in names})


def _first(properties: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((properties[name] for name in names if properties.get(name) is not None), None)


def _preview(content: str) -> str:
    return content if len(content) <= MESSAGE_PREVIEW_CHARS else content[:MESSAGE_PREVIEW_CHARS] + ELLIPSIS


def marked_events(ctx: Context, rows: Sequence[NoteRow]) -> None:
    """Remember that messages were marked read."""
    changed = {"changed_fields": ["properties"]}
    ctx.emit_all(
        [
            Happened("note_updated", "note", row.id, {"id": row.id, "namespace": row.namespace, **changed})
            for row in rows
        ]
    )


def pair_ids() -> tuple[str, str]:
    """The ids of the copy of the sender, made first because it may be the root, and of the recipient."""
    return new_id(), new_id()
