"""What readers see of an example: placeholders where a test fills in the results of earlier operations."""

import json
from typing import Any

from tools.generate.docs import example_lines
from tools.generate.examples import placeholders, readable


def test_one_reference_is_named_by_its_field() -> None:
    """`${1.id}` is `<id>`, however often it stands there; a result as a whole is `<result>`."""
    shown = placeholders(['get(id="${1.id}")', 'get(id="${1.id}", more="${2.items[0].name}")', "x(all=${3})"])
    assert shown == {"1.id": "<id>", "2.items[0].name": "<name>", "3": "<result>"}
    assert readable('get(id="${1.id}", all=${3})', shown) == 'get(id="<id>", all=<result>)'


def test_several_references_of_one_name_are_numbered_by_their_operations() -> None:
    """The number follows the order in which the operations run, also beyond the tenth."""
    shown = placeholders(["${10.id} ${2.id} ${9.key} ${1.id}"])
    assert shown == {"1.id": "<id 1>", "2.id": "<id 2>", "9.key": "<key>", "10.id": "<id 3>"}


def test_the_printed_example_shows_where_each_placeholder_comes_from() -> None:
    """After an operation that a later one refers to stands the field it refers to; the outcome comes last."""
    example: dict[str, Any] = {
        "name": "again",
        "setup": ['create(name="A")', 'create(name="B")', 'link(source="${1.id}", target="${2.id}")', "stats()"],
        "call": 'link(source="${2.id}", target="${1.id}")',
        "result": {"id": "${3.id}", "mutation": "updated"},
    }
    assert example_lines(example) == [
        'create(name="A")',
        '-> {"id": "<id 1>"}',
        'create(name="B")',
        '-> {"id": "<id 2>"}',
        'link(source="<id 1>", target="<id 2>")',
        '-> {"id": "<id 3>"}',
        "stats()",
        'link(source="<id 2>", target="<id 1>")',
        f"-> {json.dumps({'id': '<id 3>', 'mutation': 'updated'})}",
    ]


def test_a_refused_example_says_why() -> None:
    """Kind, code where there is one, and the part of the message that matters."""
    error = {"kind": "conflict", "code": "key_conflict", "says": "k"}
    assert example_lines({"call": 'get(id="x")', "error": error}) == [
        'get(id="x")',
        '-> refused: conflict, code key_conflict, message with "k"',
    ]
