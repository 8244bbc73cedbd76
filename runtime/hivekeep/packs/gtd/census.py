"""census: the raw timestamps of tasks, counted by their size.

Invariant: every bucket is in the answer, and those of one value add up to the number of tasks.
"""

from collections.abc import Sequence
from typing import cast

from hivekeep.identity.ids import classify
from hivekeep.packs.context import Context
from hivekeep.storage import task_census
from hivekeep.storage.task_census import BUCKETS, EXPECTED, CandidateRow
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import CENSUS_INTERPRETATION, CENSUS_PAGE_DEFAULT
from hivekeep_contract.models import gtd as models

SCHEMA_VERSION = 1
OF_CANDIDATES = ("limit", "cursor")


def census(ctx: Context, args: models.CensusArgs) -> models.Census:
    """The counts, and a page of candidates when asked for; raises InvalidInput."""
    for name in OF_CANDIDATES:
        if name in ctx.given and getattr(args, name) is None:
            raise InvalidInput(f"gtd.census: {name!r} must not be null; leave it out instead")
    namespaces = ctx.visible(args.namespace)
    counted = task_census.count(ctx.tx, namespaces)
    told: models.Census = {
        "schema_version": SCHEMA_VERSION,
        "scope": list(namespaces),
        "total_tasks": sum(row.tasks for row in counted),
        "created_at": _histogram([(row.created_at, row.tasks) for row in counted]),
        "archived_at": _histogram([(row.archived_at, row.tasks) for row in counted]),
        "created_at_gt_archived_at_raw": sum(row.later for row in counted),
        "interpretation": CENSUS_INTERPRETATION,
    }
    if args.include_candidates:
        told["candidates"] = _page(ctx, args, namespaces)
    else:
        for name in OF_CANDIDATES:
            if name in ctx.given:
                raise InvalidInput(f"gtd.census: {name!r} needs include_candidates=true")
    return told


def _histogram(counted: Sequence[tuple[str, int]]) -> models.Histogram:
    sums = dict.fromkeys(BUCKETS, 0)
    for bucket, count in counted:
        sums[bucket] += count
    return cast("models.Histogram", sums)


def _page(ctx: Context, args: models.CensusArgs, namespaces: Sequence[str]) -> models.CandidatePage:
    limit = args.limit or CENSUS_PAGE_DEFAULT
    rows = task_census.candidates(ctx.tx, namespaces, _after(args.cursor), limit + 1)
    more = len(rows) > limit
    shown = rows[:limit]
    return {
        "rows": [_candidate(row) for row in shown],
        "next_cursor": {"namespace": shown[-1].namespace, "id": shown[-1].id} if more else None,
        "expected_buckets": {"created_at": EXPECTED, "updated_at": EXPECTED},
    }


def _after(cursor: models.CensusCursor | None) -> tuple[str, str] | None:
    if cursor is None:
        return None
    ref = classify(cursor["id"])
    if ref.form != "uuid":
        raise InvalidInput("gtd.census: 'cursor.id' must be a full UUID; prefixes are refused")
    return cursor["namespace"], ref.text


def _candidate(row: CandidateRow) -> models.Candidate:
    return {
        "id": row.id,
        "namespace": row.namespace,
        "stored_status": row.status,
        "raw": {
            "created_at": str(row.created_at),
            "updated_at": str(row.updated_at),
            "archived_at": row.archived_at,
        },
        "buckets": {
            "created_at": row.created_bucket,
            "updated_at": row.updated_bucket,
            "archived_at": row.archived_bucket,
        },
    }
