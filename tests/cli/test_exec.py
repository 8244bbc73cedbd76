"""`hivekeep exec` and the rest of the command line: what is printed, and with which status it ends."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hivekeep import __version__
from hivekeep.cli.flags import COMMON, EXEC, parse
from support.processes import run

SESSION = "0a1b2c3d-0000-4000-8000-00000000000f"
MISSING = 'get(id="00000000-0000-4000-8000-000000000000")'


def told(output: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(output)
    assert output.count(b"\n") == 1
    return value


@pytest.mark.parametrize(
    ("ops", "options", "status"),
    [
        ("stats()", (), 0),
        ("stats()", ("--strict",), 0),
        (f"[stats(), {MISSING}]", (), 0),
        (f"[stats(), {MISSING}]", ("--strict",), 1),
        (MISSING, (), 1),
        (f"[{MISSING}, {MISSING}]", (), 1),
        (f"stats() | {MISSING} | stats()", (), 0),
        (f"{MISSING} | stats()", (), 1),
        ("no_such_verb()", (), 1),
    ],
)
def test_the_status_tells_what_succeeded(tmp_path: Path, ops: str, options: tuple[str, ...], status: int) -> None:
    """0 when all or some operations succeeded, 1 when none did, or with --strict when one did not."""
    done = run(tmp_path, "exec", ops, *options)
    assert done.returncode == status, done.stderr
    assert set(told(done.stdout)) >= {"results", "summary"}
    assert done.stderr == b""


@pytest.mark.parametrize("ops", ["", "create(kind=concept)", "[stats(), stats() | stats()]", "{"])
def test_a_wrong_call_runs_nothing_and_is_status_2(tmp_path: Path, ops: str) -> None:
    """The entry that says why is printed in place of an envelope."""
    done = run(tmp_path, "exec", ops)
    assert done.returncode == 2
    entry = told(done.stdout)
    assert (entry["ok"], entry["tool"], entry["domain_disposition"]) == (False, None, "not_committed")
    assert entry["error"]["code"] == "parse_error"


def test_results_are_verbose_unless_asked_otherwise(tmp_path: Path) -> None:
    """Full ids by default, the agent's short ones with --presentation agent."""
    create = 'create(kind="concept", name="A")'
    assert len(told(run(tmp_path, "exec", create).stdout)["results"][0]["result"]["id"]) == 36
    short = told(run(tmp_path, "exec", create, "--presentation", "agent").stdout)
    assert len(short["results"][0]["result"]["id"]) < 36


def test_the_format_comes_from_the_option_then_the_setting(tmp_path: Path) -> None:
    """--format wins over --output-format and over the variable; without any it is JSON."""

    def result(*options: str, **variables: str) -> Any:
        output = run(tmp_path, "exec", 'list(kind="entity")', *options, **variables).stdout
        return told(output)["results"][0]["result"]

    run(tmp_path, "exec", 'create(kind="concept", name="A")')
    assert isinstance(result(), dict)
    assert isinstance(result(HIVEKEEP_OUTPUT_FORMAT="auto"), str)
    assert isinstance(result("--output-format", "auto"), str)
    assert isinstance(result("--format", "json", HIVEKEEP_OUTPUT_FORMAT="auto"), dict)


def test_a_dash_reads_the_operations_from_standard_input(tmp_path: Path) -> None:
    """Long or quoted operations need no shell."""
    done = run(tmp_path, "exec", "-", stdin='create(kind="concept", name="设备")\n'.encode())
    assert told(done.stdout)["results"][0]["result"]["name"] == "设备"
    assert "设备".encode() in done.stdout


def test_the_caller_is_the_one_of_the_options(tmp_path: Path) -> None:
    """--actor and --namespace say who asks."""
    done = run(tmp_path, "exec", "whoami()", "--actor", "a", "--namespace", "team")
    who = told(done.stdout)["results"][0]["result"]
    assert (who["actor_id"], who["actor_kind"], who["namespace"]) == ("a", "actor", "team")


def test_the_session_is_the_one_of_the_option_or_the_variable(tmp_path: Path) -> None:
    """It stands in the events of the call, and one that is no UUID stops it."""
    ops = 'memory.remember(content="a")'
    run(tmp_path, "exec", ops, "--session", SESSION.upper())
    run(tmp_path, "exec", ops, HIVEKEEP_SESSION=SESSION)
    run(tmp_path, "exec", ops)
    done = run(tmp_path, "exec", f'list(kind="event", session_id="{SESSION}", event_kind="note_created")')
    assert len(told(done.stdout)["results"][0]["result"]["items"]) == 2
    refused = run(tmp_path, "exec", ops, "--session", "today")
    assert refused.returncode == 2
    assert refused.stderr == b"hivekeep: --session: 'actor.session' must be a full UUID, not 'today'\n"


