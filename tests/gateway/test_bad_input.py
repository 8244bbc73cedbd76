"""Whatever bytes come in on a socket, each request is answered, with the word for what is wrong with it.

The server is a process of its own; nothing that was refused changed its tables, and its log has no stack trace.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep_contract.gateway import OPERATIONS
from support.gateway import CATALOG, HttpGateway, check, event, open_http, opening
from support.processes import Serving, serving

LIMIT = 2 * 1024 * 1024
RUNS = "/api/v1/agent/runs"
BAD = (400, "VALIDATION_ERROR")


class Heard(NamedTuple):
    """One answer as it came over the wire, and whether the server closed the connection behind it."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> tuple[int, str, str | None]:
        """Status, code and reason of a failure in the envelope, which is checked."""
        envelope = json.loads(self.body)
        check(envelope["operation"], self.status, envelope)
        return self.status, envelope["error"]["code"], envelope["error"]["details"].get("reason")


class Wire:
    """Sends bytes to a server."""

    def __init__(self, server: Serving) -> None:
        self._place = urlsplit(server.url)
        self._token = server.headers["Authorization"]

    def connect(self) -> socket.socket:
        """A new connection."""
        return socket.create_connection((self._place.hostname, self._place.port), timeout=30)

    def head(self, method: str, target: str | bytes, *fields: str, auth: bool = True) -> bytes:
        """The beginning of a request with these further fields, up to the empty line."""
        raw = target.encode() if isinstance(target, str) else target
        lines = [f"Host: {self._place.netloc}", *([f"Authorization: {self._token}"] if auth else []), *fields]
        first = method.encode() + b" " + raw + b" HTTP/1.1\r\n"
        return first + "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n"

    def post(self, target: str | bytes, body: bytes, *fields: str, key: str = "Idempotency-Key: k") -> Heard:
        """The answer to a write that is right but for its target, body and fields."""
        sent = ("Content-Type: application/json", key, f"Content-Length: {len(body)}", *fields)
        return self.send(self.head("POST", target, *(field for field in sent if field)) + body)

    def send(self, data: bytes, *, end: bool = False) -> Heard:
        """The one answer to these bytes; `end` says that no more of them come."""
        [heard] = self.send_all(data, 1, end=end)
        return heard

    def send_all(self, data: bytes, count: int, *, end: bool = False) -> list[Heard]:
        """So many answers to these bytes."""
        with self.connect() as connection:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
            stream = connection.makefile("rb")
            return [_read(stream) for _ in range(count)]


def _read(stream: Any) -> Heard:
    """The next final answer of a connection."""
    while True:
        line = stream.readline()
        assert line, "the connection ended without an answer"
        status = int(line.split()[1])
        fields: dict[str, str] = {}
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            fields[name.lower()] = value.strip()
        if status != 100:
            return Heard(status, fields, stream.read(int(fields.get("content-length", 0))))


class Store(NamedTuple):
    """The folder of the server of this module."""

    home: Path

    def rows(self) -> dict[str, int]:
        """How many rows each table of the gateway has."""
        return rows(next(self.home.rglob("hivekeep.db")))

    def log(self) -> str:
        """Everything that the server wrote on standard error."""
        return (self.home / "serve.log").read_text()


