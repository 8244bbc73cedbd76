"""Keep one task as a run of the agent gateway, with nothing but the standard library.

It does what a coding agent does: opens the run, puts the questions of the intake to the person, shows the context that
earlier work left, runs a check and reports what became of it, asks for advice, gives a verdict on each delivered entry,
proposes a lesson, and closes the run. `Gateway` is the whole client; another agent can copy it.

    hivekeep serve &
    python examples/agent_run.py "Mend the parser tests" --workspace parser -- pytest -q

Questions are read from standard input, one line each; an empty line means that the person does not know.
"""

import argparse
import http.client
import json
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WAITS_S = (1, 1, 2, 5)
TIMEOUT_S = 60
BUSY = ("BACKPRESSURE", "SERVICE_UNAVAILABLE")
ASK_AGAIN = ("context_changed", "run_moved_on", "store_unavailable")
AGENT = "example-agent"
COVERAGE = {
    "run": "declared",
    "tool": "unavailable",
    "command": "declared",
    "file": "unavailable",
    "approval": "unavailable",
}
SKILLS = [{"kind": "skill", "name": name} for name in ("kiokuko-soul", "memory-reasoning")]
UNKNOWN = "unknown"
VERDICTS = ("helpful", "irrelevant", "stale", "conflicting")


class RefusedError(Exception):
    """The gateway said no; the text is its code, with the reason and the field where it names them."""


class Gateway:
    """The running server, as its runtime descriptor names it."""

    def __init__(self, descriptor: Path) -> None:
        known = json.loads(descriptor.read_text(encoding="utf-8"))
        address = urlsplit(known["baseUrl"])
        # urllib would hand the token to a proxy of the environment; http.client knows none.
        self._server = http.client.HTTPConnection(str(address.hostname), address.port, timeout=TIMEOUT_S)
        self._token = known["capabilityToken"]

    def write(self, path: str, **fields: Any) -> dict[str, Any]:
        """Carry out one write and give its data. What may be sent again is, under the same key, and counts once."""
        key, body = str(uuid.uuid4()), json.dumps({"apiVersion": "1", **fields})
        for wait in WAITS_S:
            envelope = self._post(path, key, body)
            if envelope is not None and envelope["ok"]:
                data: dict[str, Any] = envelope["data"]
                return data
            if envelope is not None and not may_pass(envelope["error"]):
                raise RefusedError(told(envelope["error"]))
            time.sleep(wait)
        raise RefusedError("no answer" if envelope is None else told(envelope["error"]))

    def _post(self, path: str, key: str, body: str) -> dict[str, Any] | None:
        """The envelope of the answer; None when nobody knows whether the write was carried out."""
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        try:
            self._server.request("POST", f"/api/v1/agent/runs{path}", body, headers)
            envelope: dict[str, Any] = json.loads(self._server.getresponse().read())
        except (OSError, http.client.HTTPException):
            self._server.close()  # the next request connects anew
            return None
        return envelope


def may_pass(error: dict[str, Any]) -> bool:
    """Whether the same request may be answered otherwise soon."""
    return error["code"] in BUSY or error["details"].get("reason") in ASK_AGAIN


def told(error: dict[str, Any]) -> str:
    """An error in one line: its code, its reason, its field."""
    return " ".join([error["code"], *map(str, error["details"].values())])


def ask(prompt: str) -> str:
    """What the person says to a prompt; empty at the end of the input."""
    print(prompt, flush=True)
    return sys.stdin.readline().strip()


