"""`hivekeep ledger`: what an operator and a program are told, statuses, and that nothing goes without --confirm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hivekeep.cli.commands import root
from hivekeep.storage.sqlite import SqliteEngine
from support.gateway import Gateway, asking, event, open_in_process
from support.homes import move_in

USAGE = "give RUN, or --workspace, --status and --older-than together"


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """A gateway on the file that commands take for the user's."""
    move_in(tmp_path, monkeypatch)
    with open_in_process(tmp_path / "hive.db") as opened:
        yield opened


def ledger(*arguments: str) -> Result:
    """One command in this process."""
    return CliRunner().invoke(root, ["ledger", *arguments])


def told(*arguments: str, status: int = 0) -> Any:
    """The data of a command; its envelope is one line."""
    done = ledger(*arguments, "--json")
    assert (done.exit_code, done.stderr) == (status, ""), done.output
    envelope = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert (envelope["ok"], envelope["operation"]) == (True, f"ledger.{arguments[0]}")
    return envelope["data"]


def refused(*arguments: str) -> tuple[int, str, Any]:
    """Status, code and reason of a command that fails."""
    done = ledger(*arguments, "--json")
    error = json.loads(done.stdout)["error"]
    assert done.stdout.count("\n") == 1
    assert done.stderr != ""
    return done.exit_code, error["code"], error["details"].get("reason")


def changed_to(gateway: Gateway, run_id: str) -> str:
    """The minute of the last change of a run, as it is shown."""
    return str(gateway.run(run_id)["updatedAt"][:16]).replace("T", " ")


def test_a_purge_is_asked_for_twice(gateway: Gateway) -> None:
    """First it says what would go, with --confirm it goes, and then what is left is told."""
    run_id = gateway.opened()
    gateway.events(run_id, event())
    when = changed_to(gateway, run_id)
    line = f"{run_id} active in demo since {when} (UTC): 4 events, 2 keys, 1 deliveries\n"
    for _ in range(2):
        assert ledger("purge", run_id).stdout == f"would be removed, with --confirm:\n{line}"
    assert ledger("inspect", run_id[:8]).stdout == f"{line}nothing is wrong\n"
    assert ledger("purge", run_id, "--confirm", "--actor", "ada").stdout == f"removed:\n{line}"
    minute = told("inspect", run_id)["purge"]["purgedAt"][:16].replace("T", " ")
    tombstone = f"{run_id} was purged {minute} (UTC) by ada; it had 4 events\n"
    assert ledger("inspect", run_id).stdout == tombstone
    assert ledger("purge", run_id, "--confirm").stdout == tombstone
    assert ledger("inspect").stdout == "0 runs with 0 events; 1 runs were purged\nnothing is wrong\n"
    assert gateway.ask("agent.run.read", run_id).status == 404


def test_abandoned_runs_go_together(gateway: Gateway) -> None:
    """The three options belong together; an age that nothing is older than removes nothing."""
    first, second = gateway.opened(asking()), gateway.opened(asking())
    picked = ("--workspace", "demo", "--status", "intake", "--older-than")
    assert ledger("purge", *picked, "1h").stdout == "no such runs\n"
    assert ledger("purge", *picked, "1w", "--confirm").stdout == "no such runs\n"
    gateway.server.engine.run_write(lambda tx: tx.run("UPDATE agent_runs SET created_at = 1000 * seq, updated_at = 1"))
    found = told("purge", *picked, "30d")
    assert [run["runId"] for run in found["runs"]] == [first, second]
    assert (found["dryRun"], found["bytesErased"], found["more"]) == (True, None, False)
    done = told("purge", *picked, "30d", "--confirm")
    assert done == {**found, "dryRun": False, "bytesErased": True}
    assert told("inspect")["totals"] == {"runs": 0, "events": 0, "purged": 2}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--confirm",),
        ("--status", "intake", "--older-than", "30d"),
        ("--workspace", "demo", "--older-than", "30d"),
        ("--workspace", "demo", "--status", "intake"),
        ("abcdef12", "--status", "intake"),
        ("abcdef12", "--older-than", "1d"),
    ],
)
def test_one_run_or_a_whole_choice(gateway: Gateway, arguments: tuple[str, ...]) -> None:
    """Anything between the two is a wrong call: a missing option must not widen what is removed."""
    assert refused("purge", *arguments) == (2, "USAGE_ERROR", "bad_usage")
    assert USAGE in ledger("purge", *arguments).stderr


