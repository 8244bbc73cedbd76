"""query: patterns in GQL and SPARQL."""

from hivekeep.packs.context import Context
from hivekeep.packs.kg.paging import clamp
from hivekeep_contract.limits import QUERY_PAGE_CAP, QUERY_PAGE_DEFAULT
from hivekeep_contract.models import kg as models


def query(ctx: Context, args: models.QueryArgs) -> models.QueryPage:
    """One page of rows; raises InvalidQuery, InvalidInput, Unsupported or QueryTooExpensive."""
    # Agents start a process at every launch, and few of them ever query.
    from hivekeep.query import execute

    size = clamp(args.page_size or QUERY_PAGE_DEFAULT, QUERY_PAGE_CAP).effective
    page = execute.run(ctx.tx, args.query, ctx.visible(), size)
    plan = page.query.plan
    shown: models.QueryPage = {
        "rows": page.rows,
        "offset": plan.skip,
        "page_size": size,
        "has_more": page.has_more,
        "truncated": page.has_more,
    }
    if page.has_more and page.query.language == "gql":
        shown["next_offset"] = plan.skip + len(page.rows)
    if plan.warnings:
        shown["warnings"] = list(plan.warnings)
    return shown