def event(kind: str, payload: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One event of this agent."""
    return {"eventType": kind, "actor": AGENT, "payload": payload, **more}


def now() -> str:
    """This moment as the gateway writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def open_run(gateway: Gateway, task: str, workspace: str, task_type: str) -> tuple[str, list[dict[str, Any]]]:
    """Open a run, have the person answer its questions, and show what earlier work left: its path, the items."""
    state = gateway.write(
        "",
        workspace=workspace,
        client={"kind": AGENT},
        task={"title": task, "query": task, "profileHints": {"taskType": task_type}},
        captureProfile="standard",
        coverage=COVERAGE,
        capabilities=SKILLS,
    )
    run = f"/{state['runId']}"
    while state["question"]:
        question = state["question"]
        value = ask(question["prompt"]) or UNKNOWN
        state = gateway.write(f"{run}/intake/answers", questionId=question["id"], value=value, capabilities=SKILLS)
    return run, show(state)


def show(state: dict[str, Any]) -> list[dict[str, Any]]:
    """Print the context of an answer; its items, each with the delivery that it belongs to."""
    context = state["context"]
    items = context["items"] if context else []
    for item in items:
        content = item["content"]
        print(f"from the memory, to be checked: {content['title']}: {content['summary'] or content['bodyPreview']}")
    return [{"deliveryId": context["deliveryId"], **item} for item in items]


def check(gateway: Gateway, run: str, command: list[str]) -> bool:
    """Run a command, report it as a test, and show what the gateway makes of it; whether it passed."""
    line = " ".join(command)
    gateway.write(f"{run}/events", events=[event("command.started", {"command": line})])
    passed = subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode == 0
    evidence = event("test.completed", {"command": line}, outcome="passed" if passed else "failed")
    gateway.write(f"{run}/events", events=[evidence])
    state = gateway.write(f"{run}/checkpoints", currentStep=f"Ran {line}", capabilities=SKILLS)
    print(f"the check {evidence['outcome']}; evidence: {state['projection']['evidenceState']}")
    for advice in state["recommendations"]:
        print(f"advice: {advice['message']}")
    show(state)
    return passed


def judge(gateway: Gateway, run: str, items: list[dict[str, Any]]) -> None:
    """Give the person's verdict on each delivered entry; none where the person has none."""
    for item in items:
        verdict = ask(f"Was it {', '.join(VERDICTS)}? {item['content']['title']}")
        if verdict in VERDICTS:
            about = {name: item[name] for name in ("deliveryId", "entryId")}
            gateway.write(f"{run}/feedback", category="context", feedbackId=str(uuid.uuid4()), verdict=verdict, **about)


def keep_lesson(gateway: Gateway, run: str) -> None:
    """Propose what the person wants the next run to know. The person wrote it, so it is promoted to a candidate."""
    title = ask("What should the next run know?")
    if not title:
        return
    proposal = {"kind": "lesson", "title": title, "body": ask("Why?")}
    stored = gateway.write(f"{run}/events", events=[event("memory.proposed", proposal)])
    promoted = gateway.write(
        f"{run}/promotions", proposalEventId=stored["eventIds"][0], actor=AGENT, createdAt=now(), confirmed=True
    )
    print(f"kept as {promoted['entry']['status']} {promoted['entry']['entryId']}")


def find_descriptor() -> Path:
    """The file that says where the server of the user's database is; the command knows its place on every system."""
    found = subprocess.run(["hivekeep", "server", "descriptor"], stdout=subprocess.PIPE, text=True, check=True)
    return Path(found.stdout.removesuffix("\n"))


def work(gateway: Gateway, run: str, items: list[dict[str, Any]], command: list[str]) -> bool:
    """Everything between the opening of a run and its end; whether the check passed."""
    try:
        passed = check(gateway, run, command)
        judge(gateway, run, items)
        keep_lesson(gateway, run)
    except BaseException:
        gateway.write(f"{run}/close", status="interrupted")  # a run that nobody closes stays open for ever
        raise
    gateway.write(f"{run}/close", status="completed" if passed else "failed")
    return passed


def main() -> int:
    """Keep one task as a run; the status is 0 when the check passed, 1 when it failed, 2 when something is missing."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("task", help="what is to be done, in a sentence")
    parser.add_argument("--workspace", required=True, help="the workspace whose memory is asked and added to")
    parser.add_argument("--type", default="debug", help="the sort of task, such as build or debug")
    parser.add_argument("--descriptor", type=Path, help="the file that `hivekeep server descriptor` names")
    parser.add_argument("check", nargs="+", metavar="COMMAND", help="what shows whether the task is done")
    given = parser.parse_args()
    try:
        gateway = Gateway(given.descriptor or find_descriptor())
        run, items = open_run(gateway, given.task, given.workspace, given.type)
        passed = work(gateway, run, items, given.check)
    except (RefusedError, OSError) as reason:
        print(reason, file=sys.stderr)
        return 2
    except subprocess.CalledProcessError:
        return 2  # the command said why
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
