"""Leases of background work: one owner at a time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.storage import leases
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from support.stores import OPTIONS

TTL = 10


def test_a_lease_is_given_to_one_owner_until_it_expires(tx: Tx) -> None:
    """Another owner gets it at the end of its time and not before; the former one holds it no more."""
    assert leases.claim(tx, "embed", "a", TTL, 100) == 1
    assert leases.claim(tx, "embed", "b", TTL, 109) is None
    assert leases.holds(tx, "embed", "a", 1)
    assert leases.claim(tx, "embed", "b", TTL, 110) == 2
    assert not leases.holds(tx, "embed", "a", 1)
    assert not leases.renew(tx, "embed", "a", 1, TTL, 111)
    assert leases.holds(tx, "embed", "b", 2)


def test_names_are_leases_of_their_own(tx: Tx) -> None:
    """Whoever has one may have another one, or somebody else has it."""
    assert leases.claim(tx, "embed", "a", TTL, 100) == 1
    assert leases.claim(tx, "sweep", "b", TTL, 100) == 1
    assert not leases.holds(tx, "sweep", "a", 1)


def test_a_renewed_lease_lasts_longer(tx: Tx) -> None:
    """Also one that ran out while nobody wanted it."""
    leases.claim(tx, "embed", "a", TTL, 100)
    assert leases.renew(tx, "embed", "a", 1, TTL, 105)
    assert leases.claim(tx, "embed", "b", TTL, 114) is None
    assert leases.renew(tx, "embed", "a", 1, TTL, 300)
    assert leases.claim(tx, "embed", "b", TTL, 309) is None


def test_a_released_lease_is_free_at_once(tx: Tx) -> None:
    """Its fence holds no more; releasing what is lost changes nothing."""
    leases.claim(tx, "embed", "a", TTL, 100)
    leases.release(tx, "embed", "a", 1)
    assert not leases.holds(tx, "embed", "a", 1)
    assert not leases.renew(tx, "embed", "a", 1, TTL, 101)
    assert leases.claim(tx, "embed", "b", TTL, 101) == 2
    leases.release(tx, "embed", "a", 1)
    assert leases.holds(tx, "embed", "b", 2)


def test_an_owner_that_claims_again_gets_a_new_fence(tx: Tx) -> None:
    """The former fence, perhaps that of a thread that hangs, holds no more."""
    assert [leases.claim(tx, "embed", "a", TTL, 100), leases.claim(tx, "embed", "a", TTL, 101)] == [1, 2]
    assert [leases.holds(tx, "embed", "a", fence) for fence in (1, 2)] == [False, True]


def test_an_owner_needs_a_name(tx: Tx) -> None:
    """The empty name is what a released lease has."""
    with pytest.raises(ValueError, match="the owner of a lease needs a name"):
        leases.claim(tx, "embed", "", TTL, 100)


OWNERS = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["claim", "renew", "release"]), OWNERS, st.integers(1, 15), st.integers(0, 8)),
    max_size=30,
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(steps=STEPS)
def test_two_owners_never_both_hold_a_fence(steps: list[tuple[str, str, int, int]]) -> None:
    """Whatever owners do and whenever: at most one of all fences ever given holds, it is the last one, and an owner
    that keeps within its time loses it to nobody."""
    engine = open_store(MEMORY, OPTIONS)
    now = 0
    granted: list[tuple[str, int]] = []
    expires = 0
    with engine.read() as tx:
        for step, owner, ttl, pause in steps:
            now += pause
            mine = [fence for who, fence in granted if who == owner]
            holder = next((who for who, fence in granted if leases.holds(tx, "work", who, fence)), None)
            if step == "claim":
                fence = leases.claim(tx, "work", owner, ttl, now)
                assert (fence is None) == (holder not in (None, owner) and now < expires)
                if fence is not None:
                    assert fence == len(granted) + 1
                    granted.append((owner, fence))
                    expires = now + ttl
            elif mine and step == "renew":
                kept = leases.renew(tx, "work", owner, mine[-1], ttl, now)
                assert kept == (holder == owner)
                expires = now + ttl if kept else expires
            elif mine:
                leases.release(tx, "work", owner, mine[-1])
            holding = [fence for who, fence in granted if leases.holds(tx, "work", who, fence)]
            assert holding in ([], [len(granted)])
    engine.close()
