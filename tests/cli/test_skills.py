"""`hivekeep skills`: names and descriptions for a person and a program, and the page as it is shipped."""

import json
from pathlib import Path

from hivekeep import skills
from hivekeep_contract.gateway import SKILLS_SHIPPED
from support.processes import run


def test_a_person_sees_one_line_a_skill(tmp_path: Path) -> None:
    """Under a heading; nothing is opened or made."""
    done = run(tmp_path, "skills", "list")
    lines = done.stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["NAME", *SKILLS_SHIPPED]
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(tmp_path.iterdir()) == []


def test_a_program_gets_an_array(tmp_path: Path) -> None:
    """Names with whole descriptions."""
    told = json.loads(run(tmp_path, "skills", "list", "--json").stdout)
    assert told == [{"name": skill.name, "description": skill.description} for skill in skills.listed()]


def test_a_page_is_shown_byte_for_byte(tmp_path: Path) -> None:
    """What is redirected into a file is the Skill."""
    for skill in skills.listed():
        assert run(tmp_path, "skills", "show", skill.name).stdout == skill.text.encode()


def test_an_unknown_name_is_status_2(tmp_path: Path) -> None:
    """The names that there are stand in the message."""
    done = run(tmp_path, "skills", "show", "tdd")
    assert (done.returncode, done.stdout) == (2, b"")
    assert all(name.encode() in done.stderr for name in SKILLS_SHIPPED)
