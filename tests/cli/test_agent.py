"""`hivekeep agent` against a running server: what a program reads, what a person reads, keys, files and statuses."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import httpx
import pytest

from hivekeep_contract.gateway import OPERATIONS
from support.processes import Serving, run, serving

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="serve is for Linux and macOS")

KEY_LINE = re.compile(r"hivekeep: idempotency key ([0-9a-f-]{36})\n")
CATALOG = [{"kind": "skill", "name": "kiokuko-soul"}, {"kind": "skill", "name": "memory-reasoning"}]
HINTS = {"taskType": "build", "target": "parser", "expected": "tests pass"}
COMMANDS = [
    (["open", "--title", "t", "--workspace", "w"], "agent.open"),
    (["answer", "r", "--question", "target", "--value", "v"], "agent.answer"),
    (["events", "r", "--input-json", "-"], "agent.events"),
    (["checkpoint", "r", "--input-json", "-"], "agent.checkpoint"),
    (["close", "r", "--input-json", "-"], "agent.close"),
    (["feedback", "r", "--input-json", "-"], "agent.feedback"),
    (["promote", "r", "--input-json", "-"], "agent.promotions"),
    (["runs", "--workspace", "w"], "agent.runs.list"),
    (["show", "r"], "agent.run.read"),
    (["timeline", "r"], "agent.events.list"),
]
EVENT = {"events": [{"eventType": "step.started", "actor": "me", "payload": None}]}
PARTIAL = "partial (declared run, tool, command, file; unavailable approval)"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands name."""
    folder = tmp_path_factory.mktemp("home")
    for name, value in (("catalog", CATALOG), ("hints", HINTS), ("metadata", {"ticket": 7})):
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Serving]:
    """One server for the tests that leave it running."""
    with serving(home) as started:
        yield started


def agent(home: Path, *arguments: str, body: Any = None) -> CompletedProcess[bytes]:
    """One command; a body goes in as a file on standard input."""
    more = [] if body is None else ["--input-json", "-"]
    return run(home, "agent", *arguments, *more, stdin=b"" if body is None else json.dumps(body).encode())


def told(home: Path, *arguments: str, body: Any = None) -> dict[str, Any]:
    """The data of a command that succeeds; the key of a write is in no member of it."""
    done = agent(home, *arguments, "--json", body=body)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 1), done.stderr
    envelope: dict[str, Any] = json.loads(done.stdout)
    assert set(envelope) == {"apiVersion", "ok", "operation", "data", "meta"}
    data: dict[str, Any] = envelope["data"]
    return data


def opened(home: Path, *arguments: str) -> str:
    """The id of a run that is active, with both Skills."""
    options = ["--workspace", "demo", "--hints", "hints.json", "--capabilities", "catalog.json", *arguments]
    data = told(home, "open", "--title", "build the parser", *options)
    assert data["runStatus"] == "active"
    return str(data["runId"])


@pytest.fixture(scope="module")
def active(home: Path, server: Serving) -> str:
    """A run that takes events."""
    return opened(home)


class TestWithoutServer:
    @pytest.mark.parametrize(("arguments", "operation"), COMMANDS)
    def test_every_command_fails_and_makes_no_database(
        self, tmp_path: Path, arguments: list[str], operation: str
    ) -> None:
        """Status 6 and one envelope; the database is not there afterwards, nor anything else."""
        done = run(tmp_path, "agent", *arguments, "--json", stdin=b"{}")
        error = {
            "code": "SERVICE_UNAVAILABLE",
            "message": "service unavailable",
            "details": {"reason": "no_server"},
        }
        envelope = {"apiVersion": "1", "ok": False, "operation": operation, "error": error}
        assert (done.returncode, json.loads(done.stdout)) == (6, envelope)
        assert done.stderr.endswith(b"hivekeep: service unavailable: No server of this database is running.\n")
        assert list(tmp_path.iterdir()) == []

    def test_all_operations_have_a_command(self) -> None:
        """What the gateway offers the command line offers; the intake is read by `show`."""
        assert {operation for _, operation in COMMANDS} | {"agent.intake.read"} == set(OPERATIONS)

    def test_a_stale_descriptor_is_no_server(self, tmp_path: Path) -> None:
        """After the server is killed there is a descriptor, and nobody to ask."""
        with serving(tmp_path) as server:
            server.process.kill()
            server.process.wait()
            done = run(tmp_path, "agent", "runs", "--workspace", "w")
            assert (done.returncode, done.stdout) == (6, b"")


