"""stats and vacuum: how large the database is, and its file without free pages.

Invariant: every figure is one that was read; what could not be read is null and says why.
"""

from typing import cast

from hivekeep.packs.context import MAIN, Context
from hivekeep.storage import session_mirror
from hivekeep_contract.errors import HivekeepError
from hivekeep_contract.models import session as models


def stats(ctx: Context, args: models.StatsArgs) -> models.MirrorStats:
    """Rows and bytes of the mirror tables and of the database; raises Unsupported where SQLite cannot count pages."""
    with ctx.reading() as snapshot:
        tables = session_mirror.table_sizes(snapshot.tx)
        pages = session_mirror.pages(snapshot.tx)
    return {
        "ok": True,
        "tables": cast("models.TableSizes", {name: table._asdict() for name, table in tables.items()}),
        "page_size_bytes": pages.page_size,
        **_measured(ctx, pages),
        "row_scope": "all_namespaces",
        "size_scope": "whole_database",
    }


def vacuum(ctx: Context, args: models.VacuumArgs) -> models.Vacuumed:
    """What the rewrite gained.

    Raises WriterTaskBeginBusy while another process writes, StorageUnavailable without room.
    """
    before = _file_sizes(ctx)
    ctx.engines[MAIN].vacuum()
    try:
        after = _file_sizes(ctx)
    except HivekeepError as fault:
        return {
            "ok": True,
            "before": before,
            "after": None,
            "allocated_bytes_reclaimed": None,
            "post_vacuum_metrics_status": "unavailable_after_commit",
            "post_vacuum_metrics_error": fault.message,
        }
    return {
        "ok": True,
        "before": before,
        "after": after,
        "allocated_bytes_reclaimed": before["database_bytes"] - after["database_bytes"],
        "post_vacuum_metrics_status": "available",
    }


def _file_sizes(ctx: Context) -> models.FileSizes:
    with ctx.reading() as snapshot:
        pages = session_mirror.pages(snapshot.tx)
    return _measured(ctx, pages)


def _measured(ctx: Context, pages: session_mirror.Pages) -> models.FileSizes:
    on_disk = session_mirror.on_disk(ctx.engines[MAIN].path)
    return {
        "database_bytes": pages.page_size * pages.page_count,
        "page_count": pages.page_count,
        "file_bytes": on_disk.file_bytes,
        "wal_bytes": on_disk.wal_bytes,
    }
