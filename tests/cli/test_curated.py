"""`hivekeep curated`: what a person and a program are told, statuses, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hivekeep.cli.commands import root
from support.homes import move_in
from support.processes import run

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with an empty store, in which commands run."""
    move_in(tmp_path, monkeypatch)
    return tmp_path


def curated(*arguments: str, text: str | bytes | None = None) -> Result:
    """One command in this process."""
    return CliRunner().invoke(root, ["curated", *arguments], input=text)


def told(*arguments: str, text: str | None = None) -> Any:
    """The data of a command that succeeds; its envelope is one line."""
    done = curated(*arguments, "--json", text=text)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    envelope = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert envelope == {
        "apiVersion": "1",
        "ok": True,
        "operation": f"curated.{arguments[0]}",
        "data": envelope["data"],
        "meta": {},
    }
    return envelope["data"]


def refused(*arguments: str, text: str | None = None) -> tuple[int, str, dict[str, Any]]:
    """Status, code and details of a command that fails; a person is told in one line as well."""
    done = curated(*arguments, "--json", text=text)
    envelope = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert envelope["ok"] is False
    assert done.stderr.startswith("hivekeep: ")
    assert done.stderr.count("\n") == 1
    return done.exit_code, envelope["error"]["code"], envelope["error"]["details"]


def record(title: str, *options: str) -> str:
    """The id of a new fact in the workspace demo."""
    said = ("--kind", "fact", "--title", title, "--body", f"About {title}.", "--workspace", "demo")
    return str(told("record", *said, *options)["entry"]["entryId"])


def test_a_person_records_finds_and_reads_an_entry(home: Path) -> None:
    """Each answer is for a terminal: control characters of an entry do not reach it."""
    entry_id = record("Tests \x1b[31m", "--tag", "ci", "--summary", "Short.")
    listed = curated("search", "--workspace", "demo").stdout.splitlines()
    assert listed[0].split() == ["ENTRY", "STATUS", "KIND", "REV", "CHANGED", "(UTC)", "TITLE", "TAGS"]
    assert listed[1].startswith(f"{entry_id[:8]}  candidate  fact  1    ")
    assert listed[1].endswith("  Tests [31m  ci")
    assert curated("search", "short", "--workspace", "demo").stdout.splitlines()[1] == listed[1]
    assert curated("search", "nothing-of-this", "--workspace", "demo").stdout == "no entries in demo\n"
    shown = curated("show", entry_id[:8]).stdout
    assert "\x1b" not in shown
    lines = shown.splitlines()
    assert lines[:4] == [
        "Tests [31m",
        f"  {entry_id}",
        "  fact, candidate at revision 1",
        "  workspace demo, trust user_asserted, confidence 1",
    ]
    assert lines[5:10] == ["  tags ci", "", "  Short.", "", "  About Tests [31m."]
    assert lines[-1].endswith(" record at revision 1 by hivekeep-cli")


def test_the_life_of_an_entry(home: Path) -> None:
    """Every command once, with the lines that a person gets."""
    first, second = record("First"), record("Second")
    assert curated("revise", first, "--expected-revision", "1", "--title", "Better").stdout == (
        f"{first} candidate at revision 2\n"
    )
    assert curated("verify", first, "--expected-revision", "2").stdout == f"{first} verified at revision 2\n"
    assert curated("link", second, first, "--relation", "supports").stdout == f"{second} supports {first}\n"
    assert curated("link", second, first, "--relation", "supports").stdout == (
        f"{second} supports {first} (was there already)\n"
    )
    assert curated("disable", first).stdout == f"{first} verified at revision 2, disabled\n"
    assert curated("disable", first).stdout == f"{first} unchanged, verified at revision 2, disabled\n"
    assert curated("enable", first).stdout == f"{first} verified at revision 2\n"
    assert curated("supersede", first, "--with", second).stdout == (
        f"{first} superseded at revision 2, replaced by {second}\n"
    )
    assert "\nlinks\n  supports this" not in curated("show", second).stdout
    assert f"\nlinks\n  {second} supports this\n" in curated("show", first).stdout
    assert curated("show", first, "--revision", "1").stdout.splitlines()[0] == "First"
    assert curated("purge", second, "--confirm").stdout == f"{second} was purged from demo\n"
    assert [entry["title"] for entry in told("search", "--workspace", "demo", "--all")["items"]] == ["Better"]
    assert told("search", "--workspace", "demo")["items"] == []


def test_recording_twice_says_so(home: Path) -> None:
    """The status is that of a success."""
    entry_id = record("First")
    again = curated("record", "--kind", "fact", "--title", "First", "--body", "About First.", "--workspace", "demo")
    assert again.stdout == (f"{entry_id} is there already, nothing was written: candidate at revision 1 in demo\n")
    assert again.exit_code == 0


