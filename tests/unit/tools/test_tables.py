"""Tables of the gateway are typed as closely as their members agree, so that strict readers need no casts."""

from typing import Any

import pytest

from tools.generate.model import Table
from tools.generate.tables import annotation, table_values


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("x", "str"),
        (1, "int"),
        (True, "bool"),
        (None, "None"),
        ([], "tuple[Any, ...]"),
        ({}, "dict[str, Any]"),
        (["a", "b"], "tuple[str, ...]"),
        ([1, 2.5], "tuple[float, ...]"),
        ([1, True], "tuple[Any, ...]"),
        (["a", None], "tuple[str | None, ...]"),
        (["a", 1, None], "tuple[Any, ...]"),
        ({"a": None, "b": None}, "dict[str, None]"),
        ({"a": [], "b": ["x"]}, "dict[str, tuple[str, ...]]"),
        ({"a": {"x": 1}, "b": {"y": 2}}, "dict[str, dict[str, int]]"),
        ({"a": {"x": 1, "y": "z"}}, "dict[str, dict[str, Any]]"),
        ([["a", 1], ["b", 2]], "tuple[tuple[Any, ...], ...]"),
        ({"a": ["x"], "b": None}, "dict[str, tuple[str, ...] | None]"),
    ],
)
def test_the_type_is_what_all_members_share(value: Any, kind: str) -> None:
    """Members of one kind keep it at every depth; those that differ are anything."""
    assert annotation([value]) == kind


def test_lists_become_tuples_at_every_depth() -> None:
    """A table is a constant: what it holds cannot be changed by accident; the order is that of the file."""
    [row] = table_values([Table("rules", {"b": [["x"], {"c": []}], "a": [1]}, "All rules.")])
    assert row == {
        "name": "RULES",
        "type": "dict[str, tuple[Any, ...]]",
        "value": '{"b": (("x",), {"c": ()}), "a": (1,)}',
        "doc": "#: All rules.",
    }
