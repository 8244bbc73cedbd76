"""What the gateway answers when it cannot write: a full queue, a store that closes, a disk without room, a fault."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from hivekeep.agent.operations import GatewayOperations
from hivekeep.storage.engine import Tx
from hivekeep_contract.errors import StorageUnavailable
from hivekeep_contract.gateway import OPERATIONS
from support.gateway import HttpGateway, Reply, event, open_http, opening, path_of

OPEN = OPERATIONS["agent.open"]
WAIT_S = 20


@contextmanager
def slow_write(http: HttpGateway) -> Iterator[threading.Event]:
    """A write that holds the writer until the event is set, or the block ends."""
    entered, go_on = threading.Event(), threading.Event()

    def hold(_tx: Tx) -> None:
        entered.set()
        assert go_on.wait(WAIT_S)

    held = http.door.server.engine.submit_write(hold, surface="gateway")
    assert entered.wait(WAIT_S)
    try:
        yield go_on
    finally:
        go_on.set()
        held.result(WAIT_S)


async def opens(http: HttpGateway) -> Reply:
    body = json.dumps(opening()).encode()
    return await http.exchange("POST", OPEN.path, body, http.headers(OPEN), operation=OPEN.name)


async def until_waiting(http: HttpGateway, count: int) -> None:
    while http.door.server.engine.writes_waiting() < count:
        await asyncio.sleep(0.005)


async def until_closing(http: HttpGateway) -> None:
    while True:
        try:
            http.door.server.engine.check_admission("gateway")
        except StorageUnavailable:
            return
        await asyncio.sleep(0.005)


def test_a_full_queue_refuses_at_once_and_loses_nothing(tmp_path: Path) -> None:
    """Behind a slow write two wait and the third gets 429 with Retry-After; then the two succeed, and so does a
    retry with the key that was refused."""
    with open_http(tmp_path / "store.db", gateway_queue_size=2) as http:

        async def scene() -> tuple[Reply, list[Reply]]:
            with slow_write(http) as go_on:
                waiting = [asyncio.ensure_future(opens(http)) for _ in range(2)]
                await asyncio.wait_for(until_waiting(http, 2), WAIT_S)
                refused = await asyncio.wait_for(opens(http), WAIT_S)
                go_on.set()
            return refused, list(await asyncio.gather(*waiting))

        refused, answered = asyncio.run(scene())
        assert (refused.status, refused.error) == (
            429,
            {"code": "BACKPRESSURE", "message": "busy", "details": {"retryAfterSeconds": 1}},
        )
        assert refused.headers["retry-after"] == "1"
        assert [reply.status for reply in answered] == [200, 200]
        assert len(http.ask("agent.runs.list", query={"workspace": "demo"}).data["items"]) == 2
        assert http.open(key="key-3").status == 200


def test_a_full_queue_is_told_before_the_run_and_the_fields_are_looked_at(tmp_path: Path) -> None:
    """Every write gets 429 whatever its run and body are; reads and refusals before admission go on."""
    with open_http(tmp_path / "store.db", gateway_queue_size=1) as http:
        run_id = http.opened()
        before = http.door.server.engine.counters()["writer_queue_refusals"]

        async def scene() -> list[Reply]:
            replies = []
            with slow_write(http) as go_on:
                waiting = asyncio.ensure_future(opens(http))
                await asyncio.wait_for(until_waiting(http, 1), WAIT_S)
                for name, operation in OPERATIONS.items():
                    target = path_of(operation, "no-such-run")
                    body = b"{}" if operation.writes else b""
                    if operation.writes:
                        headers = http.headers(operation)
                        replies.append(await http.exchange("POST", target, body, headers, operation=name))
                read = OPERATIONS["agent.run.read"]
                seen = await http.exchange(
                    "GET", path_of(read, run_id), headers=http.headers(read), operation=read.name
                )
                replies.append(seen)
                go_on.set()
            await waiting
            return replies

        *writes, read = asyncio.run(scene())
        assert [reply.status for reply in writes] == [429] * 7
        assert read.status == 200
        assert http.door.server.engine.counters()["writer_queue_refusals"] == int(before or 0) + 7


def test_a_store_that_closes_takes_no_more_writes(tmp_path: Path) -> None:
    """503 for a new write; the one that was accepted before is carried out and answered."""
    with open_http(tmp_path / "store.db") as http:
        run_id = http.opened()
        events = OPERATIONS["agent.events"]
        body = json.dumps({"apiVersion": "1", "events": [event()]}).encode()

        async def append() -> Reply:
            target = path_of(events, run_id)
            return await http.exchange("POST", target, body, http.headers(events), operation=events.name)

        async def scene() -> tuple[Reply, Reply]:
            with slow_write(http) as go_on:
                accepted = asyncio.ensure_future(append())
                await asyncio.wait_for(until_waiting(http, 1), WAIT_S)
                closing = threading.Thread(target=http.door.server.engine.close)
                closing.start()
                await asyncio.wait_for(until_closing(http), WAIT_S)
                late = await asyncio.wait_for(append(), WAIT_S)
                go_on.set()
                first = await asyncio.wait_for(accepted, WAIT_S)
                await asyncio.to_thread(closing.join, WAIT_S)
            return first, late

        first, late = asyncio.run(scene())
        assert late.told == (503, "SERVICE_UNAVAILABLE", "closing")
        assert first.data["localSequences"] == [4]
    with open_http(tmp_path / "store.db") as http:
        assert http.run(run_id)["lastSequence"] == 4


def test_a_store_that_another_process_holds(tmp_path: Path) -> None:
    """The refusal came twice as late as it was due: the write waited as long as it may for the lock, and then the audit
    row of its failure waited as long for the same lock. 503 after one wait, and the key is free."""
    wait_s = 3.0
    file = tmp_path / "store.db"
    with open_http(file, storage_busy_timeout_ms=int(wait_s * 1000)) as http:
        run_id = http.opened()
        with contextlib.closing(apsw.Connection(str(file))) as other:
            other.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            refused = http.events(run_id, event(), key="k")
            took = time.monotonic() - began
        assert refused.told == (503, "DATABASE_ERROR", "store_unavailable")
        assert wait_s <= took < 1.8 * wait_s
        assert http.events(run_id, event(), key="k").data["localSequences"] == [4]


def test_a_disk_without_room(tmp_path: Path) -> None:
    """503 DATABASE_ERROR, without a word of the path."""
    with open_http(tmp_path / "store.db", storage_disk_reserve_bytes=1 << 50) as http:
        reply = http.open()
        assert reply.told == (503, "DATABASE_ERROR", "store_unavailable")
        assert "store.db" not in json.dumps(reply.envelope)


def test_a_fault_that_nobody_foresaw(
    http: HttpGateway, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """500 with the fixed text; the log has type and places, neither has what the exception says."""

    def broken(_ctx: object, _body: object) -> object:
        raise RuntimeError("a very private detail")

    monkeypatch.setattr(GatewayOperations, "open", staticmethod(broken))
    with caplog.at_level(logging.ERROR):
        reply = http.open()
    assert reply.told == (500, "DATABASE_ERROR", "internal")
    assert "very private" not in json.dumps(reply.envelope) + caplog.text
    assert "RuntimeError" in caplog.text


def test_writes_of_many_requests_at_once(http: HttpGateway) -> None:
    """Eight batches on one run: all stored, numbered without a gap, each batch in one piece."""
    run_id = http.opened()
    operation = OPERATIONS["agent.events"]
    body = json.dumps({"apiVersion": "1", "events": [event() for _ in range(5)]}).encode()

    async def scene() -> list[Reply]:
        each = [
            http.exchange("POST", path_of(operation, run_id), body, http.headers(operation), operation=operation.name)
            for _ in range(8)
        ]
        return list(await asyncio.gather(*each))

    batches = [reply.data["localSequences"] for reply in asyncio.run(scene())]
    assert sorted(number for batch in batches for number in batch) == list(range(4, 44))
    assert all(batch == list(range(batch[0], batch[0] + 5)) for batch in batches)
