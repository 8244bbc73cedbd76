"""vacuum: the database file without the space that deleted rows left.

Invariant: it runs outside any transaction; where it cannot run it changes nothing and says why.
"""

from hivekeep.packs.context import MAIN, Context
from hivekeep_contract.models import memory as models


def vacuum(ctx: Context, args: models.VacuumArgs) -> models.Vacuumed:
    """Rewrite the file; raises WriterTaskBeginBusy while another process writes, StorageUnavailable without room."""
    ctx.engines[MAIN].vacuum()
    return {"ok": True}
