"""merge: one record out of two that mean the same.

Invariant: a dry run and the merge after it make the same plan; carrying it out writes what the plan says and nothing
else, and the event holds every edge that was removed as it was.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg import shapes
from hivekeep.packs.kg.merge_edges import EdgePlan, Loss, Removal, apply_edges, plan_edges
from hivekeep.packs.kg.merge_fields import Fields, Policy, entity_fields, note_fields
from hivekeep.packs.kg.merge_guards import Refusal, entity_refusal, note_refusal
from hivekeep.packs.kg.scopes import a
from hivekeep.packs.kg.update import CHANGEABLE, EMBEDDED, check_hint
from hivekeep.storage import edges, embedding_queue, entities, notes
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.json_text import dump, load_object
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.records import Located
from hivekeep_contract.errors import InvalidInput, MergeGuard, MergeNamespaces, MergeTooLarge
from hivekeep_contract.limits import MERGE_ROWS_CAP
from hivekeep_contract.models import kg as models

MERGED_INTO = "_merged_into"
"""Where the properties of a merged note name the kept one."""

RECORDS_TOUCHED = 2
"""The kept record and the other one."""


class Pair(NamedTuple):
    """The record that stays and the one that becomes part of it."""

    into: Located
    gone: Located


class Plan(NamedTuple):
    """All that a merge changes; the rows are those of one table."""

    into: Any
    gone: Any
    kept: Any
    fields: Fields
    edges: EdgePlan


class _Substrate(NamedTuple):
    """What differs between entities and notes."""

    name: str
    table: Any
    refusal: Callable[[Any, Any, bool], Refusal | None]
    fields: Callable[[Any, Any, Policy], Fields]
    tombstone: Callable[[Any, str], dict[str, Any]]
    shown: Callable[[Any], models.Entity | models.Note]


def _no_more(_gone: EntityRow, _kept_id: str) -> dict[str, Any]:
    """A merged entity says nothing but what every tombstone says."""
    return {}


def _note_tombstone(gone: NoteRow, kept_id: str) -> dict[str, Any]:
    return {"status": "deleted", "properties": dump({**load_object(gone.properties), MERGED_INTO: kept_id})}


_SUBSTRATES = {
    "entity": _Substrate("entity", entities, entity_refusal, entity_fields, _no_more, shapes.entity),
    "note": _Substrate("note", notes, note_refusal, note_fields, _note_tombstone, shapes.note),
}


def merge(ctx: Context, args: models.MergeArgs) -> models.MergeResult:
    """What was done, or what would be; raises NotFound, Ambiguous, InvalidInput and the conflicts of the contract."""
    refuse_secrets((("merge.reason", args.reason),))
    pair = _pair(ctx, args)
    ctx.touch(pair.into.substrate, pair.into.id)
    substrate = _SUBSTRATES[pair.into.substrate]
    into, gone = (substrate.table.get(ctx.tx, found.id) for found in pair)
    if substrate.name == "note":
        for kind in dict.fromkeys((into.kind, gone.kind)):
            ctx.rules_of(kind).merge(ctx, into, gone)
    refusal = substrate.refusal(into, gone, args.force)
    if refusal is not None:
        return _refused(args, refusal)
    plan = _plan(
        ctx, args, pair, substrate.fields(into, gone, Policy(args.strategy, args.content_strategy)), into, gone
    )
    report = _report(args, plan)
    if substrate.name == "entity":
        ctx.mention(into.id)
    if not args.dry_run:
        _carry_out(ctx, args, substrate, plan, report)
    if args.verbose:
        report["record"] = substrate.shown(plan.kept)
    return report


def _pair(ctx: Context, args: models.MergeArgs) -> Pair:
    """The two live records that the caller means: different ones, of one substrate and namespace."""
    if args.kind is not None and ctx.ontology.kind(args.kind).substrate not in _SUBSTRATES:
        raise InvalidInput(f"merge: kind={args.kind!r} cannot be merged; accepted: entity, note or a kind of those")
    named = (("into_id", args.into_id), ("from_id", args.from_id))
    pair = Pair(*(resolve(ctx.tx, text, Wanted(param, CHANGEABLE), ctx.caller) for param, text in named))
    if pair.into.id == pair.gone.id:
        raise InvalidInput(f"merge: into_id and from_id are the same record {pair.into.id}; a merge needs two")
    for (param, _), found in zip(named, pair, strict=True):
        check_hint(ctx, "merge", args.kind, found)
        if found.substrate not in _SUBSTRATES:
            raise InvalidInput(f"merge: {param} is {a(found.substrate)}; only two entities or two notes can be merged")
    if pair.into.substrate != pair.gone.substrate:
        raise InvalidInput(
            f"merge: into_id is {a(pair.into.substrate)} and from_id is {a(pair.gone.substrate)}; "
            "only two entities or two notes can be merged"
        )
    if pair.into.namespace != pair.gone.namespace:
        raise MergeNamespaces(
            f"merge: {pair.into.id} is in namespace {pair.into.namespace!r} and {pair.gone.id} in "
            f"{pair.gone.namespace!r}; only records of one namespace can be merged",
            details={
                "reason": "merge_namespaces",
                "into_namespace": pair.into.namespace,
                "from_namespace": pair.gone.namespace,
            },
        )
    return pair


def _refused(args: models.MergeArgs, refusal: Refusal) -> models.MergeRefusal:
    """The plan of a merge that the safety floor refuses; raises MergeGuard when it was meant."""
    if not args.dry_run:
        raise MergeGuard(f"merge: {refusal.detail}", details={"guard": refusal.guard, "compared": refusal.compared})
    return {
        "dry_run": True,
        "would_merge": False,
        "refused_by": refusal.guard,
        "compared": refusal.compared,
        "into_value": refusal.into_value,
        "from_value": refusal.from_value,
        "detail": refusal.detail,
    }


def _plan(ctx: Context, args: models.MergeArgs, pair: Pair, fields: Fields, into: Any, gone: Any) -> Plan:
    """All changes; raises MergeTooLarge, before more is read than a merge may touch."""
    _refuse_large(pair, RECORDS_TOUCHED + edges.degree(ctx.tx, gone.id))
    planned = plan_edges(ctx, pair.into, pair.gone)
    _refuse_large(pair, RECORDS_TOUCHED + len(planned.touched()))
    kept = into._replace(**fields.columns, updated_at=ctx.now_us, version=into.version + 1)
    return Plan(into, gone, kept, fields, planned)


def _refuse_large(pair: Pair, rows: int) -> None:
    if rows > MERGE_ROWS_CAP:
        raise MergeTooLarge(
            f"merge: taking {pair.gone.id} into {pair.into.id} would touch {rows} rows; one merge may touch "
            f"{MERGE_ROWS_CAP}",
            details={"reason": "merge_too_large", "rows": rows, "max_rows": MERGE_ROWS_CAP},
        )


def _report(args: models.MergeArgs, plan: Plan) -> models.MergeReport:
    skipped, looped = (_preimages(plan.edges, loss) for loss in ("contract", "self_loop"))
    report: models.MergeReport = {
        "kept_id": plan.into.id,
        "removed_id": plan.gone.id,
        "edges_rewired": len(plan.edges.rewired),
        "edges_contract_skipped": len(skipped),
        "contract_skipped_edge_preimages": skipped,
        "edges_self_loop_dropped": len(looped),
        "self_loop_edge_preimages": looped,
        "edge_conflict_preimages": list(_conflicts(plan.edges)),
        "properties_merged": plan.fields.properties_merged,
        "tags_unioned": plan.fields.tags_unioned,
        "content_appended": plan.fields.content_appended,
        "dry_run": args.dry_run,
    }
    if args.dry_run:
        report["would_merge"] = True
    return report


def _preimages(planned: EdgePlan, loss: Loss) -> list[models.RemovedEdge]:
    return [_preimage(removal) for removal in planned.lost(loss)]


def _preimage(removal: Removal) -> models.RemovedEdge:
    shown: models.RemovedEdge = {"dropped_edge": shapes.edge(removal.edge)}
    if removal.hanging:
        shown["incident_edge_preimages"] = [shapes.edge(edge) for edge in removal.hanging]
    return shown


def _conflicts(planned: EdgePlan) -> Iterator[models.ConflictingEdge]:
    for removal in planned.lost("conflict"):
        assert removal.surviving_id is not None
        yield {"surviving_edge_id": removal.surviving_id, **_preimage(removal)}


def _carry_out(
    ctx: Context, args: models.MergeArgs, substrate: _Substrate, plan: Plan, report: models.MergeReport
) -> None:
    """Write the plan: edges, the kept record with its text index, the event, the tombstone that points to both."""
    apply_edges(ctx.tx, plan.edges)
    stored = substrate.table.update(ctx.tx, plan.into, plan.kept)
    event_id = _emit(ctx, args, substrate.name, plan, report)
    tombstone = plan.gone._replace(
        **substrate.tombstone(plan.gone, plan.into.id),
        deleted_at=ctx.now_us,
        updated_at=ctx.now_us,
        merged_into=plan.into.id,
        merge_event_id=event_id,
    )
    substrate.table.update(ctx.tx, plan.gone, tombstone)
    embedding_queue.remove(ctx.tx, substrate.name, plan.gone.seq)
    if any(plan.fields.columns.get(name) != getattr(plan.into, name, None) for name in EMBEDDED) and (
        warnings := ctx.embed(substrate.name, stored)
    ):
        report["warnings"] = warnings
    if substrate.name == "entity":
        ctx.forget(plan.gone.id)


def _emit(ctx: Context, args: models.MergeArgs, substrate: str, plan: Plan, report: models.MergeReport) -> str:
    """One event that both records and every edge that was touched lead to."""
    payload: dict[str, Any] = {
        "into_id": plan.into.id,
        "from_id": plan.gone.id,
        "policy": args.strategy,
        "content_strategy": args.content_strategy,
        **{name: value for name, value in report.items() if name not in ("kept_id", "removed_id", "dry_run")},
    }
    if args.reason is not None:
        payload["reason"] = args.reason
    return ctx.emit(f"{substrate}_merged", substrate, plan.into.id, payload, also=[plan.gone.id, *plan.edges.touched()])