class TestWalk:
    """One run from its opening to its end, as a script does it."""

    def test_a_run_is_opened_answered_reported_and_closed(self, home: Path, server: Serving) -> None:
        """Every write is answered with the envelope of the server as it came."""
        asked = told(home, "open", "--title", "build it", "--workspace", "walk", "--capabilities", "catalog.json")
        run_id = asked["runId"]
        assert (asked["runStatus"], asked["question"]["id"]) == ("intake", "target")
        for question, value in (("target", "parser"), ("expected", "tests pass")):
            answer = ["--question", question, "--value", value, "--capabilities", "catalog.json"]
            asked = told(home, "answer", run_id, *answer)
        assert (asked["runStatus"], asked["nextAction"]) == ("active", "proceed")
        proposal = {"kind": "lesson", "title": "Tests first", "body": "They found it."}
        event = {"eventType": "memory.proposed", "actor": "me", "payload": proposal, "eventId": "proposal-1"}
        assert told(home, "events", run_id, body={"events": [event]})["localSequences"] == [6]
        point = {"currentGoal": "parse", "changedPaths": ["a.py"]}
        checkpoint = told(home, "checkpoint", run_id, "--capabilities", "catalog.json", body=point)
        assert (checkpoint["localSequences"], checkpoint["projection"]["throughSequence"]) == ([7, 8], 8)
        made = {
            "proposalEventId": "proposal-1",
            "actor": "me",
            "createdAt": "2026-01-02T03:04:05.678Z",
            "confirmed": True,
        }
        assert told(home, "promote", run_id, body=made)["entry"]["status"] == "candidate"
        judged = told(home, "feedback", run_id, body={"category": "run", "feedbackId": "f1", "rating": 5})
        assert (judged["category"], judged["record"]["rating"]) == ("run", 5)
        assert told(home, "close", run_id, body={"status": "completed"})["runStatus"] == "completed"
        assert told(home, "show", run_id)["status"] == "completed"
        assert [one["runId"] for one in told(home, "runs", "--workspace", "walk")["items"]] == [run_id]
        page = told(home, "timeline", run_id, "--after", "5", "--limit", "2")
        assert ([event["sequence"] for event in page["items"]], page["nextCursor"]) == ([6, 7], 7)

    def test_what_is_not_said_is_sent_as_a_command_line_knows_it(self, home: Path, active: str) -> None:
        """Client, capture profile and coverage of the contract; of approvals a command line sees nothing."""
        found = told(home, "show", active)
        assert found["client"] == {"kind": "hivekeep-cli"}
        assert found["captureProfile"] == "standard"
        assert found["coverage"] == {
            "run": "declared",
            "tool": "declared",
            "command": "declared",
            "file": "declared",
            "approval": "unavailable",
        }
        assert found["metadata"] == {}

    def test_what_is_said_is_sent(self, home: Path, server: Serving) -> None:
        """`full` is called diagnostic on the wire; files become parts of the body."""
        coverage = dict.fromkeys(("run", "tool", "command", "file", "approval"), "complete")
        (home / "coverage.json").write_text(json.dumps(coverage))
        options = ["--client-kind", "codex", "--capture", "full", "--coverage", "coverage.json"]
        found = told(home, "show", opened(home, *options, "--metadata", "metadata.json"))
        assert (found["client"], found["captureProfile"]) == ({"kind": "codex"}, "diagnostic")
        assert (found["coverage"], found["metadata"]) == (coverage, {"ticket": 7})

    def test_the_workspace_is_that_of_the_current_directory(self, home: Path, server: Serving) -> None:
        """A project file names it, as for the curated memory."""
        project = {"schemaVersion": 1, "repositoryId": "repo_here", "workspace": "here"}
        (home / ".hivekeep.json").write_text(json.dumps(project))
        try:
            run_id = told(home, "open", "--title", "build it")["runId"]
            assert [run["runId"] for run in told(home, "runs")["items"]] == [run_id]
        finally:
            (home / ".hivekeep.json").unlink()
        assert told(home, "show", run_id)["workspace"] == "here"

    def test_the_whole_body_of_an_opening_can_be_a_file(self, home: Path, server: Serving) -> None:
        """Whatever the interface takes, without an option for it."""
        body = {
            "workspace": "whole",
            "client": {"kind": "script", "version": "2", "sessionId": "s"},
            "task": {"title": "t", "query": "build it", "profileHints": HINTS},
            "captureProfile": "minimal",
            "coverage": dict.fromkeys(("run", "tool", "command", "file", "approval"), "best_effort"),
            "startedAt": "2026-01-02T03:04:05.678Z",
        }
        run_id = told(home, "open", body=body)["runId"]
        found = told(home, "show", run_id)
        assert (found["client"], found["startedAt"]) == (body["client"], body["startedAt"])

    def test_who_asks_travels_with_the_request(self, home: Path, server: Serving) -> None:
        """The actor of the settings is the one of the audit row."""
        told(home, "open", "--title", "build it", "--workspace", "actors", "--actor", "ada")
        asked = {"kind": "event", "event_kind": "audit"}
        answer = httpx.post(f"{server.url}/api/v1/verbs/list", json=asked, headers=server.headers).json()
        rows = [row for row in answer["result"]["items"] if row["actor"].endswith("ada")]
        assert [row["verb"] for row in rows] == ["agent.open"]