def test_the_database_can_be_named_and_kept_in_memory(tmp_path: Path) -> None:
    """--db takes a path relative to where the command runs; `:memory:` leaves no file."""
    run(tmp_path, "exec", "stats()", "--db", "mine.db")
    assert (tmp_path / "mine.db").is_file()
    assert run(tmp_path, "exec", "stats()", "--db", ":memory:").returncode == 0
    assert not (tmp_path / ".local").exists()


def test_entries_can_be_saved_inside_the_export_folder(tmp_path: Path) -> None:
    """--save-to answers with a manifest instead of results; the status still counts the operations."""
    done = run(tmp_path, "exec", "[stats(), whoami()]", "--save-to", "out.jsonl")
    assert done.returncode == 0, done.stdout
    assert told(done.stdout)["rows"] == 2
    saved = (tmp_path / ".local/share/hivekeep/exports/out.jsonl").read_text().splitlines()
    assert [json.loads(line)["tool"] for line in saved] == ["stats", "whoami"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("exec",), b"OPS"),
        (("exec", "stats()", "--presentation", "loud"), b"loud"),
        (("exec", "stats()", "--nowhere"), b"--nowhere"),
        (("no-such-command",), b"no-such-command"),
        (("exec", "stats()", "--pack", "no_such_pack"), b"no_such_pack"),
        (("exec", "stats()", "--config", "missing.toml"), b"missing.toml"),
    ],
)
def test_a_mistake_on_the_command_line_is_status_2(tmp_path: Path, arguments: tuple[str, ...], named: bytes) -> None:
    """Nothing on standard output, the mistake named on standard error."""
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert named in done.stderr
    assert b"Traceback" not in done.stderr


def test_version_and_help(tmp_path: Path) -> None:
    """--version prints name and version; --help lists the commands."""
    assert run(tmp_path, "--version").stdout.decode() == f"hivekeep {__version__}\n"
    listed = run(tmp_path, "--help").stdout.decode()
    for command in ("doctor", "exec", "mcp", "serve", "server"):
        assert f"\n  {command} " in listed


def test_status_without_a_server(tmp_path: Path) -> None:
    """Not running, not stale, status 0, as JSON and for people."""
    done = run(tmp_path, "server", "status", "--json")
    assert (done.returncode, told(done.stdout)) == (0, {"running": False, "stale": False})
    assert run(tmp_path, "server", "status").stdout == b"no server runs on this database\n"


class TestQuickParser:
    def test_it_reads_what_is_plain(self) -> None:
        """Values after the flag or after `=`, switches, and lists given several times."""
        words = ["--db", "a b.db", "--actor=agent:x", "--read-only", "--pack", "kg", "--pack=gtd,memory"]
        assert parse(words, COMMON) == {
            "db": "a b.db",
            "actor.id": "agent:x",
            "read_only": "true",
            "runtime.packs": "kg,gtd,memory",
        }
        assert parse(["--db=x=y"], COMMON) == {"db": "x=y"}
        assert parse(["--db", "a", "--db", "b"], COMMON) == {"db": "b"}

    @pytest.mark.parametrize(
        "words",
        [
            ["--help"],
            ["--bogus"],
            ["word"],
            ["--db"],
            ["--db", "--read-only"],
            ["--db="],
            ["--read-only=yes"],
            ["--port", "1"],
            ["--output-format", "auto"],
        ],
    )
    def test_it_leaves_the_rest_to_click(self, words: list[str]) -> None:
        """Help, unknown or foreign options, missing values: None, and click tells what is wrong."""
        assert parse(words, COMMON) is None

    def test_each_command_takes_its_own_settings(self) -> None:
        """The output format belongs to exec alone."""
        assert parse(["--output-format", "auto"], EXEC) == {"runtime.default_output_format": "auto"}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_exec_imports_no_http(tmp_path: Path) -> None:
    """One operation from the shell pays for click and the store only."""
    spy = "import sys, atexit; atexit.register(lambda: sys.stderr.write(' '.join(sorted(sys.modules))))"
    (tmp_path / "sitecustomize.py").write_text(spy)
    import os

    from support.processes import environment

    path = os.pathsep.join([str(tmp_path), environment(tmp_path).get("PYTHONPATH", "")]).rstrip(os.pathsep)
    done = run(tmp_path, "exec", "stats()", PYTHONPATH=path)
    imported = set(done.stderr.decode().split())
    assert "hivekeep.dispatch.run" in imported
    assert imported & {"falcon", "gunicorn", "uvicorn", "asyncio"} == set()