@pytest.mark.parametrize("age", ["30", "d", "30m", "-1d", "1.5d", "1d2h", "٣d", "1000000d", "30d\n"])
def test_an_age_that_is_none(gateway: Gateway, age: str) -> None:
    """A number and one letter."""
    done = ledger("purge", "--workspace", "demo", "--status", "intake", f"--older-than={age}")
    assert done.exit_code == 2
    assert "an age is a number and one of the letters h, d, w, such as 30d" in done.stderr


def test_names_that_lead_nowhere(gateway: Gateway) -> None:
    """With the status of each failure."""
    assert refused("inspect", "0123abcd") == (4, "NOT_FOUND", "no_run")
    assert refused("purge", "0123abcd", "--confirm") == (4, "NOT_FOUND", "no_run")
    assert refused("inspect", "yesterday") == (3, "VALIDATION_ERROR", "wrong_value")
    assert refused("purge", "0123abcd", "--actor", "ghp_" + "a1B2c3" * 6) == (3, "VALIDATION_ERROR", "bad_setting")


def test_a_broken_ledger_is_status_8(gateway: Gateway) -> None:
    """The findings are told, on standard output; a credential alone is status 0."""
    sound, broken = gateway.opened(), gateway.opened()
    engine = gateway.server.engine
    engine.run_write(lambda tx: tx.run("UPDATE agent_runs SET title = ? WHERE id = ?", ("ghp_" + "a1B2c3" * 6, sound)))
    warning = "its description holds what looks like a credential"
    assert told("inspect")["findings"] == [{"runId": sound, "sequence": None, "trouble": warning, "broken": False}]
    engine.run_write(lambda tx: tx.run("UPDATE agent_events SET actor = 'x' WHERE sequence = 2 AND run_seq = 2"))
    trouble = "the event is not the one that was hashed"
    found = told("inspect", broken, status=8)
    assert found["findings"] == [{"runId": broken, "sequence": 2, "trouble": trouble, "broken": True}]
    assert found["sound"] is False
    everything = ledger("inspect")
    assert everything.exit_code == 8
    assert everything.stdout.splitlines()[1:] == [
        f"warning: run {sound}: {warning}",
        f"broken: run {broken} at sequence 2: {trouble}",
    ]
    assert told("inspect", sound)["sound"] is True
    assert told("purge", broken, "--confirm")["runs"][0]["runId"] == broken
    assert told("inspect")["sound"] is True


def test_bytes_that_may_be_left_are_status_9(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is gone; the command says to repeat it, and so does what is told of the run."""
    run_id = gateway.opened()
    with monkeypatch.context() as patched:
        patched.setattr(SqliteEngine, "scrub", lambda engine: False)
        assert refused("purge", run_id, "--confirm") == (9, "PARTIAL_FAILURE", "bytes_left")
        assert ledger("inspect", run_id).stdout.endswith("; the file may hold bytes of it, purge it once more\n")
    assert gateway.ask("agent.run.read", run_id).status == 404
    assert told("purge", run_id, "--confirm")["bytesErased"] is True


def test_a_store_that_may_not_be_written(gateway: Gateway) -> None:
    """Inspecting works, purging is refused and says what would be removed all the same."""
    run_id = gateway.opened()
    assert told("inspect", run_id, "--read-only")["sound"] is True
    assert told("purge", run_id, "--read-only")["dryRun"] is True
    assert refused("purge", run_id, "--confirm", "--read-only")[:2] == (6, "DATABASE_ERROR")
    assert gateway.run(run_id)["status"] == "active"
