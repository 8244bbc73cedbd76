"""Which profile serves an actor in a namespace for a consumer kind.

Invariant: the same bindings lead to the same profile, whatever the order in which they were made; a binding never leads
to a profile that is archived or gone.
"""

from typing import NamedTuple

from hivekeep.identity.caller import Caller
from hivekeep.storage import brain_profiles
from hivekeep.storage.brain_profiles import BindingRow, ProfileRow
from hivekeep.storage.engine import Tx
from hivekeep.tuning import profiles
from hivekeep_contract.limits import (
    BINDING_SPECIFICITY,
    BUILTIN_CONSUMER_KIND,
    BUILTIN_PROFILE,
    PROFILE_WILDCARD,
)


class Chosen(NamedTuple):
    """The profile that serves, and the binding that led to it; None for the one that needs none."""

    profile: ProfileRow
    binding: BindingRow | None


def bound(tx: Tx, home: str, actor: str | None, namespace: str, consumer_kind: str) -> Chosen | None:
    """The profile that the bindings of the namespace `home` lead to, or None.

    Highest priority, then most specific (actor before namespace before consumer kind), then newest. `actor` None is
    matched by bindings for everybody only.
    """
    wanted = PROFILE_WILDCARD if actor is None else actor
    rows = brain_profiles.matching(tx, home, wanted, namespace, consumer_kind, PROFILE_WILDCARD)
    for row in sorted(rows, key=_rank, reverse=True):
        profile = profiles.find(tx, home, row.profile_id)
        if profile is not None and profile.lifecycle != profiles.ARCHIVED:
            return Chosen(profile, row)
    return None


def chosen(tx: Tx, home: str, actor: str | None, namespace: str, consumer_kind: str) -> Chosen | None:
    """The same, and the built-in profile for a recall that no binding serves."""
    return bound(tx, home, actor, namespace, consumer_kind) or unbound(tx, home, consumer_kind)


def unbound(tx: Tx, home: str, consumer_kind: str) -> Chosen | None:
    """What serves where no binding does: the built-in profile, for a recall."""
    if consumer_kind != BUILTIN_CONSUMER_KIND:
        return None
    builtin = profiles.find(tx, home, BUILTIN_PROFILE)
    return None if builtin is None or builtin.lifecycle == profiles.ARCHIVED else Chosen(builtin, None)


def served_as(caller: Caller) -> str | None:
    """The name under which bindings know a caller; an anonymous one has none."""
    return None if caller.unattributed else caller.caller_label


def _rank(row: BindingRow) -> tuple[int, int, int]:
    values = {"actor": row.actor, "namespace": row.for_namespace, "consumer_kind": row.consumer_kind}
    specific = sum(BINDING_SPECIFICITY[name] for name, value in values.items() if value != PROFILE_WILDCARD)
    return row.priority, specific, row.created_at
