"""Feedback of several processes on one store."""

import json
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from support.client import open_hive
from support.processes import PROGRAM, environment

ROUNDS = 5
SIGNALS = 24


@pytest.mark.slow
def test_two_processes_that_judge_at_once_lose_nothing(tmp_path: Path) -> None:
    """About 5 s: 2 x 120 signals on one record of one profile, both at once; every one of them is in its beliefs."""
    path = tmp_path / "hive.db"
    with open_hive(path) as hive:
        record = hive.call("create", kind="observation", content="The cache is warm.")["id"]
    ops = json.dumps(
        [{"tool": "brain.feedback", "args": {"target_id": record, "signal": "useful"}} for _ in range(SIGNALS)]
    )
    loop = f'for _ in $(seq {ROUNDS}); do "$0" -m hivekeep exec "$1" >> "$2" || exit 1; done'
    running = [
        subprocess.Popen(
            ["sh", "-c", loop, PROGRAM[0], ops, str(tmp_path / f"answers.{name}")],
            cwd=tmp_path,
            env=environment(
                tmp_path, HIVEKEEP_DB=str(path), HIVEKEEP_ACTOR=name, HIVEKEEP_STORAGE_DISK_RESERVE_BYTES="0"
            ),
        )
        for name in ("ada", "bob")
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    said = 2 * ROUNDS * SIGNALS
    with open_hive(path) as hive:
        state = hive.call("brain.profile", profile_id="balanced-recall-v1")["state_snapshot"]
        with hive.server.engine.read() as tx:
            moments = [row[0] for row in tx.all("SELECT created_at FROM brain_events ORDER BY seq")]
    assert (state["total_events"], state["salience"]["alpha"], state["entity_posteriors"][0]["alpha"]) == (
        said,
        2.0 + said,
        1.0 + said,
    )
    assert len(moments) == said
    assert all(one < other for one, other in pairwise(moments))