class TestShortForms:
    def test_a_proposal_is_reported_promoted_and_the_run_ended_without_a_body(
        self, home: Path, server: Serving
    ) -> None:
        """The event names type, payload and outcome, the promotion the proposal, the end its status."""
        run_id = opened(home)
        proposal = {"kind": "lesson", "title": "Short forms", "body": "They are for hooks."}
        options = ["--type", "memory.proposed", "--outcome", "passed", "--actor", "ann", "--payload", "-"]
        done = run(home, "agent", "events", run_id, *options, stdin=json.dumps(proposal).encode())
        number, event_id = done.stdout.decode().splitlines()[-1].removeprefix("event").split(",")
        assert (done.returncode, number.strip()) == (0, "4")
        (stored,) = told(home, "timeline", run_id, "--after", "3")["items"]
        shown = {name: stored[name] for name in ("eventId", "eventType", "actor", "outcome", "payload")}
        wanted = {"eventType": "memory.proposed", "actor": "ann", "outcome": "passed", "payload": proposal}
        assert shown == {"eventId": event_id.strip(), **wanted}
        entry = told(home, "promote", run_id, "--proposal", event_id.strip(), "--actor", "ann")["entry"]
        assert (entry["title"], entry["status"], entry["createdBy"]) == ("Short forms", "candidate", "ann")
        assert told(home, "close", run_id, "--status", "cancelled")["runStatus"] == "cancelled"

    def test_an_event_without_payload_is_of_the_command_line(self, home: Path, active: str) -> None:
        """Its actor is the client that the command line calls itself, its payload null, its outcome none."""
        number = told(home, "events", active, "--type", "step.started")["acceptedThrough"]
        (stored,) = told(home, "timeline", active, "--after", str(number - 1))["items"]
        assert (stored["actor"], stored["payload"], stored["outcome"]) == ("hivekeep-cli", None, None)

    @pytest.mark.parametrize(
        "arguments",
        [
            ["events", "r"],
            ["events", "r", "--outcome", "passed"],
            ["events", "r", "--type", "step.started", "--input-json", "-"],
            ["promote", "r", "--delivery", "d"],
            ["close", "r"],
        ],
    )
    def test_a_body_is_given_once(self, home: Path, arguments: list[str]) -> None:
        """Neither twice nor not at all: status 2, and nothing is sent."""
        done = agent(home, *arguments)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"and what belongs to it, or the whole body with --input-json" in done.stderr


