"""The hook of the examples, fed with what Claude Code hands its hooks: real processes, a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.processes import Serving, environment, run, serving

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "Build the parser\nand make its tests pass"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    """A server of a fresh store, and the folder that the session works in."""
    (tmp_path / "project").mkdir()
    with serving(tmp_path, HIVEKEEP_STORAGE_DISK_RESERVE_BYTES="0") as running:
        yield running


def hook(home: Path, name: str, **fields: Any) -> str:
    """What one hook prints for the agent; it never fails."""
    given = {"session_id": "5e55", "cwd": str(home / "project"), "hook_event_name": name, **fields}
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/claude_code_hook.py")],
        input=json.dumps(given),
        env=environment(home, PATH=path, TMPDIR=str(home)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    return done.stdout


def remembered(home: Path) -> Path:
    """The folder in which the hook remembers the session."""
    return home / "claude-code-runs/5e55"


def events(home: Path, server: Serving, run_id: str) -> list[tuple[str, str | None, Any]]:
    """Type, the client's name for it and payload of the events that the client reported."""
    answer = httpx.get(f"{server.url}/api/v1/agent/runs/{run_id}/events", headers=server.headers).json()
    items = answer["data"]["items"]
    return [
        (item["eventType"], item["sourceType"], item["payload"]) for item in items if item["actor"] == "claude-code"
    ]


def test_a_session_is_kept_as_one_run(server: Serving, tmp_path: Path) -> None:
    """The first prompt opens it with the skills of the user; once its questions are answered, tools are reported."""
    skill = tmp_path / ".claude/skills/kiokuko-soul"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_bytes(run(tmp_path, "skills", "show", "kiokuko-soul").stdout)

    first, second, third = hook(tmp_path, "UserPromptSubmit", prompt=PROMPT).splitlines()
    run_id = (remembered(tmp_path) / "run").read_text()
    catalog = remembered(tmp_path) / "skills.json"
    assert first == f"hivekeep keeps this task as run {run_id}; its capabilities are in {catalog}."
    assert second.startswith("It asks (target): ")
    assert third == (f"Answer with: hivekeep agent answer {run_id} --question ... --value ... --capabilities {catalog}")
    assert json.loads(catalog.read_text()) == [{"kind": "skill", "name": "kiokuko-soul"}]
    assert hook(tmp_path, "UserPromptSubmit", prompt="Go on") == ""

    changed = {"tool_name": "Edit", "tool_input": {"file_path": str(tmp_path / "project/parser.py")}}
    hook(tmp_path, "PostToolUse", **changed)
    assert events(tmp_path, server, run_id) == []
    for question, value in (("target", "the parser"), ("expected", "its tests pass")):
        options = ["--question", question, "--value", value, "--capabilities", str(catalog)]
        answered = run(tmp_path, "agent", "answer", run_id, *options)
        assert answered.returncode == 0, answered.stderr

    hook(tmp_path, "PostToolUse", **changed)
    hook(tmp_path, "PostToolUse", tool_name="Bash", tool_input={"command": "pytest -q"})
    hook(tmp_path, "SessionEnd", reason="other")
    (path, command) = events(tmp_path, server, run_id)
    assert (path[:2], path[2]["path"].endswith("project/parser.py")) == (("file.changed", "Edit"), True)
    assert command == ("command.completed", "Bash", {"command": "pytest -q"})
    found = httpx.get(f"{server.url}/api/v1/agent/runs/{run_id}", headers=server.headers).json()["data"]
    assert (found["status"], found["title"]) == ("interrupted", "Build the parser")
    assert found["client"] == {"kind": "claude-code", "sessionId": "5e55"}
    assert not remembered(tmp_path).exists()


@pytest.mark.parametrize("name", ["UserPromptSubmit", "PostToolUse", "SessionEnd", "Stop"])
def test_without_a_server_the_agent_goes_on(tmp_path: Path, name: str) -> None:
    """The hook prints nothing for the agent, and leaves nothing but its note that the session was asked."""
    (tmp_path / "project").mkdir()
    assert hook(tmp_path, name, prompt=PROMPT, tool_name="Bash", tool_input={"command": "ls"}) == ""
    assert not (remembered(tmp_path) / "run").exists()
