"""Many processes that write each other mail on one file: nothing lost, nothing doubled, no lock error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from support.client import open_hive

PROCESSES = 8
SECONDS = 10
_PROGRAM = """
import json, random, sys, time
from support.client import open_hive

path, me, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
names = [f"agent:{number}" for number in range(8)]
rng = random.Random(me)
sent, got, cursor = [], [], None
with open_hive(path) as hive:
    own = hive.as_actor(names[me])
    def take():
        page = own.call("comm.inbox", limit=200, fields=["id", "content"])
        if page["messages"]:
            marked = own.call("comm.mark_read", ids=[one["id"] for one in page["messages"]])
            assert marked["status"] == "success", marked
            got.extend(one["content"] for one in page["messages"])
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        to = rng.choice([name for name in names if name != names[me]])
        text = f"{me}:{len(sent)}"
        sent.append((to, text, own.call("comm.send", to=to, content=text)["id"]))
        if rng.random() < 0.3:
            take()
        if rng.random() < 0.1:
            probed = own.call("comm.probe", actor=names[me], **({} if cursor is None else {"since_us": cursor}))
            assert cursor is None or probed["cursor_us"] >= cursor
            cursor = probed["cursor_us"]
    print("sent", flush=True)
    sys.stdin.readline()
    take()
    while own.call("comm.unread")["count"]:
        take()
print(json.dumps({"sent": sent, "got": got}))
"""


@pytest.mark.slow
def test_eight_processes_lose_and_double_no_mail(tmp_path: Path) -> None:
    """Ten seconds of sending, reading and probing: what was sent is what was got, each once; about 15 s."""
    path = tmp_path / "hive.db"
    with open_hive(path):
        pass
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(path), str(number), str(SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for number in range(PROCESSES)
    ]
    # All are ready before the first sends, and all have sent before the last look into an inbox.
    for word in ("ready", "sent"):
        for one in crowd:
            assert one.stdout is not None
            assert one.stdout.readline() == word + "\n"
        for one in crowd:
            assert one.stdin is not None
            one.stdin.write("go on\n")
            one.stdin.flush()
    reports = []
    for one in crowd:
        out, _ = one.communicate(timeout=60)
        assert one.returncode == 0
        reports.append(json.loads(out))
    sent: dict[str, list[str]] = {f"agent:{number}": [] for number in range(PROCESSES)}
    for report in reports:
        for to, text, _ in report["sent"]:
            sent[to].append(text)
    for number, report in enumerate(reports):
        assert Counter(report["got"]) == Counter(sent[f"agent:{number}"])
    total = sum(len(texts) for texts in sent.values())
    assert total > PROCESSES * SECONDS
    with open_hive(path) as hive:
        for number in range(PROCESSES):
            asked = hive.as_actor(f"agent:{number}")
            assert asked.call("comm.unread")["count"] == 0
        first = reports[0]["sent"][0][2]
        assert hive.as_actor("agent:0").call("comm.delivered", id=first)["inbound_count"] == 1
        with hive.server.engine.read() as tx:
            row = tx.one("SELECT count(*), count(DISTINCT note_seq) FROM message_arrivals")
        assert row == (total, total)