class TestKeys:
    def test_a_new_key_is_told_and_repeats_the_write(self, home: Path, active: str) -> None:
        """The line on standard error is all that a retry needs: the same key answers the same."""
        done = agent(home, "events", active, "--json", body=EVENT)
        key = KEY_LINE.fullmatch(done.stderr.decode())
        assert key is not None
        again = agent(home, "events", active, "--json", "--idempotency-key", key[1], body=EVENT)
        assert (again.returncode, again.stderr, again.stdout) == (0, b"", done.stdout)
        other = agent(home, "events", active, "--json", body=EVENT)
        assert json.loads(other.stdout)["data"]["localSequences"] != json.loads(done.stdout)["data"]["localSequences"]

    def test_a_key_in_the_body_becomes_the_key(self, home: Path, active: str) -> None:
        """It is taken out of the body, which must not have it; the option says the same."""
        body = {**EVENT, "idempotencyKey": "from the body"}
        first = agent(home, "events", active, "--json", body=body)
        second = agent(home, "events", active, "--json", "--idempotency-key", "from the body", body=body)
        assert (first.returncode, first.stderr, second.stdout) == (0, b"", first.stdout)

    def test_a_key_of_another_request_is_a_conflict(self, home: Path, active: str) -> None:
        """Status 5, and the reason in words."""
        agent(home, "events", active, "--idempotency-key", "taken", body=EVENT)
        body = {"events": [{"eventType": "step.started", "actor": "you", "payload": None}]}
        done = agent(home, "events", active, "--idempotency-key", "taken", body=body)
        assert (done.returncode, done.stdout) == (5, b"")
        assert done.stderr == (
            b"hivekeep: conflicts with current state: The Idempotency-Key was used before with another request.\n"
        )

    @pytest.mark.parametrize(
        ("option", "member", "status"),
        [("a", "b", 2), (None, 7, 3), (" a", None, 3), (None, "", 3), (None, "x" * 257, 3)],
    )
    def test_a_key_that_is_none(self, home: Path, active: str, option: str | None, member: Any, status: int) -> None:
        """Two keys are a usage error, a malformed one is a validation error; nothing is sent."""
        body = EVENT if member is None else {**EVENT, "idempotencyKey": member}
        options = [] if option is None else ["--idempotency-key", option]
        assert agent(home, "events", active, *options, body=body).returncode == status


class TestFailures:
    def test_statuses_are_those_of_the_contract(self, home: Path, server: Serving, active: str) -> None:
        """Not found is 4, validation 3, conflict 5; with --json the envelope is the server's."""
        unknown = agent(home, "show", "6f1f64a9-5f0b-4a1e-9df7-5d2c0f2a9b11", "--json")
        assert (unknown.returncode, json.loads(unknown.stdout)["error"]["code"]) == (4, "NOT_FOUND")
        invalid = agent(home, "close", active, "--json", body={"status": "perhaps"})
        assert (invalid.returncode, json.loads(invalid.stdout)["error"]["details"]["field"]) == (3, "/status")
        assert agent(home, "answer", active, "--question", "target", "--value", "x").returncode == 5

    @pytest.mark.parametrize("text", ["", "[]", "{", '{"a":1,"a":2}', '{"a":NaN}', '{"a":"\\ud800"}', "[" * 5000])
    def test_a_body_that_is_no_object_is_not_sent(self, home: Path, active: str, text: str) -> None:
        """Status 3, one line, never a traceback."""
        (home / "bad.json").write_text(text)
        done = agent(home, "events", active, "--input-json", "bad.json")
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (3, b"", 1)

    def test_a_file_that_cannot_be_read_is_a_usage_error(self, home: Path, active: str) -> None:
        """One that is missing, and a folder."""
        for name in ("missing.json", "."):
            done = agent(home, "events", active, "--input-json", name)
            assert (done.returncode, done.stderr) == (
                2,
                b"hivekeep: invalid request: A file that the command names cannot be read.\n",
            )

    def test_a_body_is_at_most_two_mebibytes(self, home: Path, active: str) -> None:
        """A larger one is not sent."""
        done = agent(home, "events", active, "--json", body={"events": ["x" * 2_097_152]})
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["code"], error["details"]["reason"]) == (3, "VALIDATION_ERROR", "body_too_large")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["open", "--workspace", "w"],
            ["open", "--title", "t", "--input-json", "hints.json"],
            ["open", "--title", "t", "--capture", "diagnostic"],
            ["answer", "r", "--question", "target"],
            ["answer", "r", "--question", "target", "--value", "v", "--input-json", "hints.json"],
            ["answer", "r", "--question", "colour", "--value", "v"],
            ["events", "r"],
            ["runs", "--limit", "101"],
            ["timeline", "r", "--type", "nonsense"],
            ["nonsense"],
        ],
    )
    def test_a_wrong_call_is_a_usage_error(self, home: Path, arguments: list[str]) -> None:
        """Status 2 and an explanation; with --json one envelope beside it."""
        done = run(home, "agent", *arguments)
        assert (done.returncode, done.stdout) == (2, b"")
        asked = run(home, "agent", *arguments, "--json")
        assert (asked.returncode, json.loads(asked.stdout)["error"]["code"]) == (2, "USAGE_ERROR")

    def test_the_token_is_in_no_output(self, home: Path, server: Serving, active: str) -> None:
        """Neither with a success nor with a failure, on neither stream."""
        token = server.descriptor["capabilityToken"].encode()
        for done in (agent(home, "show", active), agent(home, "show", "x"), agent(home, "close", "x", body={})):
            assert token not in done.stdout + done.stderr


