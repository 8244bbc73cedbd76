"""`hivekeep agenda` and `hivekeep schedule drain`: tables for people, JSON for scripts."""

import json
from pathlib import Path

from hivekeep.cli import columns, scheduling
from hivekeep.jobs.dispatching import Summary
from support.processes import run

NEW_YEAR = 'schedule.schedule(action="stats()", at="2099-01-01T02:00:00+02:00", repeat="daily")'


def test_an_empty_agenda_says_so(tmp_path: Path) -> None:
    """Status 0, one line; as JSON the answer of the verb."""
    done = run(tmp_path, "agenda")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"nothing is scheduled\n", b"")
    done = run(tmp_path, "agenda", "--json")
    assert json.loads(done.stdout) == {"events": [], "count": 0}


def test_the_agenda_is_a_table(tmp_path: Path) -> None:
    """Times in UTC, the first due first, within the window that was asked for."""
    made = json.loads(run(tmp_path, "exec", NEW_YEAR).stdout)["results"][0]["result"]
    run(tmp_path, "exec", 'schedule.remind(content="Water\\nthe plants.", at="2098-12-31T00:00:00Z")', "--actor", "ada")
    lines = run(tmp_path, "agenda").stdout.decode().splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["DUE", "(UTC)"],
        ["2098-12-31", "00:00:00"],
        ["2099-01-01", "00:00:00"],
    ]
    assert "Water the plants." in lines[1]
    assert "actor:ada" in lines[1]
    assert lines[2].split()[2:] == ["daily", "stats()", "anonymous:local", made["id"][:8]]
    only = run(tmp_path, "agenda", "--from", "2099-01-01T00:00:00Z", "--limit", "1", "--json")
    assert [event["id"] for event in json.loads(only.stdout)["events"]] == [made["id"]]


def test_a_wrong_window_is_told_in_one_line(tmp_path: Path) -> None:
    """Status 1 and the sentence of the verb."""
    done = run(tmp_path, "agenda", "--limit", "201")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"hivekeep: schedule.agenda: 'limit' must be a whole number (1 to 200); got 201\n"


def test_a_drain_prints_every_counter_as_json(tmp_path: Path) -> None:
    """What is not due is counted and left."""
    run(tmp_path, "exec", NEW_YEAR)
    done = run(tmp_path, "schedule", "drain", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == scheduling.to_json(Summary(skipped_not_due=1))
    assert run(tmp_path, "schedule", "drain").stdout == b"skipped_not_due     1\n"


def test_a_drain_without_the_pack_is_refused(tmp_path: Path) -> None:
    """Status 1, one line, nothing on standard output."""
    done = run(tmp_path, "schedule", "drain", "--pack", "kg")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"hivekeep: the pack schedule is not loaded (runtime.packs)\n"


def test_what_a_person_reads_of_a_pass() -> None:
    """Counters that say something, missed events by their number."""
    assert scheduling.to_text(Summary()) == "nothing was due"
    assert scheduling.to_text(Summary(scanned=2, fired=1, missed=["a"])).split() == [
        "scanned", "2", "fired", "1", "missed", "1",
    ]  # fmt: skip


def test_a_cell_is_one_short_line() -> None:
    """A long text is cut, and what a terminal would act on is a blank."""
    shown = columns.table(("A", "B"), [("x" * 70, "\x1b[31mred\x1b[0m\nline")], elastic=())
    assert shown.splitlines() == ["A" + " " * 61 + "B", "x" * 57 + "...  [31mred [0m line"]


def test_wide_letters_keep_the_columns_straight() -> None:
    """A letter of two columns counts as two, a mark on another letter as none; a wide one is never cut in half."""
    rows = [("\u65e5\u672c", "a"), ("e\u0301", "b"), ("\u65e5" * 31, "c")]
    assert columns.table(("A", "B"), rows, elastic=()).splitlines() == [
        "A" + " " * 61 + "B",
        "\u65e5\u672c" + " " * 58 + "a",
        "e\u0301" + " " * 61 + "b",
        "\u65e5" * 28 + "...   c",
    ]


def test_a_line_fits_a_narrow_terminal() -> None:
    """The widest elastic column gives way first; ids and times are whole even where that is too wide."""
    rows = [("12345678", "x" * 30, "y" * 50)]
    assert columns.table(("ID", "WHO", "WHAT"), rows, elastic=("WHO", "WHAT"), room=60).splitlines() == [
        "ID        WHO                       WHAT",
        "12345678  " + "x" * 21 + "...  " + "y" * 21 + "...",
    ]
    assert columns.table(("ID", "WHO", "WHAT"), rows, elastic=("WHO", "WHAT"), room=5).splitlines() == [
        "ID        WHO       WHAT",
        "12345678  xxxxx...  yyyyy...",
    ]
    assert columns.table(("WAITS FOR",), [("x" * 30,)], elastic=("WAITS FOR",), room=5) == "WAITS FOR\nxxxxxx..."
