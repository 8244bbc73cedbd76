"""stats, verbs, whoami and scan: what there is, what can be done, who asks, what would be refused."""

from hivekeep import __version__, build
from hivekeep.gate.secrets import mask, refusal, scan_fields
from hivekeep.packs.context import Context
from hivekeep.packs.kg.create import note_secret_fields
from hivekeep.storage import edges, entities, notes
from hivekeep_contract import reference
from hivekeep_contract.catalog import VERBS
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import kg as models


def stats(ctx: Context, args: models.StatsArgs) -> models.StatsResult:
    """Counts of live rows in the visible namespaces; an edge counts whatever the state of its endpoints."""
    namespaces = ctx.visible()
    return {
        "entities": entities.count(ctx.tx, namespaces),
        "edges": edges.count(ctx.tx, namespaces),
        "notes": notes.count(ctx.tx, namespaces),
        "count_scope": {"namespaces": "caller_visible", "rows": "live_only"},
    }


def verbs(ctx: Context, args: models.VerbsArgs) -> models.VerbsResult:
    """The callable verbs of the loaded packs; raises InvalidInput for a pack that is not loaded."""
    if args.pack is not None and args.pack not in ctx.packs:
        raise InvalidInput(f"verbs: pack {args.pack!r} is not loaded; loaded: {', '.join(sorted(ctx.packs))}")
    offered = [verb for verb in VERBS.values() if verb.pack in ctx.packs and not verb.internal]
    shown = [verb for verb in offered if args.pack in (None, verb.pack) and args.category in (None, verb.category)]
    rows: list[models.VerbRow] = [
        {
            "name": verb.name,
            "pack": verb.pack,
            "category": verb.category,
            "description": reference.VERBS[verb.name].summary,
        }
        for verb in sorted(shown, key=lambda verb: (verb.pack, verb.name))
    ]
    counts = {pack: sum(verb.pack == pack for verb in offered) for pack in ctx.packs}
    return {"verbs": rows, "total": len(rows), "pack_counts": counts}


def whoami(ctx: Context, args: models.WhoamiArgs) -> models.WhoamiResult:
    """The caller as this request carries it, and the build; never a token."""
    caller = ctx.caller
    told: models.WhoamiResult = {
        "actor_id": caller.id,
        "actor_kind": caller.kind,
        "unattributed": caller.unattributed,
        "namespace": caller.namespace,
        "visible_namespaces": list(caller.visible),
        "build": {"version": __version__, "revision": build.revision()},
    }
    if caller.session_id is not None:
        told["session_id"] = caller.session_id
    return told


def scan(ctx: Context, args: models.ScanArgs) -> models.ScanResult:
    """What a note write with this text would be refused for; stores nothing."""
    found = scan_fields(note_secret_fields(args.content, args.name, args.properties))
    preview: models.MaskedPreview = {
        "content": mask(args.content),
        "name": None if args.name is None else mask(args.name),
    }
    if found is None:
        return {
            "would_refuse": False,
            "detector": None,
            "trigger": None,
            "masked": None,
            "location": None,
            "message": None,
            "masked_preview": preview,
        }
    location, finding = found
    return {
        "would_refuse": True,
        "detector": finding.detector,
        "trigger": finding.trigger,
        "masked": finding.masked,
        "location": location,
        "message": refusal(location, finding),
        "masked_preview": preview,
    }
