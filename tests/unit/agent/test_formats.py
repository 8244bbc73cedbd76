"""A format accepts what its type promises, alone and inside a schema."""

import json
from importlib.resources import files
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent.formats import FORMATS, utf16_units
from hivekeep_contract.gateway import TEXT_FORMATS

PAIR = "\U0001f600"
"""One character, two UTF-16 units."""

SCHEMAS: dict[str, Any] = json.loads(files("hivekeep_contract").joinpath("schemas.json").read_text(encoding="utf-8"))

CASES = [
    ("gateway_id", "codex", True),
    ("gateway_id", " a b ", True),
    ("gateway_id", "", False),
    ("gateway_id", "  \u3000", False),
    ("gateway_id", "\ufeff", True),
    ("gateway_id", "a\n", False),
    ("gateway_id", "a\tb", False),
    ("gateway_id", "a\x7f", False),
    ("gateway_id", "a\x85b", False),
    ("gateway_id", "a" * 256, True),
    ("gateway_id", "a" * 257, False),
    ("gateway_id", PAIR * 128, True),
    ("gateway_id", PAIR * 128 + "a", False),
    ("gateway_event_id", "0d1f.step_1:2-a", True),
    ("gateway_event_id", "a b", False),
    ("gateway_event_id", "a/b", False),
    ("gateway_event_id", "-a", False),
    ("gateway_event_id", "$(a)", False),
    ("gateway_event_id", "a\n", False),
    ("gateway_event_id", "a" * 256, True),
    ("gateway_event_id", "a" * 257, False),
    ("event_text_id", "two\nlines", True),
    ("event_text_id", "a\x00", False),
    ("event_text_id", " \n\t", False),
    ("event_text_id", PAIR * 129, False),
    ("gateway_line", "a workspace", True),
    ("gateway_line", "two\nlines", False),
    ("gateway_line", "a" * 16384, True),
    ("gateway_line", "a" * 16385, False),
    ("gateway_text", "two\n\tlines", True),
    ("gateway_text", "two\r\nlines", False),
    ("gateway_text", "\n\t\u00a0", False),
    ("gateway_text", "a\x1b[0m", False),
    ("gateway_text", "a" * 16384, True),
    ("gateway_text", PAIR * 8193, False),
    ("step_text", " ", True),
    ("step_text", "", False),
    ("step_text", "a\n", False),
    ("step_text", "a" * 4096, True),
    ("step_text", "a" * 4097, False),
    ("gateway_timestamp", "2024-02-29T23:59:59.999Z", True),
    ("gateway_timestamp", "2023-02-29T00:00:00.000Z", False),
    ("gateway_timestamp", "2026-02-30T00:00:00.000Z", False),
    ("gateway_timestamp", "2026-01-31T24:00:00.000Z", False),
    ("gateway_timestamp", "2026-01-31T00:00:60.000Z", False),
    ("gateway_timestamp", "2026-01-31T00:00:00Z", False),
    ("gateway_timestamp", "2026-01-31T00:00:00.000+00:00", False),
    ("gateway_timestamp", "2026-01-31T00:00:00.000Z\n", False),
    ("gateway_timestamp", "\u0662026-01-31T00:00:00.000Z", False),
    ("gateway_timestamp", "0000-01-31T00:00:00.000Z", False),
    ("gateway_uuid", "0d1f0d1f-0d1f-4d1f-8d1f-0d1f0d1f0d1f", True),
    ("gateway_uuid", "0D1F0D1F-0D1F-4D1F-8D1F-0D1F0D1F0D1F", False),
    ("hex64", "0" * 64, True),
    ("hex64", "0" * 63, False),
    ("hex64", "A" * 64, False),
]


@pytest.mark.parametrize(("name", "text", "valid"), CASES)
def test_a_checker_stands_alone(name: str, text: str, valid: bool) -> None:
    """Without a schema the checker refuses everything that the type does not promise."""
    assert FORMATS[name](text) is valid


@pytest.mark.parametrize(("name", "text", "valid"), CASES)
def test_the_validator_agrees(name: str, text: str, valid: bool) -> None:
    """Pattern, length and format together accept the same texts in the dialect of the validator."""
    schema = {"type": "string", "pattern": TEXT_FORMATS[name].pattern, "format": name}
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=FORMATS)
    assert validator.is_valid(text) is valid


@pytest.mark.parametrize("name", sorted(TEXT_FORMATS))
def test_pattern_and_checker_speak_one_language(name: str) -> None:
    """The pattern means the same to the validator as to `re`: derived texts are told apart alike by both."""
    validator = jsonschema_rs.Draft202012Validator({"type": "string", "pattern": TEXT_FORMATS[name].pattern})
    own = FORMATS[name]
    units_max = TEXT_FORMATS[name].units_max or 1000
    alphabet = st.sampled_from("aZ0 .:-_\n\t\r\x00\x1c\x1f\x7f\x85\xa0\u1680\u2003\u2028\u3000\ufeff$/" + PAIR)

    @settings(max_examples=300, derandomize=True, database=None, deadline=None)
    @given(st.text(alphabet, max_size=8))
    def agree(text: str) -> None:
        assert utf16_units(text) <= units_max
        assert own(text) is validator.is_valid(text)

    agree()


@settings(max_examples=200, derandomize=True, database=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_units_are_those_of_utf_16(text: str) -> None:
    """The count equals half the bytes of the text in UTF-16."""
    assert utf16_units(text) == len(text.encode("utf-16-le")) // 2


def test_every_format_of_a_schema_has_a_checker() -> None:
    """No body, query or answer names a format that the validator would pass over."""
    named: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("format"), str):
                named.add(node["format"])
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(SCHEMAS["gateway"])
    walk({name: schema for name, schema in SCHEMAS["$defs"].items() if name.startswith("gateway.")})
    assert named <= set(FORMATS)
    assert "gateway_id" in named
