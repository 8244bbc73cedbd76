"""Report a session of Claude Code to the agent gateway: one hook for its prompts, its tools and its end.

Claude Code hands each hook one JSON object on standard input, and adds what the hook of a prompt prints to the context
of the agent. The first prompt of a session opens a run, later tools are reported to it, the end of the session closes
what the agent left open. The hook never stops the agent: whatever goes wrong, its status is 0.

`~/.claude/settings.json` names it; docs/guides/clients.md shows the lines. It needs `hivekeep` on the path and a server
that runs. What happens while none does, or while the run waits for an answer, is not reported.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CLIENT = "claude-code"
TITLE_CHARS = 200
TIMEOUT_S = 20
CHANGING = ("Edit", "Write", "NotebookEdit")
COVERAGE = {
    "run": "best_effort",
    "tool": "unavailable",
    "command": "best_effort",
    "file": "best_effort",
    "approval": "unavailable",
}
SKILL_FOLDERS = (Path(".claude/skills"), Path.home() / ".claude/skills")

Hook = dict[str, Any]


def hivekeep(hook: Hook, *arguments: str, body: dict[str, Any]) -> dict[str, Any]:
    """The envelope of one command of `hivekeep agent`, run where the session works."""
    done = subprocess.run(
        ["hivekeep", "agent", *arguments, "--json", "--input-json", "-"],
        input=json.dumps(body).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=hook["cwd"],
        timeout=TIMEOUT_S,
        check=False,
    )
    envelope: dict[str, Any] = json.loads(done.stdout)
    return envelope


def folder(hook: Hook) -> Path:
    """Where the run of a session and its catalog are remembered."""
    return Path(tempfile.gettempdir()) / f"{CLIENT}-runs" / Path(hook["session_id"]).name


def run_of(hook: Hook) -> str:
    """The run of a session; FileNotFoundError when none was opened."""
    return (folder(hook) / "run").read_text(encoding="utf-8")


def skills(hook: Hook) -> list[dict[str, str]]:
    """The catalog of the session: the skills of the project and of the user."""
    found = {page.parent.name for folder in SKILL_FOLDERS for page in (hook["cwd"] / folder).glob("*/SKILL.md")}
    return [{"kind": "skill", "name": name} for name in sorted(found)]


def prompted(hook: Hook) -> None:
    """Open a run at the first prompt, and tell the agent of it; what it answers to the question brings the context."""
    if (folder(hook) / "run").exists():
        return
    folder(hook).mkdir(mode=0o700, parents=True, exist_ok=True)
    catalog = folder(hook) / "skills.json"
    catalog.write_text(json.dumps(skills(hook)), encoding="utf-8")
    title = hook["prompt"].strip().partition("\n")[0][:TITLE_CHARS]
    opening = {
        "client": {"kind": CLIENT, "sessionId": hook["session_id"]},
        "task": {"title": title, "query": hook["prompt"]},
        "captureProfile": "standard",
        "coverage": COVERAGE,
    }
    envelope = hivekeep(hook, "open", "--capabilities", str(catalog), body=opening)
    if not envelope["ok"]:
        return
    state = envelope["data"]
    (folder(hook) / "run").write_text(state["runId"], encoding="utf-8")
    print(f"hivekeep keeps this task as run {state['runId']}; its capabilities are in {catalog}.")
    if state["question"]:
        print(f"It asks ({state['question']['id']}): {state['question']['prompt']}")
        print(
            f"Answer with: hivekeep agent answer {state['runId']} --question ... --value ... --capabilities {catalog}"
        )


def used(hook: Hook) -> None:
    """Report a changed file, or a command that ended, to the run of the session."""
    given = hook["tool_input"]
    if hook["tool_name"] in CHANGING:
        kind, payload = "file.changed", {"path": given.get("file_path") or given.get("notebook_path")}
    else:
        kind, payload = "command.completed", {"command": given.get("command")}
    event = {"eventType": kind, "actor": CLIENT, "payload": payload, "sourceType": hook["tool_name"]}
    hivekeep(hook, "events", run_of(hook), body={"events": [event]})


def ended(hook: Hook) -> None:
    """Close the run, unless the agent did; only the agent knows whether it succeeded."""
    hivekeep(hook, "close", run_of(hook), body={"status": "interrupted"})
    shutil.rmtree(folder(hook))


HANDLERS = {"UserPromptSubmit": prompted, "PostToolUse": used, "SessionEnd": ended}


def main() -> int:
    """Handle the hook on standard input."""
    try:
        hook = json.load(sys.stdin)
        hook["cwd"] = Path(hook["cwd"])
        HANDLERS[hook["hook_event_name"]](hook)
    except (OSError, ValueError, LookupError, subprocess.TimeoutExpired) as reason:
        print(f"hivekeep: {type(reason).__name__}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