def rows(database: Path) -> dict[str, int]:
    """How many rows each table of the gateway has."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'agent_*'").get
        found = {name: connection.execute(f'SELECT count(*) FROM "{name}"').get for name in tables}
    finally:
        connection.close()
    assert "agent_runs" in found
    return found


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Store]]:
    """A server process for the tests of this module."""
    home = tmp_path_factory.mktemp("home")
    with serving(home, HIVEKEEP_LOG_LEVEL="debug") as server:
        yield Wire(server), Store(home)
        assert server.stop() == 0
    assert "Traceback" not in Store(home).log()


@pytest.fixture
def wire(served: tuple[Wire, Store]) -> Iterator[Wire]:
    """The server; whatever a test sends changes no table of the gateway and leaves no trace of a fault in the log."""
    asked, store = served
    before = store.rows()
    yield asked
    assert store.rows() == before
    assert "Traceback" not in store.log()
    assert "internal error" not in store.log()


def opening_with(**fields: Any) -> bytes:
    return json.dumps(opening(**fields)).encode()


RIGHT = opening_with()
DEEP = 3000


class TestBodies:
    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (b"", "not_json"),
            (b" ", "not_json"),
            (b"\xef\xbb\xbf" + RIGHT, "not_json"),
            (RIGHT.decode().encode("utf-16"), "not_json"),
            (RIGHT.decode().encode("utf-16-le"), "not_json"),
            (RIGHT.decode().encode("utf-32"), "not_json"),
            (RIGHT + b"x", "not_json"),
            (RIGHT + RIGHT, "not_json"),
            (RIGHT + b"\0", "not_json"),
            (RIGHT[:-1], "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":NaN}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":Infinity}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":-Infinity}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":1e999}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":-1e400}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":' + b"9" * 5000 + b"}}", "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":01}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":+1}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"n":.5}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":"\\ud800"}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":"\\udc00\\ud800"}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"\\ud800":1}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":"\xed\xa0\x80"}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":"\xff"}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":"\xc0\x80"}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":"\x00"}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":"\n"}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":"\\x41"}}', "not_json"),
            (RIGHT[:-1] + b',"metadata":{"a":1,}}', "not_json"),
            (b"/* c */" + RIGHT, "not_json"),
            (RIGHT[:-1] + b',"apiVersion":"1"}', "duplicate_key"),
            (RIGHT[:-1] + b',"metadata":{"a":1,"a":1}}', "duplicate_key"),
            (RIGHT[:-1] + b',"metadata":[[{"a":{"b":1,"\\u0062":2}}]]}', "duplicate_key"),
            (RIGHT[:-1] + b',"metadata":' + b"[" * DEEP + b"]" * DEEP + b"}", "nested_too_deep"),
            (RIGHT[:-1] + b',"metadata":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}", "nested_too_deep"),
            (RIGHT[:-1] + b',"metadata":' + b'{"a":' * 64 + b"1" + b"}" * 64 + b"}", "nested_too_deep"),
            (b"[" * 500_000, "nested_too_deep"),
            (b"[" + RIGHT + b"]", "not_an_object"),
            (b"true", "not_an_object"),
            (b"0", "not_an_object"),
            (b'"{}"', "not_an_object"),
        ],
    )
    def test_what_is_no_json_object(self, wire: Wire, body: bytes, reason: str) -> None:
        """400 with the word for it."""
        assert wire.post(RUNS, body).told == (*BAD, reason)

    def test_a_nul_in_every_text(self, wire: Wire) -> None:
        """An escaped NUL is a value that no typed text takes; the place is told."""
        whole = opening(
            client={"kind": "k", "version": "v", "sessionId": "s"},
            task={"title": "t", "query": "q", "profileHints": {"taskType": "build", "target": "t", "expected": "e"}},
            startedAt="2026-01-02T03:04:05.678Z",
            parentRunId="p",
        )
        del whole["capabilities"]
        for at, text in _texts(whole):
            body = json.loads(json.dumps(whole))
            holder = body
            for step in at[:-1]:
                holder = holder[step]
            holder[at[-1]] = f"{text}\0"
            heard = wire.post(RUNS, json.dumps(body).encode())
            assert heard.told == (*BAD, "wrong_value"), at
            assert json.loads(heard.body)["error"]["details"]["field"] == "/" + "/".join(at)

    def test_the_largest_body(self, wire: Wire) -> None:
        """One byte over 2 MiB is refused with a length told and in pieces, and the client gets to hear it."""
        large = b'{"a":"' + b"x" * (LIMIT - 7) + b'"}'
        assert len(large) == LIMIT + 1
        assert wire.post(RUNS, large).told == (*BAD, "body_too_large")
        assert self.chunked(wire, large, 65_536).told == (*BAD, "body_too_large")
        assert self.chunked(wire, b" " * (3 * LIMIT), 1_000_000).told == (*BAD, "body_too_large")
        # One that is not longer is read.
        assert wire.post(RUNS, large[:6] + large[7:]).told == (*BAD, "missing_field")
        assert self.chunked(wire, large[:6] + large[7:], 65_536).told == (*BAD, "missing_field")

    def test_chunks_of_every_size(self, wire: Wire) -> None:
        """A body in pieces is the same body; so is one in single bytes."""
        for size in (1, 7, 1000):
            assert self.chunked(wire, b'{"a":1}', size).told == (*BAD, "missing_field")
            assert self.chunked(wire, b'{"a":1', size).told == (*BAD, "not_json")
        assert self.chunked(wire, b"", 1).told == (*BAD, "not_json")

    @staticmethod
    def chunked(wire: Wire, body: bytes, size: int) -> Heard:
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        data = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        fields = ("Content-Type: application/json", "Idempotency-Key: k", "Transfer-Encoding: chunked")
        return wire.send(wire.head("POST", RUNS, *fields) + data)

    def test_a_body_that_ends_early_is_no_request(self, wire: Wire) -> None:
        """A client that goes away in the middle of its body has asked nothing, and the server goes on."""
        fields = ("Content-Type: application/json", "Idempotency-Key: k")
        for head in (f"Content-Length: {len(RIGHT)}", "Transfer-Encoding: chunked"):
            body = RIGHT[:-10] if "Length" in head else b"%x\r\n%b" % (len(RIGHT), RIGHT[:-10])
            with wire.connect() as connection:
                connection.sendall(wire.head("POST", RUNS, *fields, head) + body)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65_536):
                    pass
        assert wire.send(wire.head("GET", f"{RUNS}?workspace=nowhere")).status == 200

    @pytest.mark.parametrize(
        ("auth", "told"), [(True, (*BAD, "missing_field")), (False, (401, "AUTHENTICATION_ERROR", "bad_token"))]
    )
    def test_a_client_may_ask_before_it_sends(self, wire: Wire, auth: bool, told: tuple[int, str, str]) -> None:
        """Expect: 100-continue is answered, and then the request, whatever becomes of it."""
        body = b'{"a":1}'
        fields = ("Content-Type: application/json", "Idempotency-Key: k", f"Content-Length: {len(body)}")
        with wire.connect() as connection:
            connection.sendall(wire.head("POST", RUNS, *fields, "Expect: 100-continue", auth=auth))
            assert connection.recv(65_536).startswith(b"HTTP/1.1 100 ")
            connection.sendall(body)
            assert _read(connection.makefile("rb")).told == told


class TestHeaders:
    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            (["Content-Type: application/json"], "content_type"),
            (["Content-Type: text/plain"], "content_type"),
            (["Idempotency-Key: k"], "key_missing"),
            (["Idempotency-Key: other"], "key_missing"),
        ],
    )
    def test_one_that_comes_twice(self, wire: Wire, fields: list[str], reason: str) -> None:
        """Alike or not: 400, for nobody knows which one counts."""
        assert wire.post(RUNS, RIGHT, *fields).told == (*BAD, reason)

    @pytest.mark.parametrize(
        "key",
        ["Idempotency-Key:", "Idempotency-Key:   ", f"Idempotency-Key: {'k' * 257}", f"Idempotency-Key: {'ü' * 129}"],
    )
    def test_a_key_that_is_none(self, wire: Wire, key: str) -> None:
        """Empty, blank, 257 bytes in one or in two a character."""
        assert wire.post(RUNS, RIGHT, key=key).told == (*BAD, "key_malformed")

    def test_a_key_is_needed(self, wire: Wire) -> None:
        """None is 400."""
        assert wire.post(RUNS, RIGHT, key="").told == (*BAD, "key_missing")

    def test_control_characters(self, wire: Wire) -> None:
        """A NUL, or a control character that HTTP lets through, never makes a key; the answer is ours or HTTP's 400."""
        for sign in ("\x00", "\x01", "\x7f", "\x85", "a\tb"):
            assert wire.post(RUNS, RIGHT, key=f"Idempotency-Key: k{sign}k").status == 400

    def test_absurd_sizes(self, wire: Wire) -> None:
        """Large headers and very many of them are read or refused as 4xx; never a fault, never silence."""
        for fields in (["X-A: " + "x" * 60_000], [f"X-{number}: {number}" for number in range(1000)]):
            heard = wire.post(RUNS, b"{", *fields)
            assert heard.status in (400, 413, 414, 431)
        heard = wire.send(wire.head("GET", f"{RUNS}?workspace=w", "Authorization: Bearer " + "a" * 60_000))
        assert heard.status in (400, 401, 413, 414, 431)

    def test_lengths_that_contradict(self, wire: Wire) -> None:
        """Two lengths, one that is no number, a length and chunks: HTTP's own 400, before the gateway is asked."""
        common = ("Content-Type: application/json", "Idempotency-Key: k")
        for fields in (
            ("Content-Length: 2", "Content-Length: 3"),
            ("Content-Length: x",),
            ("Content-Length: -1",),
            ("Content-Length: 2", "Transfer-Encoding: chunked"),
        ):
            assert wire.send(wire.head("POST", RUNS, *common, *fields) + b"{}\r\n").status == 400


