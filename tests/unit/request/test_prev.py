"""How a reference becomes a value of the result before, and what is said when it cannot."""

from typing import Any

import pytest

from hivekeep.request.dsl import parse
from hivekeep.request.prev import substitute
from hivekeep_contract.errors import PrevReferenceFailed, ResultTooDeep

RESULT = {
    "id": "u1",
    "items": [{"id": "u2", "tags": ["a", "b"]}, {"id": "u3"}],
    "none": None,
    "flag": True,
    "score": 1.5,
}


def fill(argument: str, result: Any = RESULT, *, container: bool = True) -> Any:
    """The value of argument `x` after substitution."""
    args = parse(f"a() | b(x={argument})").ops[1].args
    return substitute(args, result, lambda name: container and name == "x")["x"]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("$prev.id", "u1"),
        ('"$prev.id"', "u1"),
        ("$prev.items[0].id", "u2"),
        ("$prev.items[0].tags[1]", "b"),
        ("$prev.none", None),
        ("$prev.flag", True),
        ("$prev.items[1]", {"id": "u3"}),
        ('[{"target": $prev.id, "n": 1}, "$prev.items[1].id"]', [{"target": "u1", "n": 1}, "u3"]),
        ('{"$prev": "$prev.id"}', {"$prev": "u1"}),
        (r'"\\$prev.id"', "$prev.id"),
        ('"plain"', "plain"),
    ],
)
def test_references_are_replaced_at_any_depth(argument: str, value: object) -> None:
    """Fields, indices and nested places give the named value; keys and escaped texts stay."""
    assert fill(argument) == value


def test_bare_prev_is_the_whole_result() -> None:
    """$prev alone is the full result, also when that is an array or a scalar."""
    assert fill("$prev") == RESULT
    assert fill("$prev[1]", [1, 2]) == 2
    assert fill("$prev", 7, container=False) == 7


def test_the_value_is_a_copy() -> None:
    """Changing the substituted value leaves the earlier result as it was."""
    result = {"items": [{"id": "u2"}]}
    fill("$prev.items", result)[0]["id"] = "changed"
    assert result == {"items": [{"id": "u2"}]}


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            "$prev.nope",
            "$prev.nope cannot be resolved: $prev has no field 'nope'."
            " Available top-level fields: [flag, id, items, none, score]",
        ),
        (
            "$prev.items[1].name",
            "$prev.items[1].name cannot be resolved: $prev.items[1] has no field 'name'."
            " Available top-level fields: [id]",
        ),
        (
            "$prev.items[2].id",
            "$prev.items[2].id cannot be resolved: $prev.items has no index 2. The array has 2 elements.",
        ),
        (
            "$prev.id.x",
            "$prev.id.x cannot be resolved: $prev.id is a string, expected an object for '.x'.",
        ),
        (
            "$prev.score[0]",
            "$prev.score[0] cannot be resolved: $prev.score is a number, expected an array for '[0]'.",
        ),
        (
            "$prev.flag.x",
            "$prev.flag.x cannot be resolved: $prev.flag is a boolean, expected an object for '.x'.",
        ),
        (
            "$prev.none.x",
            "$prev.none.x cannot be resolved: $prev.none is null, expected an object for '.x'.",
        ),
        (
            "$prev[0]",
            "$prev[0] cannot be resolved: $prev is an object, expected an array for '[0]'."
            " Available top-level fields: [flag, id, items, none, score]",
        ),
        (
            "$prev.items.id",
            "$prev.items.id cannot be resolved: $prev.items is an array, expected an object for '.id'."
            " The array has 2 elements.",
        ),
    ],
)
def test_a_failed_walk_says_how_far_it_came(argument: str, message: str) -> None:
    """The message holds the reference, the path walked, the missing part or type, and what there is
    instead.
    """
    with pytest.raises(PrevReferenceFailed) as caught:
        fill(argument)
    assert caught.value.message == message
    assert caught.value.kind == "invalid_input"
    assert caught.value.no_write is True
    assert caught.value.details["reference"] == argument


@pytest.mark.parametrize(
    ("argument", "available"),
    [
        ("$prev", "Available top-level fields: [flag, id, items, none, score]"),
        ("$prev.items[1]", "Available top-level fields: [id]"),
        ("$prev.items", "The array has 2 elements."),
    ],
)
def test_a_container_for_a_scalar_parameter_is_refused(argument: str, available: str) -> None:
    """An array or object given to a parameter that takes a single value is refused and lists the parts."""
    with pytest.raises(PrevReferenceFailed) as caught:
        fill(argument, container=False)
    assert "argument 'x' takes a single value" in caught.value.message
    assert caught.value.message.endswith(available)


def test_a_long_list_of_fields_is_cut() -> None:
    """Of more than 100 fields the first 100 are named."""
    with pytest.raises(PrevReferenceFailed) as caught:
        fill("$prev.x", {f"k{index:03}": 1 for index in range(150)})
    assert caught.value.message.endswith("k098, k099, ...]")


def test_a_too_deep_result_is_not_passed_on() -> None:
    """64 levels are copied; with 65 the reference fails before anything is copied, while a scalar still
    works.
    """
    deep: Any = 1
    for _ in range(64):
        deep = [deep]
    assert fill("$prev.x", {"x": deep}) == deep
    with pytest.raises(ResultTooDeep, match="64"):
        fill("$prev", {"x": deep, "id": "u1"})
    assert fill("$prev.id", {"x": deep, "id": "u1"}) == "u1"
