"""The Skills that come with the program: named as the gateway asks for them, whole, and good for use."""

import re
from pathlib import Path

import pytest

import hivekeep.skills
from hivekeep import skills
from hivekeep.skills import Skill
from hivekeep_contract.gateway import SKILLS_SHIPPED
from hivekeep_contract.limits import CATALOG_DESCRIPTION_MAX, MEMORY_SKILL, SOUL_SKILL
from hivekeep_contract.vocabulary import ENUMS

FOLDER = Path(hivekeep.skills.__file__).parent


@pytest.fixture(params=SKILLS_SHIPPED)
def skill(request: pytest.FixtureRequest) -> Skill:
    """Each of them."""
    return skills.read(request.param)


def test_both_skills_that_the_gate_requires_are_shipped() -> None:
    """And no others; each folder with a page is one of them."""
    assert SKILLS_SHIPPED == (SOUL_SKILL, MEMORY_SKILL)
    assert tuple(skill.name for skill in skills.listed()) == SKILLS_SHIPPED
    assert sorted(page.parent.name for page in FOLDER.glob("*/SKILL.md")) == sorted(SKILLS_SHIPPED)


def test_a_page_is_what_a_client_takes_for_a_skill(skill: Skill) -> None:
    """It begins with its name and a description, which fits into a capability catalog, and then has a heading."""
    first, name, description, end, blank, heading, *_ = skill.text.splitlines()
    assert (first, end, blank) == ("---", "---", "")
    assert name == f"name: {skill.name}"
    assert description == f"description: {skill.description}"
    assert 40 < len(skill.description) <= CATALOG_DESCRIPTION_MAX
    assert heading.startswith("# ")


def test_a_page_can_be_read_in_a_minute(skill: Skill) -> None:
    """Between 60 and 120 lines, none of them longer than a terminal, but for the description and tables."""
    lines = skill.text.splitlines()
    assert 60 <= len(lines) <= 120
    assert [line for line in lines if len(line) > 120 and not line.startswith(("description:", "|"))] == []
    assert skill.text.endswith("\n")


def test_an_unknown_skill_is_an_error() -> None:
    """Whatever the name is, no other file is read."""
    for name in ("tdd", "", ".", "../skills", f"{SOUL_SKILL}/"):
        with pytest.raises(KeyError):
            skills.read(name)


@pytest.mark.parametrize(
    ("name", "enum"),
    [
        (SOUL_SKILL, "gateway.next_action"),
        (SOUL_SKILL, "gateway.context_verdict"),
        (MEMORY_SKILL, "gateway.context_verdict"),
    ],
)
def test_a_page_knows_every_word_of_an_answer(name: str, enum: str) -> None:
    """What the gateway may say, or wants to hear, is in the page that explains it."""
    page = skills.read(name).text
    assert [word for word in ENUMS[enum] if word != "proceed" and f"`{word}`" not in page] == []


def test_every_name_of_a_page_exists() -> None:
    """What looks like an event type, a code or a reason in code letters is one of the contract."""
    known = {word for name in ENUMS if name.startswith("gateway.") for word in ENUMS[name]}
    text = "".join(skill.text for skill in skills.listed())
    spans = set(re.findall(r"`([^`\n]+)`", text))
    events = {span for span in spans if re.fullmatch(r"[a-z_]+\.(?!json\b)[a-z_]+", span)}
    codes = {span for span in spans if re.fullmatch(r"[A-Z_]{6,}", span)}
    assert len(events) >= 8
    assert len(codes) >= 2
    assert (events | codes) - known == set()