class TestTargets:
    @pytest.mark.parametrize(
        ("run_id", "reason"),
        [
            ("%", "bad_run_id"),
            ("a%2", "bad_run_id"),
            ("%zz", "bad_run_id"),
            ("%ff", "bad_run_id"),
            ("%ed%a0%80", "bad_run_id"),
            ("%c0%ae", "bad_run_id"),
            ("%00", "bad_run_id"),
            ("a%0d%0ab", "bad_run_id"),
            ("a%2fb", "bad_run_id"),
            ("a%5cb", "bad_run_id"),
            ("x" * 257, "bad_run_id"),
            ("x" * 30_000, "bad_run_id"),
            ("%f0%9f%90%9d" * 129, "bad_run_id"),
            ("..", "no_run"),
            (".", "no_run"),
            ("%2e%2e", "no_run"),
            ("a+b", "no_run"),
            ("%25", "no_run"),
            ("x" * 256, "no_run"),
        ],
    )
    def test_a_run_id(self, wire: Wire, run_id: str, reason: str) -> None:
        """It is decoded once; one that no run can have is 400, one that none has 404."""
        wanted = (*BAD, reason) if reason == "bad_run_id" else (404, "NOT_FOUND", reason)
        for tail in ("", "/events"):
            assert wire.send(wire.head("GET", f"{RUNS}/{run_id}{tail}")).told == wanted
        assert wire.post(f"{RUNS}/{run_id}/close", b'{"apiVersion":"1","status":"failed"}').told == wanted

    @pytest.mark.parametrize(
        "target",
        [
            "/api/v1/agent/../agent/runs",
            "/api/v1/./agent/runs",
            "/api/v1//agent/runs",
            "/api/v1/agent//runs",
            "/api/v1/agent/runs//events",
            "/api/v1/agent/runs/../../x",
            "/api/v1/agent/runs/a/b/c",
            "/api/v1/agent/%72uns",
            "/api/v1/agent/runs;x",
            "/api/v1/agent/runs%3fworkspace=a",
            "/api/v1/" + "x" * 30_000,
            "/api/v1/" + "x/" * 10_000,
        ],
    )
    def test_a_path_that_is_none(self, wire: Wire, target: str) -> None:
        """Nothing is folded, decoded or cut before a path is looked for: 404, or 400 for an empty run id."""
        for told in (wire.send(wire.head("GET", target)).told, wire.post(target, b"{}").told):
            empty = "/runs//" in target
            assert told == ((*BAD, "bad_run_id") if empty else (404, "NOT_FOUND", "no_endpoint"))

    @pytest.mark.parametrize(
        ("query", "reason"),
        [
            ("workspace=a&workspace=a", "query_repeated"),
            ("workspace=a&workspace=b", "query_repeated"),
            ("workspace=a&x=1", "query_unknown"),
            ("", "query_value"),
            ("workspace", "query_value"),
            ("workspace=", "query_value"),
            ("workspace=%00", "query_value"),
            ("workspace=%ff", "query_value"),
            ("workspace=%ed%a0%80", "query_value"),
            ("workspace=a&limit=0", "query_value"),
            ("workspace=a&limit=101", "query_value"),
            ("workspace=a&limit=01", "query_value"),
            ("workspace=a&limit=-1", "query_value"),
            ("workspace=a&limit=1.0", "query_value"),
            ("workspace=a&limit=1e1", "query_value"),
            ("workspace=a&limit=" + "9" * 30_000, "query_value"),
            ("workspace=a&limit=%D9%A1", "query_value"),
            ("workspace=a&status=done", "query_value"),
            ("workspace=" + "x" * 16_385, "query_value"),
            ("workspace=a&cursor=", "bad_cursor"),
            ("workspace=a&cursor=%ff", "query_value"),
            ("workspace=a&cursor=" + "A" * 30_000, "bad_cursor"),
            ("workspace=a&cursor=bnVsbA", "bad_cursor"),
            ("&".join(["workspace=a"] * 5000), "query_repeated"),
        ],
    )
    def test_a_query_string(self, wire: Wire, query: str, reason: str) -> None:
        """Each field once, known, and with a value that it takes."""
        assert wire.send(wire.head("GET", f"{RUNS}?{query}")).told == (*BAD, reason)

    @pytest.mark.parametrize("query", ["x", "x=1", "workspace=a", "%ff", "=", "x" * 30_000])
    def test_a_write_takes_no_query_string(self, wire: Wire, query: str) -> None:
        """Whatever it is."""
        assert wire.post(f"{RUNS}?{query}", RIGHT).told == (*BAD, "query_not_allowed")

    def test_what_is_no_request_at_all(self, wire: Wire) -> None:
        """Garbage instead of a request line gets HTTP's 400."""
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, b"GET\r\n\r\n", b"nonsense\r\n\r\n"):
            assert wire.send(data).status == 400

    def test_requests_on_one_connection(self, wire: Wire) -> None:
        """Sent at once, right and wrong ones are answered each, in their order."""
        common = ("Content-Type: application/json", "Idempotency-Key: k")
        wrong = wire.head("POST", RUNS, *common, "Content-Length: 1") + b"{"
        unknown = wire.head("POST", RUNS, *common, "Content-Length: 2") + b"{}"
        read = wire.head("GET", f"{RUNS}?workspace=nowhere")
        heard = wire.send_all((wrong + read + unknown) * 5, 15)
        assert [one.status for one in heard] == [400, 200, 400] * 5
        assert heard[0].told == (*BAD, "not_json")
        assert heard[2].told == (*BAD, "missing_field")


