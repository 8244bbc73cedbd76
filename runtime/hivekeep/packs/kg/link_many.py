"""link: one edge, or the edges of `links` in one transaction.

Invariant: a link means what the same fields mean in a call of their own, except that of several links to one edge only
the first is carried out.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hivekeep.packs.context import Context
from hivekeep.packs.kg.bulk import failure, judge, refuse_others
from hivekeep.packs.kg.link import Find, Planned, finder, link_one, linked, plan, shown
from hivekeep.storage import edges
from hivekeep.storage.records import Located
from hivekeep_contract.catalog import VERBS
from hivekeep_contract.errors import HivekeepError, InvalidInput
from hivekeep_contract.models import kg as models

BESIDE_LINKS = ("atomic", "verbose")
LINK_FIELDS = tuple(models.LinkItem.__annotations__)
REQUIRED = ("source_id", "target_id", "relation")
_SPELLINGS = {
    spelling: param.name
    for param in VERBS["link"].params
    if param.name in LINK_FIELDS
    for spelling in (param.name, *param.aliases)
}
Natural = tuple[str, str, str]


def link(ctx: Context, args: models.LinkArgs) -> models.LinkResult:
    """One edge and what was done, or what became of many.

    Raises NotFound, Ambiguous, InvalidInput, EdgeTombstoned, SecretDetected.
    """
    return link_one(ctx, args) if args.links is None else _link_many(ctx, args, args.links)


def _link_many(ctx: Context, args: models.LinkArgs, links: Sequence[dict[str, Any]]) -> models.BulkLinked:
    refuse_others(ctx, args, "links", BESIDE_LINKS)
    find = _remembering(finder(ctx))
    accepted: list[Planned] = []

    def prepare(entry: dict[str, Any]) -> Planned:
        accepted.append(_plan(ctx, entry, find, accepted))
        return accepted[-1]

    judged = judge(links, prepare, param="links", atomic=args.atomic)
    first = _first_of_each(judged)
    _store(ctx, first)
    ctx.emit_all([linked(planned) for planned in first])
    ctx.mention(*(end for planned in first for end in planned.entities))
    return _report(args, judged, first)


def _plan(ctx: Context, entry: dict[str, Any], find: Find, beside: Sequence[Planned]) -> Planned:
    given = {_SPELLINGS.get(spelling, spelling) for spelling, value in entry.items() if value is not None}
    unknown = [name for name in entry if name not in _SPELLINGS]
    if unknown:
        raise InvalidInput(f"link: unknown field {unknown[0]!r} in an entry; accepted: {', '.join(LINK_FIELDS)}")
    missing = [name for name in REQUIRED if name not in given]
    if missing:
        raise InvalidInput(f"link: {missing[0]!r} is required in every entry of links")
    args, _given = ctx.read_entry(entry)
    return plan(ctx, args, find, beside)


def _remembering(find: Find) -> Find:
    """The same search, asked once for each reference: many links of a call share an end."""
    known: dict[str, Located] = {}

    def remembered(param: str, text: str) -> Located:
        if text not in known:
            known[text] = find(param, text)
        return known[text]

    return remembered


def _first_of_each(judged: Sequence[Planned | HivekeepError]) -> list[Planned]:
    """Of the planned writes of each edge the first one."""
    found: dict[Natural, Planned] = {}
    for planned in judged:
        if isinstance(planned, Planned):
            found.setdefault((planned.row.source_id, planned.row.target_id, planned.row.relation), planned)
    return list(found.values())


def _store(ctx: Context, planned: Sequence[Planned]) -> None:
    edges.insert_many(ctx.tx, [one.row for one in planned if one.old is None])
    for one in planned:
        if one.old is not None:
            edges.update(ctx.tx, one.old, one.row)


def _report(
    args: models.LinkArgs, judged: Sequence[Planned | HivekeepError], written: Sequence[Planned]
) -> models.BulkLinked:
    refused: list[models.LinkFailure] = [
        {"index": index, "error": failure(outcome)}
        for index, outcome in enumerate(judged)
        if isinstance(outcome, HivekeepError)
    ]
    done = Counter(one.mutation for one in written)
    report: models.BulkLinked = {
        "attempted": len(judged),
        "created": done["created"],
        "updated": done["updated"],
        "resurrected": done["resurrected"],
        "skipped": len(judged) - len(refused) - len(written),
        "failed": len(refused),
    }
    if not args.atomic:
        report["errors"] = refused
    if args.verbose:
        report["edges"] = [shown(one) for one in written]
    return report
