"""`hivekeep tasks`: a table for a person, an array for a program, and its status."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.processes import run
from support.tasks import add, gtd_hive

TITLE = "Write the release notes, translate them, and have both texts read by somebody who was not there"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of five tasks."""
    folder = tmp_path_factory.mktemp("home")
    with gtd_hive(folder / "hive.db") as hive:
        first = add(hive, "Build\nit", priority="p0", status="active", assignee="ada", due="2026-07-05")
        given_up = add(hive, "Ask", assignee="bob")
        add(hive, TITLE, status="next", due="2026-07-05T09:30:00Z", depends_on=[first, given_up])
        add(hive, "Sweep \x1b[31m", priority="p3", status="someday", assignee="bob")
        done = add(hive, "Done", assignee="eve")
        hive.call("gtd.complete", id=done)
        hive.call("gtd.complete", id=given_up, status="cancelled")
    return folder


def shown(home: Path, *options: str) -> list[str]:
    """The lines of the table, ids replaced."""
    done = run(home, "tasks", *options, HIVEKEEP_DB=str(home / "hive.db"))
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().splitlines()


def told(home: Path, *options: str) -> list[dict[str, Any]]:
    """The array of --json."""
    done = run(home, "tasks", "--json", *options, HIVEKEEP_DB=str(home / "hive.db"))
    assert (done.returncode, done.stderr) == (0, b"")
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def titles(home: Path, *options: str) -> list[str]:
    """The titles of --json."""
    return [row["title"] for row in told(home, *options)]


def test_a_person_sees_one_line_a_task(home: Path) -> None:
    """Newest first; a title is one line that no terminal acts on; what a task waits for is named."""
    rows = told(home)
    short = [row["id"][:8] for row in rows]
    blockers = ", ".join(
        f"{blocker['id'][:8]} ({word})"
        for blocker, word in zip(rows[1]["blocked_by"], ("active", "cancelled"), strict=True)
    )
    title = TITLE[:57] + "..."
    assert shown(home) == [
        f"{'ID':8}  STATUS   PRIO  {'DUE (UTC)':16}  ASSIGNEE  {'TITLE':60}  WAITS FOR",
        f"{short[0]}  someday  p3    {'-':16}  {'bob':8}  {'Sweep [31m':60}  -",
        f"{short[1]}  next     p2    2026-07-05 09:30  {'-':8}  {title}  {blockers}",
        f"{short[2]}  active   p0    {'2026-07-05':16}  {'ada':8}  {'Build it':60}  -",
    ]


def test_filters_are_those_of_the_verb(home: Path) -> None:
    """Other words for a status and either case of a priority included."""
    assert titles(home, "--assignee", "bob") == ["Sweep \x1b[31m"]
    assert titles(home, "--status", "in_progress") == ["Build\nit"]
    assert titles(home, "--status", "done") == ["Done"]
    assert titles(home, "--priority", "P0") == ["Build\nit"]
    assert titles(home, "--all") == ["Done", "Sweep \x1b[31m", TITLE, "Ask", "Build\nit"]
    assert titles(home, "--all", "--assignee", "bob") == ["Sweep \x1b[31m", "Ask"]


def test_an_empty_table_says_why(home: Path) -> None:
    """Finished tasks are named with the option that shows them; JSON is an empty array."""
    assert shown(home, "--assignee", "eve") == ["no open tasks; --all shows those that are done"]
    assert shown(home, "--assignee", "nobody") == ["no tasks"]
    assert shown(home, "--assignee", "nobody", "--all") == ["no tasks"]
    assert told(home, "--assignee", "eve") == []


def test_all_pages_are_shown(tmp_path: Path) -> None:
    """More tasks than one answer of the verb has."""
    with gtd_hive(tmp_path / "hive.db") as hive:
        for number in range(401):
            hive.call("gtd.assign", title=f"task {number}")
    rows = told(tmp_path)
    assert [row["title"] for row in rows] == [f"task {number}" for number in reversed(range(401))]


@pytest.mark.parametrize(
    ("options", "status", "says"),
    [
        (["--status", "soon"], 2, "--status"),
        (["--priority", "urgent"], 2, "--priority"),
        (["--all", "--status", "next"], 2, "give --all or --status, not both"),
        (["--nonsense"], 2, "--nonsense"),
        (["--pack", "kg"], 1, "gtd.tasks"),
    ],
)
def test_a_wrong_call_is_told_on_standard_error(home: Path, options: list[str], status: int, says: str) -> None:
    """Status 2 for a mistake in the call, 1 when the verb cannot be carried out."""
    done = run(home, "tasks", *options, HIVEKEEP_DB=str(home / "hive.db"))
    assert (done.returncode, done.stdout) == (status, b"")
    assert says in done.stderr.decode()
