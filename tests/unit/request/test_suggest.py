"""Did you mean: which name is suggested for a misspelt one."""

import pytest

from hivekeep.request.suggest import did_you_mean, suggest

NAMES = ["create", "search", "link", "get", "gtd.assign", "memory.recall", "memory.remember", "comm.send"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("creat", "create"),
        ("craete", "create"),
        ("CREATE", "create"),
        ("serch", "search"),
        ("lnik", "link"),
        ("gtd.asign", "gtd.assign"),
        ("memory.recal", "memory.recall"),
        ("recall", "memory.recall"),
        ("gtd.send", "comm.send"),
        ("gett", "get"),
        ("create_entity", None),
        ("zz", None),
        ("x", None),
        ("", None),
        ("completely different", None),
    ],
)
def test_suggestions(name: str, expected: str | None) -> None:
    """Two edits or a shared part after the dot make a suggestion; anything farther makes none."""
    assert suggest(name, NAMES) == expected


def test_the_nearest_wins_and_ties_go_by_alphabet() -> None:
    """One edit beats two, and of two equally near names the first in the alphabet is chosen."""
    assert suggest("cart", ["cat", "card", "carts"]) == "card"
    assert suggest("abcd", ["abxy", "abcx"]) == "abcx"


def test_wording() -> None:
    """The hint closes a message; without one there is nothing to add."""
    assert did_you_mean("serch", NAMES) == "; did you mean 'search'?"
    assert did_you_mean("nothing near", NAMES) == ""
