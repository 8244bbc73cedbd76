"""`hivekeep skills`: the Skills that come with the program.

Invariant: a page is printed byte for byte, so that what is redirected into a folder of Skills is the Skill.
"""

from __future__ import annotations

from typing import Any, Final

import click

from hivekeep import skills
from hivekeep.cli.columns import table
from hivekeep.cli.common import print_json, print_line
from hivekeep.skills import Skill
from hivekeep_contract.gateway import SKILLS_SHIPPED

_HEADINGS: Final = ("NAME", "DESCRIPTION")
_ELASTIC: Final = ("DESCRIPTION",)


@click.group("skills")
def group() -> None:
    """Show the Skills that come with the program, for agents that work with the gateway."""


@group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_skills(as_json: bool) -> None:
    """Show their names and when to use them."""
    found = skills.listed()
    if as_json:
        print_json([_described(skill) for skill in found])
    else:
        print_line(table(_HEADINGS, [(skill.name, skill.description) for skill in found], elastic=_ELASTIC))


@group.command("show")
@click.argument("name", type=click.Choice(SKILLS_SHIPPED))
def show_skill(name: str) -> None:
    """Print the page of the Skill NAME, Markdown with its name and description at the beginning."""
    print_line(skills.read(name).text.removesuffix("\n"))


def _described(skill: Skill) -> dict[str, Any]:
    return {"name": skill.name, "description": skill.description}