def _texts(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    for key, member in value.items():
        if isinstance(member, dict):
            yield from _texts(member, (*at, key))
        else:
            yield (*at, key), member


def test_numbers_that_json_can_hold(http: HttpGateway) -> None:
    """Minus zero, huge integers and tiny fractions are taken, and come back as the numbers that they are."""
    body = b'{"apiVersion":"1","events":[{"eventType":"step.started","actor":"a","payload":[-0,-0.0,1e2,1E-400,%b]}]}'
    run_id = http.opened()
    known = OPERATIONS["agent.events"]
    digits = b"9" * 4000
    target = known.path.replace("{runId}", run_id)
    assert http.send("POST", target, body % digits, http.headers(known), operation=known.name).status == 200
    assert http.timeline(run_id, after=3)[0]["payload"] == [0, 0, 100, 0, int(digits)]


# whatever JSON there is

FIELDS = (
    "apiVersion workspace client kind task title query coverage run events eventType actor payload capabilities status "
    "value questionId category feedbackId metadata contextFeedback taskProfileRevision currentGoal changedPaths env"
)
WORDS = st.sampled_from(FIELDS.split())
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.sampled_from(["1", "build", "step.started", "completed", "2026-01-02T03:04:05.678Z", "taskType", "run"])
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=5)
)
BASES: dict[str, dict[str, Any]] = {
    "agent.open": opening(),
    "agent.answer": {"apiVersion": "1", "questionId": "target", "value": "x", "capabilities": CATALOG},
    "agent.events": {"apiVersion": "1", "events": [event()]},
    "agent.checkpoint": {"apiVersion": "1", "capabilities": CATALOG, "currentGoal": "x"},
    "agent.close": {"apiVersion": "1", "status": "completed"},
    "agent.feedback": {"apiVersion": "1", "category": "run", "feedbackId": "f", "rating": 1},
    "agent.promotions": {
        "apiVersion": "1",
        "proposalEventId": "p",
        "actor": "a",
        "createdAt": "2026-01-02T03:04:05.678Z",
        "confirmed": True,
    },
}


