"""The YAML reader takes only what JSON could say, and knows the line of everything."""

import pytest

from tools.generate.problems import ContractError
from tools.generate.read import read_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("12:30", "12:30"),
        ("2026-01-31", "2026-01-31"),
        ("0x10", "0x10"),
        ("010", "010"),
        ("1_000", "1_000"),
        ("~", "~"),
        ("Null", "Null"),
        (".5", ".5"),
        ("+1", "+1"),
        ("null", None),
        ("true", True),
        ("'true'", "true"),
        ("-0", 0),
        ("17", 17),
        ("-1.5e3", -1500.0),
        ("'17'", "17"),
        ("''", ""),
        ("[a, 1, {b: false}]", ["a", 1, {"b": False}]),
        ("|\n  two\n  lines\n", "two\nlines\n"),
        (">-\n  one\n  line\n", "one line"),
    ],
)
def test_only_json_scalars_are_more_than_text(text: str, value: object) -> None:
    """What YAML 1.1 would turn into booleans, times, dates or octal numbers stays text."""
    read = read_text(text, "x.yaml").data
    assert read == value
    assert type(read) is type(value)


def test_lines_are_known_for_every_place() -> None:
    """A key has the line it stands on, an item the line it begins on; an unknown place has that of its container."""
    source = read_text("a:\n  b: 1\n  c:\n    - x\n    - {d: 2}\n", "x.yaml")
    assert source.line(("a", "b")) == 2
    assert source.line(("a", "c", 1)) == 5
    assert source.line(("a", "c", 1, "d")) == 5
    assert source.line(("a", "z")) == 1
    assert str(source.problem(("a", "c", 0), "is bad")) == "x.yaml:4: a.c.0: is bad"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "x.yaml:1: the file is empty"),
        ("# nothing\n", "x.yaml:1: the file is empty"),
        ("a: 1\n---\nb: 2\n", "x.yaml:3: a second document is not allowed"),
        ("a: &x 1\n", "x.yaml:1: anchors and aliases are not allowed"),
        ("a: 1\nb: *a\n", "x.yaml:2: anchors and aliases are not allowed"),
        ("a: !t 1\n", "x.yaml:1: the tag '!t' is not allowed"),
        ("a:\n  b: 1\n  b: 2\n", "x.yaml:3: the key 'b' stands twice, first on line 2"),
        ("? [a]\n: 1\n", "x.yaml:1: a key must be a plain word"),
        ("a:\n", "x.yaml:1: a value is missing; write null when nothing is meant"),
        ("a: [1\n", "x.yaml:2: not YAML: did not find expected ',' or ']'"),
    ],
)
def test_everything_else_is_refused_by_line(text: str, says: str) -> None:
    """One line names the file, the line and the fault."""
    with pytest.raises(ContractError) as refusal:
        read_text(text, "x.yaml")
    assert str(refusal.value) == says
