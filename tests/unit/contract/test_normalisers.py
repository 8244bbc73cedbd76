"""The program has every normaliser that the contract names, and the contract names every one that it has."""

import pytest

from hivekeep.values import NORMALISERS
from hivekeep_contract import catalog, vocabulary
from tools.generate.build import HOME
from tools.generate.meta import META_SCHEMA, read_registry
from tools.generate.resolve import resolve


def test_the_registry_names_the_normalisers_of_the_program() -> None:
    """Each `normalise` of a type or an enum is a function of the program, and no function is left over."""
    contract = resolve(read_registry(HOME, HOME / META_SCHEMA))
    words = (*contract.scalars.values(), *contract.enums.values())
    assert {word.normalise for word in words if word.normalise} == set(NORMALISERS)


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("2026-07-05", "2026-07-05T00:00:00.000000Z"),
        ("2026-07-05T09:30:00Z", "2026-07-05T09:30:00.000000Z"),
        ("2026-07-05t09:30:00.25z", "2026-07-05T09:30:00.250000Z"),
        ("2026-07-05 09:30:00-02:30", "2026-07-05T12:00:00.000000Z"),
    ],
)
def test_a_moment_has_one_spelling(given: str, canonical: str) -> None:
    """RFC 3339 with any offset, and a date for its midnight, both in UTC."""
    assert NORMALISERS["moment"](given) == canonical


@pytest.mark.parametrize(
    "given",
    [
        "",
        "today",
        "2026-07",
        "2026-02-30",
        "2026-07-05T09:30Z",
        "2026-07-05T09:30:00",
        "2026-W27-7",
        "٢٠٢٦-07-05",
        "0001-01-01T00:00:00+02:00",
    ],
)
def test_nothing_else_is_a_moment(given: str) -> None:
    """Neither other forms of ISO 8601 nor a moment before the year 1."""
    with pytest.raises(ValueError, match="RFC 3339"):
        NORMALISERS["moment"](given)


def test_the_catalog_names_nothing_else() -> None:
    """A parameter has a normaliser of the program, or the aliases of an enum that has some."""
    named = {param.normaliser for verb in catalog.VERBS.values() for param in verb.params if param.normaliser}
    known = set(NORMALISERS) | {f"enum:{name}" for name in vocabulary.ENUM_ALIASES}
    assert named <= known


@pytest.mark.parametrize(
    ("normaliser", "given", "canonical"),
    [
        ("entity_kind", "concept", "concept"),
        ("entity_kind", " Paper ", "document"),
        ("entity_kind", "ORGANISATION", "org"),
        ("note_kind", "insight", "insight"),
        ("note_kind", " Decision", "decision"),
    ],
)
def test_a_kind_is_known_in_any_case_and_by_its_aliases(normaliser: str, given: str, canonical: str) -> None:
    """The canonical value is the name of the kind in the registry."""
    assert NORMALISERS[normaliser](given) == canonical


@pytest.mark.parametrize(
    ("normaliser", "given", "accepted"),
    [("entity_kind", "insight", vocabulary.ENTITY_KINDS), ("note_kind", "concept", vocabulary.NOTE_KINDS)],
)
def test_another_word_is_no_kind(normaliser: str, given: str, accepted: tuple[str, ...]) -> None:
    """The refusal fits after `must be` and lists the kinds."""
    with pytest.raises(ValueError, match="one of") as refusal:
        NORMALISERS[normaliser](given)
    assert str(refusal.value) == f"one of {', '.join(accepted)}"
