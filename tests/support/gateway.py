"""The client of the agent gateway for every test: it checks each answer against the printed schemas before it returns.

Invariant: no answer reaches a test unless its envelope is the one the contract promises for that operation: data of the
right shape, or a failure that the operation declares, with the status of its code.

`Gateway` asks in this process, below HTTP; `HttpGateway` asks the application byte for byte, without a socket.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import jsonschema_rs

from hivekeep.agent.formats import FORMATS
from hivekeep.dispatch.gateway import Asked, GatewayServer
from hivekeep.dispatch.run import Server, drive
from hivekeep.doors import gateway as envelopes
from hivekeep.doors.auth import Guard
from hivekeep.doors.http import Door, create_app
from hivekeep.identity.caller import Caller, make_caller
from hivekeep.wiring import open_gateway, open_server
from hivekeep_contract.gateway import OPERATIONS, Operation
from hivekeep_contract.gateway_errors import FAILURES, GatewayError
from hivekeep_contract.limits import HTTP_BODY_MAX_BYTES
from hivekeep_contract.settings import Settings
from support.client import schemas

TOKEN = "cd" * 32
HOST = "127.0.0.1:4000"
ABSENT = "00000000-0000-4000-8000-000000000000"
"""A run id that no test opens."""

COVERAGE = {"run": "declared", "tool": "declared", "command": "declared", "file": "declared", "approval": "unavailable"}
HINTS = {"taskType": "build", "target": "parser", "expected": "tests pass"}
SOUL = {"kind": "skill", "name": "kiokuko-soul"}
REASONING = {"kind": "skill", "name": "memory-reasoning"}
CATALOG = [SOUL, REASONING]
"""The capabilities of a client that may be given everything."""

Headers = Sequence[tuple[str, str]]


def opening(**fields: Any) -> dict[str, Any]:
    """The body of an open whose profile is complete, so that the run is active at once; `fields` replace its own."""
    body = {
        "apiVersion": "1",
        "workspace": "demo",
        "client": {"kind": "test"},
        "task": {"title": "build the parser", "query": "build the parser", "profileHints": dict(HINTS)},
        "captureProfile": "standard",
        "coverage": dict(COVERAGE),
        "capabilities": list(CATALOG),
    }
    return body | fields


def asking(query: str = "make it nice", **fields: Any) -> dict[str, Any]:
    """The body of an open that leaves all three questions to be asked."""
    return opening(task={"title": "a task", "query": query}, **fields)


def event(event_type: str = "step.started", **fields: Any) -> dict[str, Any]:
    """An event of a client."""
    return {"eventType": event_type, "actor": "agent", "payload": {"step": "look"}} | fields


class Reply(NamedTuple):
    """A checked answer: status, envelope, headers in lower case (empty in process)."""

    status: int
    envelope: dict[str, Any]
    headers: dict[str, str]

    @property
    def data(self) -> Any:
        """The data of a success."""
        assert self.envelope["ok"], self.envelope
        return self.envelope["data"]

    @property
    def error(self) -> dict[str, Any]:
        """The error of a failure."""
        assert not self.envelope["ok"], self.envelope
        found: dict[str, Any] = self.envelope["error"]
        return found

    @property
    def told(self) -> tuple[int, str, str | None]:
        """Status, code and reason of a failure."""
        return self.status, self.error["code"], self.error["details"].get("reason")


@cache
def _validator(part: str, operation: str | None) -> jsonschema_rs.Draft202012Validator:
    schema = schemas()["gateway"][part]
    if operation is not None:
        schema = schema[operation]
    schema = {"$defs": schemas()["$defs"], **schema}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=FORMATS)


def body_validator(operation: str) -> jsonschema_rs.Draft202012Validator:
    """What tells whether a body fits the schema of a write, formats included."""
    return _validator("bodies", operation)


def check(operation: str, status: int, envelope: dict[str, Any]) -> None:
    """Assert that an answer is what the contract promises of an operation (or of no operation, for `api.v1`)."""
    assert envelope["operation"] == operation
    if envelope["ok"]:
        assert status == 200
        _validator("success", operation).validate(envelope)
        return
    _validator("failure", None).validate(envelope)
    known = OPERATIONS.get(operation)
    declared = [FAILURES[name] for name in (known.failures if known else FAILURES)]
    told = (status, envelope["error"]["code"], envelope["error"]["message"])
    assert told in [(failure.status, failure.code, failure.message) for failure in declared], told


class Client:
    """What tests ask for, whichever way it goes. A write without a key gets a fresh one."""

    def __init__(self) -> None:
        self._keys = itertools.count(1)

    def ask(
        self,
        operation: str,
        run_id: str | None = None,
        body: dict[str, Any] | None = None,
        *,
        key: str | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Reply:
        """The checked answer of one operation."""
        raise NotImplementedError

    def fresh_key(self) -> str:
        """A key that this client did not use before."""
        return f"key-{next(self._keys)}"

    def open(self, body: dict[str, Any] | None = None, *, key: str | None = None) -> Reply:
        """Open a run; without a body one that is active at once."""
        return self.ask("agent.open", None, opening() if body is None else body, key=key)

    def opened(self, body: dict[str, Any] | None = None) -> str:
        """The id of a new run."""
        return str(self.open(body).data["runId"])

    def answer(self, run_id: str, question_id: str, value: Any, *, key: str | None = None, **fields: Any) -> Reply:
        """Answer a question with the usual capabilities."""
        body = {"apiVersion": "1", "questionId": question_id, "value": value, "capabilities": CATALOG}
        return self.ask("agent.answer", run_id, body | fields, key=key)

    def events(self, run_id: str, *batch: Any, key: str | None = None, **fields: Any) -> Reply:
        """Append events."""
        body = {"apiVersion": "1", "events": list(batch)}
        return self.ask("agent.events", run_id, body | fields, key=key)

    def checkpoint(self, run_id: str, *, key: str | None = None, **fields: Any) -> Reply:
        """A checkpoint with the usual capabilities."""
        return self.ask("agent.checkpoint", run_id, {"apiVersion": "1", "capabilities": CATALOG} | fields, key=key)

    def close(self, run_id: str, status: str = "completed", *, key: str | None = None, **fields: Any) -> Reply:
        """End a run."""
        return self.ask("agent.close", run_id, {"apiVersion": "1", "status": status} | fields, key=key)

    def feedback(self, run_id: str, *, key: str | None = None, **fields: Any) -> Reply:
        """Give feedback."""
        return self.ask("agent.feedback", run_id, {"apiVersion": "1"} | fields, key=key)

    def promote(self, run_id: str, *, key: str | None = None, **fields: Any) -> Reply:
        """Promote a proposal."""
        return self.ask("agent.promotions", run_id, {"apiVersion": "1"} | fields, key=key)

    def run(self, run_id: str) -> Any:
        """The view of a run."""
        return self.ask("agent.run.read", run_id).data

    def intake(self, run_id: str) -> Any:
        """The view of an intake."""
        return self.ask("agent.intake.read", run_id).data

    def timeline(self, run_id: str, **query: Any) -> list[dict[str, Any]]:
        """The events of one page."""
        items: list[dict[str, Any]] = self.ask("agent.events.list", run_id, query=query).data["items"]
        return items

    def types(self, run_id: str) -> list[str]:
        """The types of the events of a run, in their order."""
        return [item["eventType"] for item in self.timeline(run_id)]


class Gateway(Client):
    """A gateway in this process: the operations and what dispatch does round them, without HTTP."""

    def __init__(self, server: Server, caller: Caller | None = None) -> None:
        super().__init__()
        self.server = server
        self.gateway: GatewayServer = open_gateway(server)
        self.caller = caller or make_caller(None, None, ())

    def ask(
        self,
        operation: str,
        run_id: str | None = None,
        body: dict[str, Any] | None = None,
        *,
        key: str | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Reply:
        known = OPERATIONS[operation]
        asked = Asked(
            known,
            run_id=run_id,
            query=[(name, str(value)) for name, value in (query or {}).items()],
            body=body,
            key=(key or self.fresh_key()) if known.writes else None,
        )
        try:
            data = drive(self.gateway.steps(asked, self.caller, source="test"))
        except GatewayError as error:
            status, envelope = error.status, envelopes.failure(operation, error)
        else:
            status, envelope = 200, json.loads(envelopes.success_text(operation, data))
        check(operation, status, envelope)
        return Reply(status, envelope, {})


class HttpGateway(Client):
    """A gateway behind the ASGI application of a door."""

    def __init__(self, door: Door) -> None:
        super().__init__()
        self.door = door
        self._app = create_app(door)

    def ask(
        self,
        operation: str,
        run_id: str | None = None,
        body: dict[str, Any] | None = None,
        *,
        key: str | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Reply:
        known = OPERATIONS[operation]
        return self.send(
            known.http_method,
            path_of(known, run_id, query),
            b"" if body is None else json.dumps(body).encode(),
            self.headers(known, key),
            operation=operation,
        )

    def headers(self, operation: Operation, key: str | None = None) -> list[tuple[str, str]]:
        """The headers of a right request."""
        headers = [("Host", HOST), ("Authorization", f"Bearer {TOKEN}")]
        if operation.writes:
            headers += [("Content-Type", "application/json"), ("Idempotency-Key", key or self.fresh_key())]
        return headers

    def send(
        self, method: str, target: str, body: bytes = b"", headers: Headers = (), *, operation: str = "api.v1"
    ) -> Reply:
        """The checked answer of a request as it is written; `operation` is what its envelope must name."""
        return asyncio.run(self.exchange(method, target, body, headers, operation=operation))

    async def exchange(
        self, method: str, target: str, body: bytes = b"", headers: Headers = (), *, operation: str = "api.v1"
    ) -> Reply:
        """The same on a loop that is running, so that several requests can be on their way."""
        reply = await self.raw(method, target, body, headers)
        check(operation, reply.status, reply.envelope)
        return reply

    async def raw(self, method: str, target: str, body: bytes = b"", headers: Headers = ()) -> Reply:
        """Any answer with a JSON body, unchecked."""
        raw_path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": _decoded(raw_path),
            "raw_path": raw_path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
            + [(b"content-length", str(len(body)).encode())],
            "server": ("127.0.0.1", 4000),
            "client": ("127.0.0.1", 50000),
        }
        incoming = iter([{"type": "http.request", "body": body, "more_body": False}])
        outgoing: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            message = next(incoming, None)
            if message is None:
                await asyncio.Event().wait()
            assert message is not None
            return message

        async def send(message: dict[str, Any]) -> None:
            outgoing.append(message)

        await self._app(scope, receive, send)
        told = {name.decode(): value.decode() for name, value in outgoing[0]["headers"]}
        text = b"".join(message.get("body", b"") for message in outgoing[1:])
        return Reply(outgoing[0]["status"], json.loads(text) if text else {}, told)


def path_of(operation: Operation, run_id: str | None = None, query: Mapping[str, Any] | None = None) -> str:
    """The request target of an operation."""
    path = operation.path.replace("{runId}", run_id or "")
    return f"{path}?{urlencode(query)}" if query else path


def _decoded(raw_path: str) -> str:
    from urllib.parse import unquote

    return unquote(raw_path)


def together(*requests: Callable[[], Awaitable[Reply]]) -> list[Reply]:
    """The answers of requests that are on their way at the same time."""

    async def all_of_them() -> list[Reply]:
        return list(await asyncio.gather(*(request() for request in requests)))

    return asyncio.run(all_of_them())


@contextmanager
def open_in_process(db: str | Path = ":memory:", **settings: Any) -> Iterator[Gateway]:
    """A gateway in this process on a database, closed at the end."""
    server = open_server(_settings(db, settings), threaded=False)
    try:
        yield Gateway(server)
    finally:
        server.engine.close()


@contextmanager
def open_http(db: str | Path, **settings: Any) -> Iterator[HttpGateway]:
    """A gateway behind HTTP on a file, with the writer's thread of a server, closed at the end."""
    door = Door(open_server(_settings(db, settings), threaded=True), Guard(TOKEN), HTTP_BODY_MAX_BYTES)
    try:
        yield HttpGateway(door)
    finally:
        door.close()


def _settings(db: str | Path, settings: dict[str, Any]) -> Settings:
    return Settings(db=str(db), **{"embedding_models": (), "storage_disk_reserve_bytes": 0, **settings})
