"""What serves one recall: the weights of a profile and what it believes of single records; and the note of it.

Invariant: serving only reads. Without a profile, and when what it learned cannot be read, the priors serve, and the
answer says so.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Literal, NamedTuple

from hivekeep.gate.secrets import mask
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.storage import brain_states, serve_ledger
from hivekeep.storage.brain_profiles import ProfileRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.serve_ledger import ServeRow
from hivekeep.tuning import profiles, resolution, states
from hivekeep.tuning.beliefs import RELEVANCE, SALIENCE, TEMPORAL, Belief
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import SERVE_LEDGER_DAYS, SERVE_LEDGER_SWEEP

Attribution = Literal["profile", "unattributed", "unspecified"]

_DAY_US = 24 * 60 * 60 * 1_000_000
_CLASS_BYTES = 16
_WORDS = re.compile(r"\S+")


class EntityMeans:
    """What a profile believes of records, looked up on the snapshot that it was resolved on."""

    def __init__(self, tx: Tx | None = None, namespace: str = "", profile_id: str = "") -> None:
        """Without a snapshot nothing is believed of any record."""
        self._tx = tx
        self._place = (namespace, profile_id)
        self._known: dict[str, float | None] = {}

    def __call__(self, target_id: str) -> float | None:
        """The mean for one record; None without feedback on it."""
        if target_id not in self._known:
            self.look_up((target_id,))
        return self._known[target_id]

    def look_up(self, target_ids: Sequence[str]) -> Mapping[str, float | None]:
        """Read many at once and answer all that is known so far; later calls for these need no snapshot."""
        self._known.update(dict.fromkeys(target_ids))
        if self._tx is not None:
            rows = brain_states.targets(self._tx, *self._place, target_ids)
            self._known.update((row.target_id, Belief(row.alpha, row.beta).mean) for row in rows)
        return self._known


class Served(NamedTuple):
    """What serves a recall.

    `profile_id` is set with the attribution `profile` only; `resolved_profile_id` is who the answer counts for when no
    profile was chosen, `resolved_at` when that was found out (microseconds).
    """

    profile_id: str | None
    attribution: Attribution
    resolved_profile_id: str | None
    resolved_at: int | None
    relevance: float
    salience: float
    temporal: float
    entity_mean: EntityMeans


def defaults() -> Served:
    """What serves when no profile does, and nothing is counted."""
    return _by_priors("unspecified", None, None)


def resolve(
    tx: Tx, caller: Caller, namespace: str, consumer_kind: str, now_us: int, profile_id: str | None = None
) -> Served:
    """What serves a caller that asks in a namespace: the named profile, else the bound one, else the priors.

    Profiles and bindings are those of the caller's own namespace, beliefs those of `namespace`. Raises NotFound for a
    named profile that does not exist and InvalidInput for an archived one.
    """
    home = caller.namespace
    if profile_id is not None:
        return _by_profile(tx, _named(tx, home, profile_id), namespace)
    actor = resolution.served_as(caller)
    found = resolution.bound(tx, home, actor, namespace, consumer_kind)
    if found is not None:
        return _by_profile(tx, found.profile, namespace)
    default = resolution.unbound(tx, home, consumer_kind)
    return _by_priors("unspecified", None if default is None else default.profile.profile_id, now_us)


def _named(tx: Tx, home: str, profile_id: str) -> ProfileRow:
    profile = profiles.existing(tx, "profile_id", home, profile_id)
    if profile.lifecycle == profiles.ARCHIVED:
        raise InvalidInput(f"profile_id: profile {profile_id!r} is archived and serves nobody; name another one")
    return profile


def _by_profile(tx: Tx, profile: ProfileRow, namespace: str) -> Served:
    try:
        state = states.read(tx, namespace, profile.profile_id)
    except states.Unreadable:
        return _by_priors("unattributed", None, None)
    return Served(
        profile_id=profile.profile_id,
        attribution="profile",
        resolved_profile_id=None,
        resolved_at=None,
        relevance=states.relevance(state).mean,
        salience=states.salience(state).mean,
        temporal=states.temporal(state).mean,
        entity_mean=EntityMeans(tx, namespace, profile.profile_id) if state.target_count else EntityMeans(),
    )


def _by_priors(attribution: Attribution, resolved: str | None, now_us: int | None) -> Served:
    return Served(
        profile_id=None,
        attribution=attribution,
        resolved_profile_id=resolved,
        resolved_at=None if resolved is None else now_us,
        relevance=RELEVANCE.mean,
        salience=SALIENCE.mean,
        temporal=TEMPORAL.mean,
        entity_mean=EntityMeans(),
    )


class LedgerRows(NamedTuple):
    """The note of one answer, written when it is called with a write transaction."""

    rows: tuple[ServeRow, ...]

    def __call__(self, tx: Tx) -> None:
        """Store the rows, and forget a few that are older than the ledger keeps them."""
        if self.rows:
            first = self.rows[0]
            serve_ledger.append(tx, self.rows)
            serve_ledger.sweep(tx, first.namespace, first.served_at - SERVE_LEDGER_DAYS * _DAY_US, SERVE_LEDGER_SWEEP)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the rows, in the order of the records served."""
        return tuple(row.id for row in self.rows)


def ledger_rows(
    served: Served, namespace: str, consumer_kind: str, query: str, target_ids: Sequence[str], served_at: int
) -> LedgerRows:
    """The note that these records answered a query, for `Context.defer`. Credentials in the query are masked."""
    grouped = query_class(query)
    shown = mask(query)
    return LedgerRows(
        tuple(
            ServeRow(
                id=new_id(),
                namespace=namespace,
                consumer_kind=consumer_kind,
                served_by_profile_id=served.profile_id,
                resolved_profile_id=served.resolved_profile_id,
                resolved_at=served.resolved_at,
                target_id=target_id,
                query_class=grouped,
                query_raw=shown,
                served_at=served_at,
            )
            for target_id in target_ids
        )
    )


def query_class(query: str) -> str:
    """One key for queries of the same words, whatever their case, order and number."""
    words = sorted(set(_WORDS.findall(query.lower())))
    return blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=_CLASS_BYTES).hexdigest()
