"""What an entry may say, and what is told of what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from hivekeep.agent.curated import content
from hivekeep_contract.gateway_errors import SecurityRejection, ValidationError

SAID: dict[str, Any] = {"kind": "fact", "title": "Tests", "body": "Run make test."}
SCOPE: dict[str, Any] = {"schemaVersion": 2, "visibility": "project"}
PROVENANCE: dict[str, Any] = {"type": "document", "reference": "docs/testing.md"}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def refused(**said: Any) -> tuple[str, str | None]:
    """The reason and the field of a refusal."""
    with pytest.raises(ValidationError) as why:
        content.read({**SAID, **said})
    return why.value.reason, why.value.field


def test_what_is_left_out_says_nothing() -> None:
    """The three needed fields give content without summary, scope, provenance and tags."""
    assert content.read(SAID) == ("fact", "Tests", "Run make test.", None, {}, {}, ())


def test_tags_are_a_sorted_set_without_blanks_round_them() -> None:
    """However they were given."""
    assert content.read({**SAID, "tags": ["b", " a ", "b", "B"]}).tags == ("B", "a", "b")


def test_tags_that_look_alike_are_one() -> None:
    """One in decomposed characters, as file names of macOS are, stood beside the same one in composed characters."""
    assert content.read({**SAID, "tags": ["caf\u00e9", "cafe\u0301"]}).tags == ("caf\u00e9",)
    # Composing makes two characters of this one; what was read can be read again.
    told = content.read({**SAID, "tags": ["\u0958" * 100]}).tags
    assert (told, content.read({**SAID, "tags": list(told)}).tags) == (("\u0915\u093c" * 100,), told)
    with pytest.raises(ValidationError) as refused:
        content.read({**SAID, "tags": ["\u0958" * 101]})
    assert (refused.value.reason, refused.value.field) == ("too_long", "/tags")


def test_the_hash_is_that_of_the_canonical_json_of_all_seven_fields() -> None:
    """SHA-256, worked out once by hand with sha256sum."""
    said = content.read({**SAID, "tags": ["b", "a"]})
    # {"body":"Run make test.","kind":"fact","provenance":{},"scope":{},"summary":null,"tags":["a","b"],"title":"Tests"}
    assert said.hash == "ea5adb1f5eec8a63f80d014c549e0ce9721468c7446264fa3a2c8d60e1879718"


@pytest.mark.parametrize(
    "other",
    [
        {"tags": ["a", "b", "a"]},
        {"scope": {"weight": 1.0, "area": "ci"}},
        {"provenance": {"reference": "docs/testing.md", "type": "document"}},
    ],
)
def test_the_spelling_of_content_does_not_change_its_hash(other: dict[str, Any]) -> None:
    """Order of keys and tags, repeated tags and floats without a fraction are spelling."""
    plain = {"tags": ["b", "a"], "scope": {"area": "ci", "weight": 1}, "provenance": PROVENANCE}
    (field,) = other
    assert content.read({**SAID, **other}).hash == content.read({**SAID, field: plain[field]}).hash


@pytest.mark.parametrize(("field", "value"), [("title", "T"), ("body", "B"), ("summary", "S"), ("kind", "lesson")])
def test_every_field_counts_in_the_hash(field: str, value: str) -> None:
    """Another value is another hash."""
    assert content.read({**SAID, field: value}).hash != content.read(SAID).hash


@pytest.mark.parametrize(
    ("said", "reason", "field"),
    [
        ({"kind": "rumor"}, "wrong_value", "/kind"),
        ({"kind": 1}, "wrong_type", "/kind"),
        ({"title": "  "}, "wrong_value", "/title"),
        ({"title": None}, "wrong_type", "/title"),
        ({"title": "x" * 2001}, "too_long", "/title"),
        ({"title": "half \ud800"}, "wrong_value", "/title"),
        ({"body": "a\0b"}, "wrong_value", "/body"),
        ({"body": "x" * 100_001}, "too_long", "/body"),
        ({"summary": ""}, "wrong_value", "/summary"),
        ({"summary": "x" * 4001}, "too_long", "/summary"),
        ({"tags": "a"}, "wrong_type", "/tags"),
        ({"tags": [""]}, "wrong_value", "/tags"),
        ({"tags": ["x" * 201]}, "too_long", "/tags"),
        ({"tags": [str(number) for number in range(101)]}, "too_long", "/tags"),
        ({"extra": 1}, "unknown_field", None),
        ({"scope": []}, "wrong_type", "/scope"),
        ({"scope": {"a": float("nan")}}, "wrong_value", "/scope"),
        ({"scope": {"a": {"b": {"c": {"d": {"e": {"f": []}}}}}}}, "nested_too_deep", "/scope"),
        ({"scope": {"a": "x" * 65_536}}, "too_large", "/scope"),
        ({"scope": {"\ud800": 1}}, "wrong_value", "/scope"),
        ({"provenance": {"type": "document"}}, "missing_field", "/provenance/reference"),
        ({"provenance": {"reference": "x"}}, "missing_field", "/provenance/type"),
        ({"provenance": {**PROVENANCE, "more": 1}}, "unknown_field", "/provenance"),
        ({"provenance": {**PROVENANCE, "runId": "a\nb"}}, "wrong_value", "/provenance/runId"),
        ({"provenance": {**PROVENANCE, "evidenceIds": ["a"] * 201}}, "too_long", "/provenance/evidenceIds"),
        ({"provenance": {**PROVENANCE, "sourcePaths": ["/etc/passwd"]}}, "wrong_value", "/provenance/sourcePaths"),
        ({"provenance": {**PROVENANCE, "sourcePaths": ["a/../../b"]}}, "wrong_value", "/provenance/sourcePaths"),
        ({"provenance": {**PROVENANCE, "sourcePaths": ["C:\\a"]}}, "wrong_value", "/provenance/sourcePaths"),
        (
            {"provenance": {**PROVENANCE, "timestamp": "2026-02-30T00:00:00.000Z"}},
            "wrong_value",
            "/provenance/timestamp",
        ),
    ],
)
def test_what_does_not_fit_is_refused_by_field(said: dict[str, Any], reason: str, field: str | None) -> None:
    """The reason and the pointer of a known field, never the value and never an unknown name."""
    assert refused(**said) == (reason, field)


@pytest.mark.parametrize("name", ["kind", "title", "body"])
def test_three_fields_are_needed(name: str) -> None:
    """Each of them."""
    with pytest.raises(ValidationError) as why:
        content.read({field: value for field, value in SAID.items() if field != name})
    assert (why.value.reason, why.value.field) == ("missing_field", f"/{name}")


@pytest.mark.parametrize(
    "said",
    [
        {"title": "x" * 2000},
        {"body": ""},
        {"body": "x" * 100_000},
        {"tags": [str(number) for number in range(100)]},
        {"scope": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}},
        {"provenance": {**PROVENANCE, "sourcePaths": ["a/b.py"] * 200, "timestamp": "2026-02-28T00:00:00.000Z"}},
    ],
)
def test_what_is_at_the_limit_fits(said: dict[str, Any]) -> None:
    """A limit is the largest thing that is taken."""
    read = content.read({**SAID, **said})
    assert all(getattr(read, name) == value or name == "tags" for name, value in said.items())


@pytest.mark.parametrize(
    ("scope", "reason", "field"),
    [
        ({"schemaVersion": 3}, "wrong_value", "/scope/schemaVersion"),
        ({"schemaVersion": "2"}, "wrong_value", "/scope/schemaVersion"),
        ({"schemaVersion": 2}, "missing_field", "/scope/visibility"),
        ({**SCOPE, "visibility": "world"}, "wrong_value", "/scope/visibility"),
        ({**SCOPE, "more": 1}, "unknown_field", "/scope"),
        ({**SCOPE, "memoryClass": "joke"}, "wrong_value", "/scope/memoryClass"),
        ({**SCOPE, "repositoryId": ""}, "wrong_value", "/scope/repositoryId"),
        ({**SCOPE, "applicability": {"planets": []}}, "unknown_field", "/scope/applicability"),
        ({**SCOPE, "applicability": {"languages": "python"}}, "wrong_type", "/scope/applicability/languages"),
        ({**SCOPE, "applicability": {"languages": ["a"] * 101}}, "too_long", "/scope/applicability/languages"),
        ({**SCOPE, "applicability": {"frameworks": ["falcon"]}}, "wrong_type", "/scope/applicability/frameworks"),
        (
            {**SCOPE, "applicability": {"frameworks": [{"version": "4"}]}},
            "missing_field",
            "/scope/applicability/frameworks/name",
        ),
        ({**SCOPE, "signals": {"paths": ["/abs"]}}, "wrong_value", "/scope/signals/paths"),
        ({**SCOPE, "signals": {"symbols": [1]}}, "wrong_type", "/scope/signals/symbols"),
        ({**SCOPE, "visibility": "global"}, "field_missing_for", "/scope/portableReason"),
        (
            {**SCOPE, "visibility": "global", "applicability": {"languages": []}},
            "field_missing_for",
            "/scope/portableReason",
        ),
    ],
)
def test_a_scope_with_a_version_has_the_structured_form(scope: dict[str, Any], reason: str, field: str) -> None:
    """Every part of it is checked; without a version any object is a scope."""
    assert refused(scope=scope) == (reason, field)
    free = {name: value for name, value in scope.items() if name != "schemaVersion"}
    assert content.read({**SAID, "scope": free}).scope == free


@pytest.mark.parametrize(
    "scope",
    [
        SCOPE,
        {**SCOPE, "visibility": "global", "portableReason": "It is the same everywhere."},
        {**SCOPE, "visibility": "global", "applicability": {"languages": ["python"]}},
        {
            **SCOPE,
            "repositoryId": "repo_git_0123456789ab",
            "memoryClass": "gotcha",
            "applicability": {"frameworks": [{"name": "falcon", "version": "4"}, {"name": "apsw"}], "tools": ["make"]},
            "signals": {"paths": ["src/app.py"], "errors": ["SQLITE_BUSY"], "commands": ["make test"]},
        },
    ],
)
def test_a_whole_structured_scope_is_taken_as_it_is(scope: dict[str, Any]) -> None:
    """Nothing is added to it and nothing taken away."""
    assert content.read({**SAID, "scope": scope}).scope == scope


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"title": f"Use {TOKEN}"}, "/title"),
        ({"body": "The password=correct-horse-battery works."}, "/body"),
        ({"summary": "https://ada:hunter22@example.org/x"}, "/summary"),
        ({"tags": [TOKEN]}, "/tags"),
        ({"scope": {TOKEN: 1}}, "/scope"),
        ({"scope": {"a": [{"b": TOKEN}]}}, "/scope"),
        ({"provenance": {**PROVENANCE, "reference": TOKEN}}, "/provenance"),
        ({"body": "sk-abcdefghij0123456"}, "/body"),
    ],
)
def test_a_credential_is_refused_wherever_it_stands(said: dict[str, Any], field: str) -> None:
    """What a verb refuses and what the gateway masks; the refusal names the field and nothing else."""
    with pytest.raises(SecurityRejection) as why:
        content.read({**SAID, **said})
    assert why.value.details == {"reason": "secret", "field": field}