def test_fields_come_from_options_files_or_standard_input(home: Path) -> None:
    """All three say the same, so they are one entry."""
    (home / "scope.json").write_text('{"area": "ci"}')
    (home / "origin.json").write_text('{"type": "document", "reference": "docs/a.md"}')
    options = ("--scope", "scope.json", "--provenance", "origin.json", "--tag", "a", "--confidence", "0.5")
    first = record("First", *options)
    whole = {
        "kind": "fact",
        "title": "First",
        "body": "About First.",
        "scope": {"area": "ci"},
        "provenance": {"type": "document", "reference": "docs/a.md"},
        "tags": ["a"],
        "confidence": 0.5,
    }
    (home / "entry.json").write_text(json.dumps(whole))
    for file, text in (("entry.json", None), ("-", json.dumps(whole))):
        answer = told("record", "--workspace", "demo", "--input-json", file, text=text)
        assert (answer["created"], answer["entry"]["entryId"], answer["entry"]["confidence"]) == (False, first, 0.5)
    body = told(
        "record", "--workspace", "demo", "--kind", "fact", "--title", "In", "--body", "-", text="From a pipe.\n"
    )
    assert body["entry"]["body"] == "From a pipe.\n"


FULL = ("record", "--workspace", "demo", "--kind", "fact", "--title", "T", "--body", "B")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("record", "--kind", "fact"), (3, "VALIDATION_ERROR", {"reason": "missing_field", "field": "/title"})),
        ((*FULL, "--input-json", "-"), (2, "USAGE_ERROR", {"reason": "bad_usage"})),
        ((*FULL, "--scope", "absent.json"), (3, "VALIDATION_ERROR", {"reason": "unreadable_file"})),
        (("record", "--input-json", "-"), (3, "VALIDATION_ERROR", {"reason": "not_json"})),
        ((*FULL[:-1], TOKEN), (7, "SECURITY_REJECTION", {"reason": "secret", "field": "/body"})),
        (("show", "first"), (3, "VALIDATION_ERROR", {"reason": "wrong_value", "field": "/entryId"})),
        (("show", "00000000"), (4, "NOT_FOUND", {"reason": "no_record"})),
        (("import", "absent.jsonl"), (3, "VALIDATION_ERROR", {"reason": "unreadable_file"})),
        (("import", "--source", "wiki", "absent"), (3, "VALIDATION_ERROR", {"reason": "unreadable_file"})),
        (("import", "--source", "wiki", "--disable"), (4, "NOT_FOUND", {"reason": "no_record"})),
        (("export",), (2, "USAGE_ERROR", {"reason": "bad_usage"})),
    ],
)
def test_a_refusal_has_its_status(home: Path, arguments: tuple[str, ...], expected: tuple[int, str, Any]) -> None:
    """Status, code and reason are those of the gateway; what was given is not repeated."""
    assert refused(*arguments) == expected
    assert TOKEN not in curated(*arguments, "--json").output


def test_a_conflict_is_status_5(home: Path) -> None:
    """A reader of an older revision learns that it is one."""
    entry_id = record("First")
    revise = ("revise", entry_id, "--expected-revision", "2", "--title", "T")
    assert refused(*revise) == (5, "CONFLICT", {"reason": "revision_differs"})
    assert curated(*revise).stderr == (
        "hivekeep: conflicts with current state: The entry has another revision than expected.\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("purge", "00000000"),
        ("verify", "00000000"),
        ("link", "00000000", "11111111", "--relation", "likes"),
        ("import",),
        ("import", "x.jsonl", "--verified"),
        ("import", "x.jsonl", "--source", "wiki", "--disable"),
        ("sing",),
    ],
)
def test_a_wrong_call_is_status_2(home: Path, arguments: tuple[str, ...]) -> None:
    """With an envelope when one was asked for."""
    done = curated(*arguments, "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"] == {
        "code": "USAGE_ERROR",
        "message": "invalid request",
        "details": {"reason": "bad_usage"},
    }


def test_the_memory_of_a_workspace_travels_in_a_file(home: Path) -> None:
    """Written to a file or to standard output with equal bytes; the other store has equal memory."""
    first, second = record("First", "--tag", "x"), record("Second")
    told("link", first, second, "--relation", "related_to")
    written = curated("export", "--workspace", "demo", "--out", "demo.jsonl")
    assert written.stdout == "demo.jsonl: 2 entries, 2 revisions, 1 links of demo\n"
    data = (home / "demo.jsonl").read_bytes()
    assert curated("export", "--workspace", "demo").stdout_bytes == data
    other = ("--db", str(home / "other.db"))
    dry = curated("import", "demo.jsonl", "--dry-run", *other).stdout
    assert dry == "would be: 2 entries, 1 links, 0 sources stored in demo, 0 entries were there already\n"
    assert told("import", "demo.jsonl", *other)["entries"] == 2
    again = curated("import", "demo.jsonl", *other).stdout
    assert again == "0 entries, 0 links, 0 sources stored in demo, 2 entries were there already\n"
    assert curated("export", "--workspace", "demo", *other).stdout_bytes == data
    (home / "demo.jsonl").write_bytes(data.replace(b"First", b"Fjrst"))
    assert refused("import", "demo.jsonl", *other)[2] == {"reason": "checksum_differs", "field": "/lines/1/sha256"}


