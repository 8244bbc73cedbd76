"""Which profiles there are, and where each stands.

Invariant: every namespace has the built-in profile, whether or not anybody changed it.
"""

from hivekeep.storage import brain_profiles
from hivekeep.storage.brain_profiles import ProfileRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.errors import NotFound
from hivekeep_contract.limits import BUILTIN_CONSUMER_KIND, BUILTIN_PROFILE, PROFILE_STATE_CLASS

ACTIVE = "active"
INACTIVE = "inactive"
ARCHIVED = "archived"
_DESCRIPTION = "Weighs relevance, salience and recency of memories."


def find(tx: Tx, namespace: str, profile_id: str) -> ProfileRow | None:
    """The profile of a name in a namespace."""
    row = brain_profiles.get(tx, namespace, profile_id)
    return _builtin(namespace) if row is None and profile_id == BUILTIN_PROFILE else row


def known(tx: Tx, namespace: str) -> list[ProfileRow]:
    """Every profile of a namespace, by name."""
    rows = brain_profiles.all_of(tx, namespace)
    if all(row.profile_id != BUILTIN_PROFILE for row in rows):
        rows.append(_builtin(namespace))
    return sorted(rows, key=lambda row: row.profile_id)


def existing(tx: Tx, verb: str, namespace: str, profile_id: str, *, param: str = "profile_id") -> ProfileRow:
    """The profile of a name; raises NotFound that lists the names there are."""
    row = find(tx, namespace, profile_id)
    if row is None:
        names = ", ".join(row.profile_id for row in known(tx, namespace))
        raise NotFound(
            f"{verb}: no profile {profile_id!r} in namespace {namespace!r}; there are: {names}",
            details={"param": param, "id": profile_id},
        )
    return row


def _builtin(namespace: str) -> ProfileRow:
    return ProfileRow(
        namespace=namespace,
        profile_id=BUILTIN_PROFILE,
        description=_DESCRIPTION,
        consumer_kind=BUILTIN_CONSUMER_KIND,
        state_class=PROFILE_STATE_CLASS,
        lifecycle=ACTIVE,
        created_at=None,
        updated_at=0,
    )