class TestForPeople:
    def test_what_a_client_cannot_report_is_shown_with_the_run(self, home: Path, active: str) -> None:
        """In the list, in the run, above the timeline, and at the opening and each checkpoint."""
        assert "partial, no approval" in agent(home, "runs", "--workspace", "demo").stdout.decode()
        assert f"coverage  {PARTIAL}\n" in agent(home, "show", active).stdout.decode()
        head = agent(home, "timeline", active).stdout.decode().splitlines()[0]
        assert head == f"build the parser (active); coverage {PARTIAL}"
        done = agent(home, "open", "--title", "build it", "--workspace", "people")
        assert f"coverage  {PARTIAL}\n" in done.stdout.decode()
        point = agent(home, "checkpoint", active, "--capabilities", "catalog.json", body={"currentStep": "look"})
        assert f"coverage  {PARTIAL}\n" in point.stdout.decode()

    def test_a_question_is_shown_with_what_may_be_answered(self, home: Path, server: Serving) -> None:
        """Its slot, its text and, for the sort of task, the choices."""
        done = agent(home, "open", "--title", "something", "--workspace", "people")
        (line,) = [line for line in done.stdout.decode().splitlines() if line.startswith("question")]
        assert line.startswith("question  taskType: ")
        assert line.endswith(" (build, debug, research, review, devops, writing, analysis)")

    def test_advice_that_is_pointed_at_is_told_once(self, home: Path, server: Serving) -> None:
        """The nudge of a checkpoint stands first and not among the advice again."""
        run_id = opened(home)
        options = ["--capabilities", "catalog.json"]
        lines = agent(home, "checkpoint", run_id, *options, body={"errorSignatures": ["boom"]}).stdout.decode()
        told = [line.split(None, 1) for line in lines.splitlines() if line.startswith(("note ", "advice "))]
        assert [label for label, _ in told] == ["note", "advice"]
        assert told[0][1] != told[1][1]

    def test_a_timeline_is_one_line_an_event(self, home: Path, server: Serving) -> None:
        """Numbers, moments, types, who, how it ended, its id and the payload, whatever a terminal makes of it."""
        run_id = opened(home)
        event = {"eventType": "source.event", "sourceType": "my.kind", "actor": "me", "outcome": "passed"}
        agent(home, "events", run_id, body={"events": [{**event, "payload": "a\n\x1b[31mb"}]})
        lines = agent(home, "timeline", run_id).stdout.decode().splitlines()
        assert lines[2].split() == ["NO", "TIME", "(UTC)", "TYPE", "ACTOR", "OUTCOME", "EVENT", "PAYLOAD"]
        number, _, _, *rest = lines[-1].split()
        event_id = rest.pop(3)
        assert (number, rest) == ("4", ["my.kind", "me", "passed", '"a\\n\\u001b[31mb"'])
        stored = told(home, "timeline", run_id)["items"]
        assert event_id == stored[-1]["eventId"]

    def test_a_page_says_how_to_go_on(self, home: Path, server: Serving) -> None:
        """Lists that do not end name the option and its value."""
        for _ in range(2):
            agent(home, "open", "--title", "build it", "--workspace", "pages")
        shown = agent(home, "runs", "--workspace", "pages", "--limit", "1").stdout.decode().splitlines()
        option, cursor = shown[-1].removeprefix("more: ").split()
        rest = agent(home, "runs", "--workspace", "pages", option, cursor).stdout.decode().splitlines()
        assert (shown[1].split()[0] != rest[1].split()[0], len(rest)) == (True, 2)
        assert agent(home, "runs", "--workspace", "empty").stdout == b"no runs\n"

    def test_a_run_is_shown_whole(self, home: Path, server: Serving) -> None:
        """Who reports, where it stands, what is known of the task, and what was added to it."""
        run_id = opened(home, "--metadata", "metadata.json")
        lines = dict(line.split(None, 1) for line in agent(home, "show", run_id).stdout.decode().splitlines())
        assert lines["run"] == run_id
        assert (lines["title"], lines["workspace"], lines["status"]) == ("build the parser", "demo", "active")
        assert (lines["client"], lines["capture"], lines["events"]) == ("hivekeep-cli", "standard", "3")
        assert lines["profile"] == "taskType build; target parser; expected tests pass"
        assert (lines["intake"], lines["metadata"]) == ("ready", '{"ticket":7}')
