"""`hivekeep doctor`: what it finds, what it leaves alone, and its status."""

import json
from pathlib import Path
from typing import Any

from hivekeep.storage.sqlite import open_store
from support.ledgers import append, event, open_run
from support.processes import run, serving
from support.stores import OPTIONS

DATABASE = ".local/share/hivekeep/hivekeep.db"


def examined(home: Path) -> tuple[int, dict[str, str], dict[str, Any]]:
    done = run(home, "doctor", "--json")
    told = json.loads(done.stdout)
    return done.returncode, {check["name"]: check["verdict"] for check in told["checks"]}, told


def test_a_fresh_store_is_healthy(tmp_path: Path) -> None:
    """Status 0 and no failed check; the file stays as it was, byte for byte."""
    run(tmp_path, "exec", 'create(kind="concept", name="A")')
    before = (tmp_path / DATABASE).read_bytes()
    status, verdicts, told = examined(tmp_path)
    assert (status, told["ok"], told["database"]) == (0, True, str(tmp_path / DATABASE))
    assert "failed" not in verdicts.values()
    assert {"file", "integrity", "text index", "runtime"} <= set(verdicts)
    assert (tmp_path / DATABASE).read_bytes() == before


def test_a_missing_or_foreign_database_is_status_8(tmp_path: Path) -> None:
    """Nothing is created; a text file is not a database, and a folder is not said to be missing."""
    status, verdicts, _ = examined(tmp_path)
    assert (status, verdicts["file"]) == (8, "failed")
    assert not (tmp_path / DATABASE).exists()
    (tmp_path / "text.db").write_text("no database" * 1000)
    done = run(tmp_path, "doctor", "--db", "text.db")
    assert done.returncode == 8
    assert done.stdout.startswith(b"failed  file: ")
    done = run(tmp_path, "doctor", "--db", ".")
    assert (done.returncode, b"is not a file" in done.stdout) == (8, True)


def test_a_descriptor_that_others_may_read_is_found(tmp_path: Path) -> None:
    """The runtime check fails for mode 0644, and says nothing of what is inside."""
    run(tmp_path, "exec", "stats()")
    (tmp_path / "run").mkdir(mode=0o700)
    file = tmp_path / "run" / "server.json"
    file.write_text(json.dumps({"capabilityToken": "ab" * 32}))
    file.chmod(0o644)
    status, verdicts, told = examined(tmp_path)
    assert (status, verdicts["runtime"]) == (8, "failed")
    assert "abab" not in json.dumps(told)


def test_a_running_server_is_named_without_its_token(tmp_path: Path) -> None:
    """The runtime check tells the address of the server."""
    with serving(tmp_path) as server:
        status, verdicts, told = examined(tmp_path)
        assert (status, verdicts["runtime"]) == (0, "ok")
        assert server.url in json.dumps(told)
        assert server.descriptor["capabilityToken"] not in json.dumps(told)


def test_a_broken_ledger_is_status_8(tmp_path: Path) -> None:
    """The run and the sequence of the break are named, and nothing of what the event says."""
    run(tmp_path, "exec", 'create(kind="concept", name="A")')
    assert examined(tmp_path)[1]["ledgers of runs"] == "ok"
    store = open_store(str(tmp_path / DATABASE), OPTIONS)
    made = store.run_write(open_run)
    store.run_write(lambda tx: append(tx, made, event(1), event(2, payload={"note": "plain words"})))
    store.run_write(
        lambda tx: tx.run('UPDATE agent_events SET payload = \'{"note":"other words"}\' WHERE sequence = 2')
    )
    store.close()
    status, verdicts, told = examined(tmp_path)
    assert (status, verdicts["ledgers of runs"]) == (8, "failed")
    (check,) = [check for check in told["checks"] if check["name"] == "ledgers of runs"]
    assert check["detail"] == f"run {made.id} at sequence 2: the event is not the one that was hashed"
