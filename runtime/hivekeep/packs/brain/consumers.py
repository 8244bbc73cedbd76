"""What profiles can serve: the consumer kinds of the loaded packs."""

from hivekeep.packs.context import Context
from hivekeep_contract.vocabulary import CONSUMER_KINDS


def consumer_kinds(ctx: Context) -> tuple[str, ...]:
    """The consumer kinds that the loaded packs declare, in pack order."""
    return tuple(kind for pack, kinds in CONSUMER_KINDS.items() if ctx.loaded(pack) for kind in kinds)
