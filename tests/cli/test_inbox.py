"""`hivekeep inbox`: a table for a person, a page for a program, and its status."""

import json
import re
from pathlib import Path

import pytest

from support.client import open_hive
from support.processes import run


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in which bob has three messages, one of them read, and sent one."""
    folder = tmp_path_factory.mktemp("home")
    with open_hive(folder / "hive.db") as hive:
        ada, bob = hive.as_actor("ada"), hive.as_actor("bob")
        ada.call("comm.send", to="bob", subject="Lunch", content="At\nnoon")
        bob.call("comm.read", id=bob.call("comm.inbox")["messages"][0]["id"])
        ada.call("comm.send", to="bob", content="Red \x1b[31m alert")
        hive.as_actor("eve").call("comm.send", to="bob", subject="Hi", content="x" * 300)
        bob.call("comm.send", to="ada", content="Fine")
    return folder


def shown(home: Path, *options: str) -> list[str]:
    """The lines of the table without ids and times."""
    done = run(home, "inbox", "--actor", "bob", *options, HIVEKEEP_DB=str(home / "hive.db"))
    assert (done.returncode, done.stderr) == (0, b"")
    first, *rest = done.stdout.decode().splitlines()
    cut = (line[8:] if re.match(r"[0-9a-f]{8} ", line) else line for line in rest)
    return [" ".join(line.split()) for line in (first, *cut)]


def test_a_person_sees_one_line_a_message(home: Path) -> None:
    """Newest first; new ones are marked; a text is one line that no terminal acts on; nothing is marked read."""
    page = json.loads(run(home, "inbox", "--actor", "bob", "--json", HIVEKEEP_DB=str(home / "hive.db")).stdout)
    minutes = [message["created_at"][:16].replace("T", " ") for message in page["messages"]]
    assert shown(home) == [
        "ID FROM TIME (UTC) SUBJECT TEXT",
        f"new eve {minutes[0]} Hi {'x' * 57}...",
        f"new ada {minutes[1]} - Red [31m alert",
        f"ada {minutes[2]} Lunch At noon",
        "",
        "2 unread",
    ]
    assert (page["count"], page["unread_count"]) == (3, 2)


def test_options_choose_what_is_shown(home: Path) -> None:
    """Unread ones alone, what was sent, and a page that says that there is more."""
    assert len(shown(home, "--unread")) == 5
    assert [line.split()[0] for line in shown(home, "--sent")] == ["ID", "ada"]
    assert shown(home, "--limit", "1")[-1].endswith("--limit shows more")


def test_an_empty_inbox_says_so_and_a_wrong_call_is_refused(home: Path) -> None:
    """Status 0 with a line, status 2 with a reason."""
    variables = {"HIVEKEEP_DB": str(home / "hive.db")}
    assert run(home, "inbox", "--actor", "zoe", **variables).stdout == b"no messages\n"
    done = run(home, "inbox", "--unread", "--sent", **variables)
    assert (done.returncode, done.stderr) == (2, b"hivekeep: give --unread or --sent, not both\n")
    assert run(home, "inbox", "--limit", "201", **variables).returncode == 2
