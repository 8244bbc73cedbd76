"""The Skills that come with the program: texts that tell an agent how to work with the gateway and its memory.

Invariant: what is listed is what can be read, under the names that the gateway asks for. A Skill is a page of Markdown
in the package, in a folder of its name; its name and a description stand at its beginning, between lines of hyphens.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final, NamedTuple

from hivekeep_contract.gateway import SKILLS_SHIPPED

PAGE: Final = "SKILL.md"
_FENCE: Final = "---\n"


class Skill(NamedTuple):
    """A Skill: `description` says in a sentence when to use it, `text` is the whole page."""

    name: str
    description: str
    text: str


def listed() -> list[Skill]:
    """All of them, in the order of the contract."""
    return [read(name) for name in SKILLS_SHIPPED]


def read(name: str) -> Skill:
    """The Skill of a name; raises KeyError for one that does not come with the program."""
    if name not in SKILLS_SHIPPED:
        raise KeyError(name)
    text = files(__name__).joinpath(name, PAGE).read_text(encoding="utf-8")
    head = _head(text)
    return Skill(head["name"], head["description"], text)


def _head(text: str) -> dict[str, str]:
    """The fields at the beginning of a page, a line each."""
    _, head, _ = text.split(_FENCE, 2)
    return {key: value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}