def changed(base: dict[str, Any]) -> st.SearchStrategy[Any]:
    """The body with some fields replaced or added, or something else altogether."""
    fields = st.dictionaries(st.sampled_from([*base, "events", "metadata", "extra"]), VALUES, min_size=1, max_size=3)
    return fields.map(lambda some: {**base, **some}) | st.dictionaries(WORDS, VALUES, max_size=6)


class TestAnyJson:
    @pytest.mark.parametrize("name", sorted(BASES))
    def test_any_body_is_answered_and_a_refused_one_writes_nothing(self, name: str, tmp_path: Path) -> None:
        """The status is a documented one, the envelope valid, and the tables are as before unless it is 200."""
        database = tmp_path / "store.db"
        operation = OPERATIONS[name]
        with open_http(database) as http:
            run_id = http.opened() if operation.has_run else None
            refused = 0

            @given(body=changed(BASES[name]))
            @settings(derandomize=True, max_examples=60, deadline=None, database=None)
            def ask(body: Any) -> None:
                nonlocal refused
                before = rows(database)
                reply = http.ask(name, run_id, body)
                assert reply.status in (200, 400, 404, 409, 422), reply
                if reply.status != 200:
                    refused += 1
                    assert rows(database) == before, reply
                    assert reply.error["details"]["reason"]

            ask()
            assert refused > 10
