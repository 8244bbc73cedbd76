"""Servers that are killed while they carry out what is scheduled."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from hivekeep.jobs.dispatching import INDETERMINATE
from hivekeep.times import iso, now_us
from support.processes import PROGRAM, environment, run, serving, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="serve is for Linux and macOS")

PACKS = {"HIVEKEEP_PACKS": "kg,brain,schedule", "HIVEKEEP_SCHEDULE_TICK_SECS": "1"}
DATABASE = ".local/share/hivekeep/hivekeep.db"
EVENTS = 50
KILLS = 20
LEAD_US = 3_000_000


def ask(home: Path, *ops: dict[str, Any]) -> list[Any]:
    """The results of operations that must all succeed."""
    done = run(home, "exec", "--strict", json.dumps(ops), **PACKS)
    assert done.returncode == 0, done.stdout + done.stderr
    return [entry["result"] for entry in json.loads(done.stdout)["results"]]


def listed(home: Path, **filters: Any) -> list[dict[str, Any]]:
    """All records of one list."""
    (page,) = ask(home, {"tool": "list", "args": filters})
    items: list[dict[str, Any]] = page["items"]
    return items


def action(number: int) -> str:
    """Even ones only write this store; odd ones open transactions of their own."""
    if number % 2:
        return f'brain.mark_turn(label="job {number}")'
    return f'create(kind="observation", content="job {number}")'


def kill_while_it_works(home: Path, store: apsw.Connection, delay_s: float) -> None:
    """Start a server, kill it and its worker so long after it began to carry something out."""
    before = fence(store)
    process = subprocess.Popen(
        [*PROGRAM, "serve"],
        stdout=subprocess.DEVNULL,
        stderr=(home / "serve.log").open("ab"),
        cwd=home,
        env=environment(home, **PACKS),
        start_new_session=True,
    )
    try:
        until = time.monotonic() + 20
        while fence(store) == before and pending(store) and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(delay_s)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)
    # Its lease would run out in a few seconds; nobody is there to renew it.
    store.execute("UPDATE leases SET expires_at = 0 WHERE name = 'schedule'")


def fence(store: apsw.Connection) -> int:
    """How often a dispatcher was given the lease."""
    found = store.execute("SELECT fence FROM leases WHERE name = 'schedule'").fetchall()
    return int(found[0][0]) if found else 0


def pending(store: apsw.Connection) -> int:
    """How many events wait."""
    (row,) = store.execute(
        "SELECT count(*) FROM notes WHERE kind = 'scheduled_event'"
        " AND json_extract(properties, '$.status') IN ('pending', 'firing')"
    )
    return int(row[0])


@pytest.mark.slow
def test_fifty_events_and_twenty_kills(tmp_path: Path) -> None:
    """Each ran once, or failed as indeterminate when its verb writes on its own; none ran twice. About 30 seconds."""
    chance = random.Random(5)
    due = iso(now_us() + LEAD_US)
    made = ask(
        tmp_path,
        *({"tool": "schedule.schedule", "args": {"action": action(n), "at": due}} for n in range(EVENTS)),
    )
    store = apsw.Connection(str(tmp_path / DATABASE))
    store.set_busy_timeout(30_000)
    wait_until(lambda: iso(now_us()) > due, 10, "the moment at which the events are due")
    under_way = 0
    for _ in range(KILLS):
        under_way += pending(store) > 0
        kill_while_it_works(tmp_path, store, chance.uniform(0, 0.04))
    done = run(tmp_path, "schedule", "drain", "--json", **PACKS)
    assert done.returncode == 0, done.stderr
    assert pending(store) == 0
    store.close()

    ran = Counter(note["content"] for note in listed(tmp_path, kind="observation", limit=200))
    marks = Counter(
        event["payload"]["phase"] for event in listed(tmp_path, kind="event", event_kind="phase_started", limit=1000)
    )
    outcomes = Counter(
        (event["target_id"], event["payload"]["outcome"])
        for event in listed(tmp_path, kind="event", event_kind="scheduled_event_ran", limit=1000)
    )
    notes = {note["id"]: note["properties"] for note in listed(tmp_path, kind="scheduled_event", limit=200)}
    for number, one in enumerate(made):
        state = notes[one["full_id"]]
        told = {outcome: count for (target, outcome), count in outcomes.items() if target == one["full_id"]}
        if number % 2 and state["status"] == "failed":
            assert (state["error"], told) == (INDETERMINATE, {"indeterminate": 1})
            assert marks[f"job {number}"] <= 1
        else:
            assert (state["status"], told) == ("fired", {"fired": 1})
            assert (marks if number % 2 else ran)[f"job {number}"] == 1
    assert under_way >= KILLS // 2, f"only {under_way} servers were killed while something was due"


@pytest.mark.slow
def test_a_server_carries_out_what_is_due_and_says_when_it_looked(tmp_path: Path) -> None:
    """Within a tick, without anybody asking; the agenda of the server has a ticker. About 5 seconds."""
    with serving(tmp_path, **PACKS) as server:

        def call(verb: str, **args: Any) -> Any:
            answer = httpx.post(f"{server.url}/api/v1/verbs/{verb}", json=args, headers=server.headers).json()
            assert answer["ok"], answer
            return answer["result"]

        due = iso(now_us() + 1_000_000)
        ids = [call("schedule.schedule", action=action(number), at=due)["full_id"] for number in range(2)]
        waited = wait_until(
            lambda: all(call("get", id=one)["properties"]["status"] == "fired" for one in ids), 10, "the two calls"
        )
        assert waited < 4
        assert call("schedule.agenda")["ticker"]["last_tick_at"] >= due
        assert server.stop() == 0


@pytest.mark.slow
def test_eight_drains_at_once_share_the_work(tmp_path: Path) -> None:
    """Eight processes, forty events: each event is carried out by one of them, no lock in the way. About 15 seconds."""
    due = iso(now_us() + LEAD_US)
    ask(
        tmp_path,
        *({"tool": "schedule.schedule", "args": {"action": action(n), "at": due}} for n in range(40)),
    )
    wait_until(lambda: iso(now_us()) > due, 10, "the moment at which the events are due")
    drains = [
        subprocess.Popen(
            [*PROGRAM, "schedule", "drain", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment(tmp_path, **PACKS),
        )
        for _ in range(8)
    ]
    told = [drain.communicate(timeout=60) for drain in drains]
    assert [drain.returncode for drain in drains] == [0] * 8, told
    assert sum(json.loads(out)["fired"] for out, _ in told) == 40
    assert len(listed(tmp_path, kind="observation", limit=200)) == 20
    assert len(listed(tmp_path, kind="event", event_kind="phase_started", limit=200)) == 20
