"""No credential of any request is in any byte that a server leaves behind, says, logs or hashes."""

from __future__ import annotations

import copy
import hashlib
import http.client
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import apsw
import pytest

from hivekeep.dispatch import gateway as dispatch_gateway
from hivekeep.gate.redaction import sanitise
from hivekeep_contract.gateway import OPERATIONS
from support.credentials import MARK, TAIL, Sample, detected, leaking_files, leaks, samples, spellings, telling
from support.gateway import CATALOG, Gateway, asking, event, open_in_process, opening, path_of
from support.processes import Serving, run, serving

SAMPLES = samples()
PLAIN = Sample("plain", "ghp_" + MARK + TAIL)
LOG_LEVEL = {"HIVEKEEP_LOG_LEVEL": "debug"}
WRITES = [name for name, operation in OPERATIONS.items() if operation.writes]
Path_ = tuple[Any, ...]


class Answer(NamedTuple):
    """What came back, as it came."""

    status: int
    headers: bytes
    body: bytes

    @property
    def data(self) -> Any:
        """The data of a success."""
        assert self.status == 200, self.body
        return json.loads(self.body)["data"]


class Asker:
    """Sends requests to a server over one connection and looks at every byte that comes back."""

    def __init__(self, server: Serving) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
        self._headers = {"Content-Type": "application/json", **server.headers}
        self._keys = itertools.count(1)
        self.statuses: Counter[tuple[str, int]] = Counter()

    def send(self, method: str, target: str, body: Any = None, **headers: str) -> Answer:
        """The answer to a request; `body` is JSON. Header names have `_` for `-`."""
        sent = {**self._headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        data = None if body is None else json.dumps(body).encode()
        encoded = {name: value.encode() for name, value in sent.items()}
        self._connection.request(method, target, data, encoded)  # type: ignore[arg-type]
        came = self._connection.getresponse()
        answer = Answer(came.status, str(came.headers).encode(), came.read())
        assert not leaks(answer.headers + answer.body), (method, target[:60], answer)
        assert answer.status < 500, answer
        return answer

    def write(self, name: str, run_id: str | None, body: Any) -> Answer:
        """The answer to a write, which is asked twice: the replay says the same status."""
        key = f"key-{next(self._keys)}"
        answer, again = (self.send("POST", path_of(OPERATIONS[name], run_id), body, Idempotency_Key=key) for _ in "12")
        assert again.status == answer.status, (answer, again)
        self.statuses[name, answer.status] += 1
        return answer

    def run(self, body: Any = None) -> str:
        """A new run, active unless the body asks."""
        return str(self.write("agent.open", None, opening() if body is None else body).data["runId"])


@contextmanager
def asked_server(home: Path) -> Iterator[tuple[Serving, Asker]]:
    """A server that logs everything, and who asks it."""
    with serving(home, **LOG_LEVEL) as server:
        yield server, Asker(server)


# bodies with a text in every place


def full_event(**fields: Any) -> dict[str, Any]:
    """An event with every field and with texts at every depth of its payload."""
    given = {
        "eventId": "e-1",
        "sourceEventId": "s-1",
        "sourceSequence": 1,
        "sourceType": "theirs",
        "outcome": "passed",
        "occurredAt": "2026-01-02T03:04:05.678Z",
        "payload": {
            "step": "look",
            "deep": [{"files": ["a"], "note": "b", "stdout": "c"}],
            "url": "https://a.example/",
        },
    }
    return event("source.event", **{**given, **fields})


def full_open() -> dict[str, Any]:
    """An open with every field."""
    return opening(
        client={"kind": "test", "version": "1", "sessionId": "s"},
        metadata={"team": "core", "list": ["a", {"b": "c"}], "path": "/tmp/x"},
        task={
            "title": "a title",
            "query": "build it",
            "profileHints": {"taskType": "build", "target": "t", "expected": "e", "constraints": "c"},
        },
        startedAt="2026-01-02T03:04:05.678Z",
        parentRunId="00000000-0000-4000-8000-000000000000",
        capabilities=[*copy.deepcopy(CATALOG), {"kind": "mcp_tool", "name": "search", "description": "finds things"}],
    )


def full_checkpoint() -> dict[str, Any]:
    """A checkpoint with every field."""
    return {
        "apiVersion": "1",
        "capabilities": copy.deepcopy(CATALOG),
        "events": [event("step.started", payload={"step": "look"}, outcome="x", sourceType="y")],
        "currentGoal": "goal",
        "currentStep": "step",
        "changedPaths": ["a.py"],
        "errorSignatures": ["E1"],
        "unresolvedItems": ["docs"],
        "taskProfileRevision": {"taskType": "build", "target": "t", "expected": "e", "constraints": "c"},
        "characterBudget": 500,
    }


def judged(category: str, **fields: Any) -> dict[str, Any]:
    """Feedback with the fields that each category takes."""
    common = {"apiVersion": "1", "feedbackId": "f-1", "actor": "ann", "comment": "fine", "category": category}
    return {**common, "createdAt": "2026-01-02T03:04:05.678Z", **fields}


BODIES: dict[str, list[Callable[[], dict[str, Any]]]] = {
    "agent.open": [full_open],
    "agent.answer": [
        lambda: {"apiVersion": "1", "questionId": "target", "value": "x", "capabilities": copy.deepcopy(CATALOG)}
    ],
    "agent.events": [lambda: {"apiVersion": "1", "events": [full_event()]}],
    "agent.checkpoint": [
        full_checkpoint,
        lambda: {
            "apiVersion": "1",
            "capabilities": copy.deepcopy(CATALOG),
            "contextFeedback": [
                {"feedbackId": "f", "deliveryId": "d", "entryId": "e", "verdict": "stale", "actor": "a", "comment": "c"}
            ],
        },
    ],
    "agent.close": [lambda: {"apiVersion": "1", "status": "failed", "events": [full_event()]}],
    "agent.feedback": [
        lambda: judged("run", outcome="good", recommendationCode="R", recommendationVerdict="accepted"),
        lambda: judged("context", deliveryId="d", entryId="e", verdict="stale"),
        lambda: judged("intake", questionId="taskType", sessionId="s", verdict="helpful"),
    ],
    "agent.promotions": [
        lambda: {
            "apiVersion": "1",
            "proposalEventId": "p",
            "deliveryId": "d",
            "actor": "ann",
            "createdAt": "2026-01-02T03:04:05.678Z",
            "confirmed": True,
        }
    ],
}


def places(value: Any, at: Path_ = ()) -> Iterator[tuple[Path_, bool]]:
    """The place of every text of a JSON value, and of every object; the latter are marked."""
    if isinstance(value, dict):
        yield at, True
        for key, member in value.items():
            yield from places(member, (*at, key))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from places(member, (*at, number))
    elif isinstance(value, str):
        yield at, False


def planted(body: dict[str, Any], at: Path_, text: str, *, as_key: bool) -> dict[str, Any]:
    """The body with the text at a place, or as a further key of the object there."""
    holder: Any = body
    for step in at if as_key else at[:-1]:
        holder = holder[step]
    holder[text if as_key else at[-1]] = "x" if as_key else text
    fresh(body)
    return body


_numbers = itertools.count(1)


def fresh(body: dict[str, Any]) -> None:
    """Give what names something once a name of its own, unless a credential stands there."""
    for one in body.get("events", ()):
        for name, value in (("eventId", "e-1"), ("sourceEventId", "s-1")):
            if one.get(name) == value:
                one[name] = f"{value}-{next(_numbers)}"
    if body.get("feedbackId") == "f-1":
        body["feedbackId"] = f"f-{next(_numbers)}"
    # A parent that exists is never a credential; where the field is not the one that is tried, it is left out.
    if body.get("parentRunId") == full_open()["parentRunId"]:
        del body["parentRunId"]


class Place(NamedTuple):
    """A text, or an object that gets a further key, in one of the bodies of an operation."""

    operation: str
    variant: int
    at: Path_
    as_key: bool


def everywhere(texts: Callable[[], Iterable[str]]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Each place with a body in which a text stands there, for each text that `texts` gives for a place."""
    for name, makers in BODIES.items():
        for variant, make in enumerate(makers):
            for at, as_key in places(make()):
                for text in texts():
                    yield Place(name, variant, at, as_key), planted(make(), at, text, as_key=as_key)


def ask_everywhere(asker: Asker, texts: Callable[[], Iterable[str]]) -> dict[Place, set[int]]:
    """Ask each of these; the statuses by place."""
    told: dict[Place, set[int]] = {}
    active = asker.run()
    for place, body in everywhere(texts):
        name = place.operation
        run_id: str | None = active
        if name == "agent.open":
            run_id = None
        elif name == "agent.answer":
            run_id = asker.run(asking("build it"))
        elif name == "agent.close":
            run_id = asker.run()
        told.setdefault(place, set()).add(asker.write(name, run_id, body).status)
    return told


def rotating(count: int) -> Callable[[], list[str]]:
    """So many of the samples for each place, other ones each time."""
    texts = itertools.cycle(sample.text for sample in SAMPLES)
    return lambda: list(itertools.islice(texts, count))


# what is masked and what is refused

MASKED = {
    "agent.open": {
        ("client", "kind"),
        ("client", "version"),
        ("client", "sessionId"),
        ("task", "title"),
        ("task", "query"),
        ("task", "profileHints", "target"),
        ("task", "profileHints", "expected"),
        ("task", "profileHints", "constraints"),
        ("metadata", "team"),
        ("metadata", "list", 0),
        ("metadata", "list", 1, "b"),
        ("metadata", "path"),
    },
    "agent.answer": {("value",)},
    "agent.events": {
        ("events", 0, "actor"),
        ("events", 0, "sourceType"),
        ("events", 0, "outcome"),
        ("events", 0, "payload", "step"),
        ("events", 0, "payload", "deep", 0, "files", 0),
        ("events", 0, "payload", "deep", 0, "note"),
        ("events", 0, "payload", "deep", 0, "stdout"),
        ("events", 0, "payload", "url"),
    },
    "agent.checkpoint": {
        ("events", 0, "actor"),
        ("events", 0, "sourceType"),
        ("events", 0, "outcome"),
        ("events", 0, "payload", "step"),
        ("currentGoal",),
        ("currentStep",),
        ("changedPaths", 0),
        ("errorSignatures", 0),
        ("unresolvedItems", 0),
        ("taskProfileRevision", "target"),
        ("taskProfileRevision", "expected"),
        ("taskProfileRevision", "constraints"),
    },
    "agent.feedback": {("feedbackId",), ("actor",), ("comment",), ("outcome",), ("recommendationCode",)},
    "agent.promotions": set(),
}
MASKED["agent.close"] = MASKED["agent.events"]
NAMES = {
    ("agent.open", ("workspace",)),
    *(
        (name, ("events", 0, field))
        for name in ("agent.events", "agent.close")
        for field in ("eventId", "sourceEventId")
    ),
}
"""Where a credential cannot be masked, because the text there names something."""
ABSENT = {
    "agent.open": {("parentRunId",)},
    "agent.checkpoint": {
        ("contextFeedback", 0, field) for field in ("feedbackId", "deliveryId", "entryId", "actor", "comment")
    },
    "agent.feedback": {("deliveryId",), ("entryId",), ("sessionId",), ("questionId",)},
    "agent.promotions": {("proposalEventId",), ("deliveryId",), ("actor",)},
}
"""Where it is masked and then names nothing, or stands beside what names nothing."""
FREE = ("metadata", "payload")


def expected(place: Place) -> int:
    """The status of a write with a credential there that has the shape of an id."""
    name, variant, at, as_key = place
    if at[:1] == ("capabilities",):
        # A catalog is no reason to refuse an open: what is malformed in it is dropped. Later it must be the same.
        return 200 if name == "agent.open" else 409
    if as_key:
        return 422 if any(field in at for field in FREE) else 400
    if (name, at) in NAMES:
        return 422
    if at in ABSENT.get(name, ()):
        return 404
    if at not in MASKED[name]:
        return 400
    # Other feedback than that about the run is about something that is not there.
    return 404 if variant else 200


def test_every_kind_of_credential_is_tried() -> None:
    """A shape that the tables get is tried from then on; each sample is masked, and each spelling of it is seen."""
    assert [row.name for row, text in detected() if MARK not in text] == []
    for sample in SAMPLES:
        assert leaks(sample.text.encode()) == {"plain"}
        assert not leaks(json.dumps(sanitise({"text": sample.text}).value).encode()), sample
    assert not leaks(json.dumps(sanitise(telling()).value).encode())
    assert leaks(b"x" + bytes(MARK.encode().hex(), "ascii")) == {"hex"}
    assert set(spellings().values()) >= {"plain", "hex", "JSON escapes", "percent escapes", "base64 at 0"}


def test_a_credential_in_any_text_key_url_or_path_is_nowhere(tmp_path: Path) -> None:
    """Two kinds in turn in each place of each write, asked twice: no answer, no file and no log line holds it.

    The places are those of every text and every object of full bodies; what is masked there is a success.
    """
    with asked_server(tmp_path) as (server, asker):
        plain = ask_everywhere(asker, lambda: [PLAIN.text])
        ask_everywhere(asker, rotating(2))
        _ask_telling(asker)
        _ask_outside_of_bodies(asker)
        _ask_reads(asker)
        assert leaking_files(tmp_path) == {}
        _checkpoint_database(tmp_path)
        assert leaking_files(tmp_path) == {}
        assert server.stop() == 0
    assert leaking_files(tmp_path) == {}
    assert plain == {place: {expected(place)} for place in plain}
    assert {name for name, status in asker.statuses if status == 200} == set(WRITES)
    examined = run(tmp_path, "doctor", "--json", **LOG_LEVEL)
    assert examined.returncode == 0, examined
    assert not leaks(examined.stdout + examined.stderr)


@pytest.mark.slow
def test_every_kind_in_every_place(tmp_path: Path) -> None:
    """The same with all kinds in all places (60 s)."""
    with asked_server(tmp_path) as (server, asker):
        ask_everywhere(asker, lambda: [sample.text for sample in SAMPLES])
        assert server.stop() == 0
    assert leaking_files(tmp_path) == {}


def _ask_telling(asker: Asker) -> None:
    """Keys that say what they hold, in what is free of form; all samples in one payload, and a proposal of one."""
    run_id = asker.run(opening(metadata={**telling(), "list": [telling()]}))
    every = {f"t{number}": sample.text for number, sample in enumerate(SAMPLES)}
    payloads: list[Any] = [telling(), [telling()], every, list(every.values()), {"deep": [[{"x": every}]]}]
    for payload in payloads:
        asker.write("agent.events", run_id, {"apiVersion": "1", "events": [event(payload=payload)]})
    for sample in SAMPLES:
        proposal_id = f"proposal-{next(_numbers)}"
        said = {"kind": "lesson", "title": "a title", "body": sample.text, "tags": ["a"]}
        proposal = event("memory.proposed", eventId=proposal_id, payload=said)
        asker.write("agent.events", run_id, {"apiVersion": "1", "events": [proposal]})
        body = {**BODIES["agent.promotions"][0](), "proposalEventId": proposal_id}
        del body["deliveryId"]
        told = asker.write("agent.promotions", run_id, body)
        # What cleaning a URL or a path leaves is no mark of a credential; that may become an entry.
        assert told.status in (200, 422, 409), (sample, told)


def _ask_outside_of_bodies(asker: Asker) -> None:
    """Headers, paths and query strings, of requests that are right otherwise and of some that are not."""
    run_id = asker.run()
    events = path_of(OPERATIONS["agent.events"], run_id)
    texts = [sample.text for sample in SAMPLES if "\n" not in sample.text and len(sample.text) < 250]
    for _row, text in detected():
        for method, body in (("GET", None), ("POST", {})):
            assert asker.send(method, f"/api/v1/verbs/{quote(text, safe='')}", body).status in (404, 405)
    for text in texts:
        body = {"apiVersion": "1", "events": [event()]}
        key = f"{text} {next(_numbers)}"
        for header in ("Hivekeep_Actor", "Hivekeep_Namespace", "Hivekeep_Session"):
            told = asker.send("POST", events, body, **{header: text, "Idempotency_Key": f"k-{next(_numbers)}"})
            assert told.status in (400, 422), (header, text, told)
        asker.send("POST", events, body, Idempotency_Key=key)
        asker.send("POST", events, body, Idempotency_Key=key)
        asker.send("POST", events, body, Idempotency_Key=f"k-{next(_numbers)}", User_Agent=text, Cookie=text)
        for header in ("Authorization", "Host", "Origin", "Content_Type"):
            assert asker.send("POST", events, body, **{header: text, "Idempotency_Key": "k"}).status in (400, 401)
        spelled = quote(text, safe="")
        for target in (
            f"/api/v1/{spelled}",
            f"/api/v1/agent/runs/{spelled}",
            f"/api/v1/agent/runs/{spelled}/events",
            f"/api/v1/agent/runs/{run_id}/{spelled}",
            f"/{spelled}",
        ):
            assert asker.send("GET", target).status in (400, 404, 405)
            assert asker.send("POST", target, body, Idempotency_Key="k").status in (400, 404, 405)
        for target in (f"{events}?{spelled}=1", f"{events}?x={spelled}"):
            assert asker.send("POST", target, body, Idempotency_Key="k").status == 400


def _ask_reads(asker: Asker) -> None:
    """The reads with credentials as what they look for; and what the verbs show of all that was done."""
    run_id = asker.run()
    for sample in SAMPLES:
        text = quote(sample.text, safe="")
        for query in (f"workspace={text}", f"workspace=demo&client={text}", f"workspace=demo&cursor={text}"):
            assert asker.send("GET", f"/api/v1/agent/runs?{query}").status in (200, 400)
        for query in (f"type={text}", f"after={text}", f"{text}=1"):
            assert asker.send("GET", f"/api/v1/agent/runs/{run_id}/events?{query}").status == 400
    cursor = None
    while True:
        page = asker.send("GET", f"/api/v1/agent/runs?workspace=demo{f'&cursor={cursor}' if cursor else ''}").data
        for item in page["items"]:
            for tail in ("", "/intake", "/events"):
                asker.send("GET", f"/api/v1/agent/runs/{item['runId']}{tail}")
        cursor = page["nextCursor"]
        if cursor is None:
            break
    for verb, args in (
        ("list", {"kind": "event", "limit": 1000}),
        ("list", {"kind": "note"}),
        ("search", {"query": MARK}),
        ("stats", {}),
        ("scan", {}),
    ):
        told = asker.send("POST", f"/api/v1/verbs/{verb}", args)
        assert told.status == 200 or verb in ("search", "scan"), told


def _checkpoint_database(home: Path) -> None:
    """Move everything from the log of the database into it, and ask its text indexes, which keep texts in pieces."""
    [database] = home.rglob("hivekeep.db")
    connection = apsw.Connection(str(database))
    try:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0] == 0
        indexes = connection.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5(%'").fetchall()
        indexes += connection.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5 (%'").fetchall()
        assert len(indexes) >= 2
        for (name,) in indexes:
            for half in (MARK[:8], MARK[8:]):
                found = connection.execute(f"SELECT count(*) FROM {name} WHERE {name} MATCH ?", (f'"{half}"*',))
                assert found.fetchall() == [(0,)], name
    finally:
        connection.close()


# what is hashed


class _Recorded:
    """A hash function that keeps what it is given."""

    def __init__(self, real: Callable[..., Any], given: list[bytes]) -> None:
        self._real, self._given = real, given

    def __call__(self, data: bytes = b"", **options: Any) -> Any:
        self._given.append(bytes(data))
        return self._real(data, **options)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Whatever SHA-256 is given from now on."""
    given: list[bytes] = []
    recorded = _Recorded(hashlib.sha256, given)
    monkeypatch.setattr(hashlib, "sha256", recorded)
    monkeypatch.setattr(dispatch_gateway, "sha256", recorded)
    return given


def test_no_credential_is_hashed(hashed: list[bytes], tmp_path: Path) -> None:
    """Not in a request, an event, a profile, a task, a catalog or a delivery, whether the request succeeds or not."""
    with open_in_process(tmp_path / "store.db") as gateway:
        _ask_in_process(gateway, rotating(2))
        _ask_in_process(gateway, lambda: [PLAIN.text])
    assert len(hashed) > 1000
    assert [data for data in hashed if leaks(data)] == []


def test_a_credential_and_its_mark_are_one_request(hashed: list[bytes], gateway: Gateway) -> None:
    """The hash of a request is that of its sanitised form, so two credentials of a kind are the same request."""
    run_id = gateway.opened()
    first = gateway.events(run_id, event(payload={"a": "ghp_" + MARK + TAIL}), key="k")
    again = gateway.events(run_id, event(payload={"a": "ghp_" + TAIL + MARK}), key="k")
    marked = gateway.events(run_id, event(payload={"a": "[REDACTED:known_token_prefix]"}), key="k")
    assert first.data == again.data == marked.data
    assert gateway.run(run_id)["lastSequence"] == 4


def _ask_in_process(gateway: Gateway, texts: Callable[[], Iterable[str]]) -> None:
    active = gateway.opened()
    for (name, *_place), body in everywhere(texts):
        run_id: str | None = active
        if name == "agent.open":
            run_id = None
        elif name == "agent.answer":
            run_id = gateway.opened(asking("build it"))
        elif name == "agent.close":
            run_id = gateway.opened()
        reply = gateway.ask(name, run_id, body)
        assert reply.status < 500
        assert not leaks(json.dumps(reply.envelope).encode())


# the command line


def test_the_command_line_keeps_no_credential(tmp_path: Path) -> None:
    """Entries, files that are taken in, runs and writes that wait on disk: nothing in the database, nothing said."""
    given = tmp_path / "given"
    home = tmp_path / "home"
    given.mkdir()
    home.mkdir()
    said: list[bytes] = []

    def command(*arguments: str, stdin: bytes = b"") -> int:
        done = run(home, *arguments, stdin=stdin, **LOG_LEVEL)
        said.append(done.stdout + done.stderr)
        return done.returncode

    text = PLAIN.text
    fields = {"kind": "fact", "title": "t", "body": "b", "summary": "s", "tags": ["a"], "scope": {"a": "b"}}
    for at, as_key in places(fields):
        if at != ("kind",):
            entry = planted(copy.deepcopy(fields), at, text, as_key=as_key)
            whole = json.dumps(entry).encode()
            status = command("curated", "record", "--workspace", "w", "--input-json", "-", "--json", stdin=whole)
            assert status == (3 if as_key and at == () else 7), (at, as_key)
    assert command("curated", "record", "--kind", "fact", "--title", "t", "--body", "b", "--workspace", text) == 7
    right = ("curated", "record", "--kind", "fact", "--title", "t", "--body", "b", "--workspace", "w")
    assert command(*right) == 0
    assert command(*right, "--actor", text) != 0
    assert command("curated", "export", "--workspace", "w", "--out", str(given / "right.jsonl")) == 0
    records = [json.loads(line) for line in (given / "right.jsonl").read_bytes().splitlines()[1:]]
    refused = set()
    for number, record in enumerate(records):
        for at, as_key in places(record):
            changed = planted(copy.deepcopy(record), at, text, as_key=as_key)
            (given / "wrong.jsonl").write_bytes(_sealed([*records[:number], changed, *records[number + 1 :]]))
            status = command("curated", "import", str(given / "wrong.jsonl"), "--json")
            assert status in (3, 7), (record, at, as_key)
            refused.add((record["type"], at, status))
    assert {("revision", (field,), 7) for field in ("title", "body")} <= refused
    assert command("curated", "search", text, "--workspace", "w") == 0
    waiting = json.dumps({"apiVersion": "1", "events": [event(payload={"a": text, **telling()})]}).encode()
    spooled = ("agent", "events", "0" * 8 + "-0000-4000-8000-" + "0" * 12, "--input-json", "-", "--spool")
    assert command(*spooled, stdin=waiting) == 0
    assert any("spool" in str(file) for file in home.rglob("*.json"))
    assert [told for told in said if leaks(told)] == []
    assert leaking_files(home) == {}


def _sealed(records: list[Any]) -> bytes:
    """An export of these records with a checksum that is right."""
    lines = b"".join(json.dumps(record, separators=(",", ":"), sort_keys=True).encode() + b"\n" for record in records)
    seal = {"sha256": hashlib.sha256(lines).hexdigest(), "type": "checksum"}
    return json.dumps(seal, separators=(",", ":"), sort_keys=True).encode() + b"\n" + lines
