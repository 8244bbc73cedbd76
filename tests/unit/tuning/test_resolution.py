"""Resolution: which binding wins."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.identity.caller import make_caller
from hivekeep.storage import brain_profiles
from hivekeep.storage.brain_profiles import BindingRow, ProfileRow
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from hivekeep.tuning import resolution
from support.stores import OPTIONS

NAMES = ("p0", "p1", "p2")


def profile(tx: Tx, name: str, lifecycle: str = "active") -> None:
    """A profile of the namespace `local`."""
    brain_profiles.put(tx, ProfileRow("local", name, None, "recall", "Bayesian", lifecycle, 1, 1))


def binding(tx: Tx, name: str, **fields: Any) -> None:
    """A binding for everybody, everywhere, for everything, but for the fields given."""
    wide: dict[str, Any] = {"actor": "*", "for_namespace": "*", "consumer_kind": "*", "priority": 0, "created_at": 1}
    brain_profiles.bind(tx, BindingRow(namespace="local", profile_id=name, **{**wide, **fields}))


def winner(tx: Tx, actor: str | None = "ada", namespace: str = "local", kind: str = "recall") -> str | None:
    """The profile that serves by a binding."""
    found = resolution.bound(tx, "local", actor, namespace, kind)
    return None if found is None else found.profile.profile_id


@pytest.fixture
def profiles(tx: Tx) -> Tx:
    """A store with three profiles."""
    for name in NAMES:
        profile(tx, name)
    return tx


def test_the_higher_priority_beats_the_more_specific_one(profiles: Tx) -> None:
    """Priority first."""
    binding(profiles, "p0", actor="ada", for_namespace="local", consumer_kind="recall")
    binding(profiles, "p1", priority=1)
    assert winner(profiles) == "p1"


def test_an_actor_is_more_specific_than_namespace_and_kind_together(profiles: Tx) -> None:
    """4 against 2 + 1."""
    binding(profiles, "p0", for_namespace="local", consumer_kind="recall")
    binding(profiles, "p1", actor="ada")
    assert winner(profiles) == "p1"
    assert winner(profiles, actor="bob") == "p0"


def test_a_namespace_is_more_specific_than_a_kind(profiles: Tx) -> None:
    """2 against 1."""
    binding(profiles, "p0", consumer_kind="recall")
    binding(profiles, "p1", for_namespace="local")
    assert (winner(profiles), winner(profiles, namespace="other")) == ("p1", "p0")


def test_the_newer_of_equal_bindings_wins(profiles: Tx) -> None:
    """Equal in all but what they match."""
    binding(profiles, "p0", actor="ada", created_at=5)
    binding(profiles, "p1", actor="ada", for_namespace="local", created_at=3)
    binding(profiles, "p2", actor="*", consumer_kind="recall", created_at=9)
    assert winner(profiles) == "p1"
    binding(profiles, "p0", actor="ada", created_at=7)
    binding(profiles, "p1", actor="ada", for_namespace="local", consumer_kind="*", priority=-1)
    assert winner(profiles) == "p0"


def test_archived_and_missing_profiles_are_passed_over(profiles: Tx) -> None:
    """The next binding serves; a profile that was set aside still does."""
    binding(profiles, "gone", actor="ada", priority=9)
    binding(profiles, "p0", actor="ada", for_namespace="local", priority=8)
    binding(profiles, "p1", actor="ada", consumer_kind="recall", priority=7)
    profile(profiles, "p0", "archived")
    profile(profiles, "p1", "inactive")
    assert winner(profiles) == "p1"


def test_nobody_in_particular_is_served_by_bindings_for_everybody(profiles: Tx) -> None:
    """An anonymous caller has no name: bindings for `local` and `anonymous:local` are for others."""
    binding(profiles, "p0", actor="local", priority=5)
    binding(profiles, "p1", actor="anonymous:local", priority=5)
    binding(profiles, "p2")
    assert resolution.served_as(make_caller(None, None, ())) is None
    assert resolution.served_as(make_caller("local", None, ())) == "local"
    assert (winner(profiles, actor=None), winner(profiles, actor="local")) == ("p2", "p0")


def test_without_a_binding_a_recall_has_the_built_in_profile(tx: Tx) -> None:
    """Unless somebody archived it; other consumer kinds have none."""
    found = resolution.chosen(tx, "local", None, "local", "recall")
    assert found is not None
    assert (found.profile.profile_id, found.binding) == ("balanced-recall-v1", None)
    assert resolution.chosen(tx, "local", None, "local", "knowledge_compose") is None
    profile(tx, "balanced-recall-v1", "archived")
    assert resolution.chosen(tx, "local", None, "local", "recall") is None


def test_bindings_of_another_namespace_do_not_count(profiles: Tx) -> None:
    """Who works elsewhere has bindings and profiles of its own."""
    binding(profiles, "p0")
    assert resolution.bound(profiles, "elsewhere", "ada", "local", "recall") is None


PARTS = st.tuples(
    st.sampled_from(("*", "ada", "bob")),
    st.sampled_from(("*", "local", "other")),
    st.sampled_from(("*", "recall")),
    st.integers(-1, 1),
    st.sampled_from(NAMES),
)


@given(st.lists(PARTS, unique_by=lambda part: part[:3], max_size=8), st.randoms(use_true_random=False))
@settings(max_examples=40, derandomize=True, deadline=None)
def test_the_winner_does_not_depend_on_the_order_of_making(parts: list[Any], shuffle: Any) -> None:
    """Equal to a search over all rules in Python, whatever the order of insertion."""
    rows = [
        BindingRow("local", actor, namespace, kind, name, priority, moment)
        for moment, (actor, namespace, kind, priority, name) in enumerate(parts)
    ]
    fitting = [
        row
        for row in rows
        if row.actor in ("*", "ada") and row.for_namespace in ("*", "local") and row.consumer_kind in ("*", "recall")
    ]

    def beats(one: BindingRow, other: BindingRow) -> bool:
        if one.priority != other.priority:
            return one.priority > other.priority
        for field in ("actor", "for_namespace", "consumer_kind"):
            if (getattr(one, field) == "*") != (getattr(other, field) == "*"):
                return bool(getattr(other, field) == "*")
        return one.created_at > other.created_at

    wanted = [row for row in fitting if all(beats(row, other) for other in fitting if other is not row)]
    shuffle.shuffle(rows)
    store = open_store(MEMORY, OPTIONS)
    with store.read() as tx:
        for name in NAMES:
            profile(tx, name)
        for row in rows:
            brain_profiles.bind(tx, row)
        found = winner(tx)
    store.close()
    assert found == next(itertools.chain((row.profile_id for row in wanted), [None]))
