"""read and mark_read: marks on messages that the caller received.

Invariant: every reference is checked before anything is written. A mark changes the property `read` and nothing else,
and a message that can no longer be marked when the write comes is told apart from one that was.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from hivekeep.packs.comm import letters
from hivekeep.packs.comm.letters import FROM_NAMES, TO_NAMES, label
from hivekeep.packs.context import Context
from hivekeep.storage import messages, notes
from hivekeep.storage.json_text import load_object
from hivekeep.storage.notes import NoteRow
from hivekeep.times import iso
from hivekeep_contract.errors import ConcurrentChange, HivekeepError, InvalidInput, WriteOutcomeUnknown
from hivekeep_contract.models import comm as models

NOT_UPDATED: Final = "no live row updated"
IDS: Final = "ids"


class Mark(NamedTuple):
    """What became of one mark; `error` says why it is failed or unknown."""

    status: models.MarkStatus
    error: str | None = None


class _Summary(NamedTuple):
    """What became of several marks together, and how many references, messages and marks of each sort there were."""

    status: models.MarksStatus
    requested: int
    unique: int
    marked: int
    unknown: int
    failed: int


SUCCESS: Final = Mark("success")
_READ: Final[dict[str, bool | None]] = {"success": True, "failed": False, "unknown": None}


def read(ctx: Context, args: models.ReadArgs) -> models.Fetched | models.Fetches:
    """The messages and what became of their marks; raises NotFound, Ambiguous and InvalidInput."""
    references = [args.id] if args.id is not None else args.ids or []
    rows = _targets(ctx, references, IDS if args.id is None else "id")
    marks = _best_effort(ctx, rows)
    results = [_fetched(row, marks[row.id], body=args.body) for row in rows]
    if args.id is not None:
        ctx.touch("note", rows[0].id)
        return results[0]
    summary = _summary(len(references), list(marks.values()))
    return {
        "status": summary.status,
        "results": results,
        "requested_count": summary.requested,
        "unique_count": summary.unique,
        "marked_count": summary.marked,
        "unknown_count": summary.unknown,
        "failed_count": summary.failed,
    }


def mark_read(ctx: Context, args: models.MarkReadArgs) -> models.Marks:
    """What became of the marks. Raises NotFound, Ambiguous and InvalidInput.

    With `atomic` also ConcurrentChange and what the store raises; no mark is written then.
    """
    rows = _targets(ctx, args.ids, IDS)
    if args.atomic:
        ctx.write(lambda inner: _all_or_none(inner, rows))
        marks = dict.fromkeys((row.id for row in rows), SUCCESS)
    else:
        marks = _best_effort(ctx, rows)
    summary = _summary(len(args.ids), list(marks.values()))
    return {
        "status": summary.status,
        "results": [_marked(row, marks[row.id]) for row in rows],
        "requested_count": summary.requested,
        "unique_count": summary.unique,
        "marked_count": summary.marked,
        "unknown_count": summary.unknown,
        "failed_count": summary.failed,
    }


def _targets(ctx: Context, references: Sequence[str], param: str) -> list[NoteRow]:
    """The messages that are meant, each once, in the order in which they were named first."""
    me = label(ctx)
    found: dict[str, NoteRow] = {}
    with ctx.reading() as inner:
        for reference in references:
            row = letters.found(inner, reference, param)
            _check(ctx, row, me)
            found.setdefault(row.id, row)
    return list(found.values())


def _check(ctx: Context, row: NoteRow, me: str) -> None:
    properties = load_object(row.properties)
    if letters.is_for(properties, me):
        return
    if properties.get("direction") != "inbound":
        raise InvalidInput(
            f"{ctx.verb}: {row.id} is an {properties.get('direction') or 'undirected'} message;"
            " only inbound ones are read"
        )
    raise InvalidInput(f"{ctx.verb}: {row.id} is addressed to {properties.get('to_actor')!r}, not to {me!r}")


def _best_effort(ctx: Context, rows: Sequence[NoteRow]) -> dict[str, Mark]:
    """What became of each mark, by id; a store that takes none fails them all."""
    try:
        marked = ctx.write(lambda inner: _mark(inner, rows))
    except WriteOutcomeUnknown as lost:
        return dict.fromkeys((row.id for row in rows), Mark("unknown", lost.message))
    except HivekeepError as refused:
        return dict.fromkeys((row.id for row in rows), Mark("failed", refused.message))
    return {row.id: SUCCESS if row.id in marked else Mark("failed", NOT_UPDATED) for row in rows}


def _all_or_none(ctx: Context, rows: Sequence[NoteRow]) -> None:
    marked = _mark(ctx, rows)
    gone = next((row.id for row in rows if row.id not in marked), None)
    if gone is not None:
        raise ConcurrentChange(
            f"{ctx.verb}: {gone} is no message to {label(ctx)!r} any more; no message was marked",
            details={"reason": "concurrent_change", "id": gone},
        )


def _mark(ctx: Context, rows: Sequence[NoteRow]) -> set[str]:
    """The ids that are marked read when this transaction is committed, those included that were before."""
    me = label(ctx)
    current = notes.get_many(ctx.tx, [row.id for row in rows])
    meant = [row for row in current.values() if letters.is_for(load_object(row.properties), me)]
    changed = set(messages.mark_read(ctx.tx, [row.seq for row in meant], ctx.now_us))
    letters.marked_events(ctx, [row for row in meant if row.seq in changed])
    return {row.id for row in meant}


def _marked(row: NoteRow, mark: Mark) -> models.Marked:
    properties = load_object(row.properties)
    told: models.Marked = {
        "id": row.id,
        "full_id": row.id,
        "status": mark.status,
        "read": _READ[mark.status],
        "properties": {**properties, "read": True} if mark is SUCCESS else properties,
    }
    if mark.error is not None:
        told["mark_error"] = mark.error
    return told


def _fetched(row: NoteRow, mark: Mark, *, body: bool) -> models.Fetched:
    told = cast("models.Fetched", _marked(row, mark))
    if body and mark is SUCCESS:
        properties = told["properties"]
        told["subject"] = properties.get("subject")
        told["content"] = row.content
        told["from"] = letters.first_text(properties, FROM_NAMES)
        told["to"] = letters.first_text(properties, TO_NAMES)
        told["direction"] = properties.get("direction")
        told["created_at"] = iso(row.created_at)
    return told


def _summary(requested: int, marks: Sequence[Mark]) -> _Summary:
    of = [mark.status for mark in marks]
    whole: dict[int, models.MarksStatus] = {
        of.count("failed"): "failed",
        of.count("unknown"): "unknown",
        of.count("success"): "success",
    }
    return _Summary(
        status=whole.get(len(marks), "partial"),
        requested=requested,
        unique=len(marks),
        marked=of.count("success"),
        unknown=of.count("unknown"),
        failed=of.count("failed"),
    )
