"""From an entity that was merged to the one that is kept.

Invariant: a walk ends at a live entity, at a tombstone that leads nowhere, or in an error; never in a circle.
"""

from hivekeep.storage import entities
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import EntityRow
from hivekeep_contract.errors import RedirectChainTooLong, RedirectCycle
from hivekeep_contract.limits import REDIRECT_HOPS_MAX


def kept(tx: Tx, row: EntityRow) -> tuple[EntityRow | None, list[str]]:
    """The first live entity that `row` leads to (None at a dead end), and the ids that led there in order.

    Raises RedirectCycle and RedirectChainTooLong.
    """
    walked: list[str] = []
    found: EntityRow | None = row
    while found is not None and found.deleted_at is not None:
        if found.merged_into is None:
            return None, walked
        walked.append(found.id)
        if found.merged_into in walked:
            raise RedirectCycle(f"redirect cycle detected: {row.id} leads back to {found.merged_into}")
        if len(walked) > REDIRECT_HOPS_MAX:
            raise RedirectChainTooLong(f"redirect chain too long: {row.id} takes more than {REDIRECT_HOPS_MAX} steps")
        found = entities.get(tx, found.merged_into, include_deleted=True)
    return found, walked