def test_an_export_that_fails_keeps_the_former_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file was emptied before it was written: a full disk or a kill took the last export along."""
    (home / "demo.jsonl").write_text("the last export")

    def fsync(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fsync)
    done = curated("export", "--workspace", "demo", "--out", "demo.jsonl")
    assert (done.exit_code, done.stderr) == (3, "hivekeep: demo.jsonl: No space left on device\n")
    assert (home / "demo.jsonl").read_text() == "the last export"
    assert [file.name for file in home.iterdir() if file.name.startswith(".export-")] == []


def test_an_export_goes_through_a_link_and_into_a_device(home: Path) -> None:
    """A rename in the place of a link or a device would leave neither."""
    (home / "kept").mkdir()
    (home / "demo.jsonl").symlink_to(home / "kept" / "demo.jsonl")
    for target in ("demo.jsonl", "/dev/null"):
        assert curated("export", "--workspace", "demo", "--out", target).exit_code == 0
    assert (home / "demo.jsonl").is_symlink()
    assert (home / "kept" / "demo.jsonl").read_bytes() == curated("export", "--workspace", "demo").stdout_bytes
    assert not Path("/dev/null").is_file()


def test_a_folder_manages_entries(home: Path) -> None:
    """Added, followed, missed, switched off."""
    wiki = home / "wiki"
    wiki.mkdir()
    (wiki / "a.md").write_text("# Use uv\n")
    (wiki / "b.md").write_text("# Use WAL\n")
    source = ("--source", "wiki", "--workspace", "demo")
    assert curated("import", "wiki", *source, "--verified").stdout == (
        "wiki in demo: 2 added, 0 revised, 0 restored, 0 stale, 0 unchanged\n"
    )
    (wiki / "a.md").write_text("# Use uv\n\nAlways.\n")
    (wiki / "b.md").unlink()
    assert curated("import", "wiki", *source).stdout == (
        "wiki in demo: 0 added, 1 revised, 0 restored, 1 stale, 0 unchanged\n"
    )
    rows = {line.split("  ")[0]: line for line in curated("search", "--workspace", "demo").stdout.splitlines()[1:]}
    assert sorted(line.split("  ")[1].strip() for line in rows.values()) == ["verified", "verified (off)"]
    assert curated("import", *source, "--disable").stdout == "wiki in demo: 2 disabled\n"
    (wiki / "b.md").write_text("---\ncolor: red\n---\n")
    done = curated("import", "wiki", *source)
    assert (done.exit_code, done.stderr) == (
        3,
        "hivekeep: b.md: invalid request: An object of the request has a field that is not known there.\n",
    )


def test_a_folder_says_its_workspace(home: Path) -> None:
    """Its project file, or itself; a name is given to it on request."""
    (home / "plain").mkdir()
    local = told("workspace", "--cwd", "plain")
    assert (local["reason"], local["known"], local["root"]) == ("local", False, str(home / "plain"))
    assert curated("workspace", "--cwd", "plain", "--bind", "mine").stdout.splitlines()[0] == "mine"
    assert told("workspace", "--cwd", "plain")["workspace"] == "mine"
    (home / ".hivekeep.json").write_text('{"schemaVersion": 1, "repositoryId": "r", "workspace": "team"}')
    assert curated("workspace").stdout.splitlines() == [
        "team",
        "  repository r: The project file of the folder names it.",
        f"  folder {home}",
        f"  project file {home / '.hivekeep.json'}",
    ]
    assert told("record", *FULL[3:])["entry"]["workspace"] == "team"


def test_an_entry_is_copied_into_the_memories_once(home: Path) -> None:
    """The command says which memory it made, and the second time that it was made before."""
    entry_id = record("First")
    first = told("copy-to-memory", entry_id)
    assert curated("copy-to-memory", entry_id).stdout == (
        f"memory {first['memoryId']} was made before of {entry_id} at revision 1\n"
    )
    found = run(home, "exec", f'get(id="{first["memoryId"]}")', HIVEKEEP_DB=str(home / "hive.db"))
    assert json.loads(found.stdout)["results"][0]["result"]["content"] == "First\n\nAbout First."


def test_a_named_actor_is_the_author(home: Path) -> None:
    """Of the entry, its revision and what the audit says."""
    shown = told("show", record("First", "--actor", "ada"))
    assert shown["entry"]["createdBy"] == shown["audit"][0]["actor"] == shown["revisions"][0]["createdBy"] == "ada"


def test_a_process_leaves_with_the_status(home: Path) -> None:
    """The same from a real command line, with the text of an entry from a pipe."""
    done = run(home, "curated", "record", "--kind", "fact", "--title", "T", "--body", "-", "--json", stdin="é".encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["data"]["entry"]["body"] == "é"
    done = run(home, "curated", "record", "--kind", "fact", "--title", "T", "--body", "-", stdin=b"\xff")
    assert (done.returncode, done.stdout) == (3, b"")
    done = run(home, "curated", "show", "00000000", "--json")
    assert done.returncode == 4
