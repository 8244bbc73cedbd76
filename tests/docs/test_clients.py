"""The programs that the page on clients shows, copied from it and run against a real server and a real store."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.pages import ROOT, blocks
from support.processes import environment, serving

PAGE = (ROOT / "docs/guides/clients.md").read_text(encoding="utf-8")
CURL = next(block for block in blocks(PAGE, "sh") if "curl" in block)
SKILLS = next(block for block in blocks(PAGE, "sh") if "skills show" in block)
(PYTHON,) = blocks(PAGE, "python")
ROOMY = {"HIVEKEEP_STORAGE_DISK_RESERVE_BYTES": "0"}


def run(command: list[str], home: Path, **more: str) -> str:
    """What a program prints in a home directory, with this interpreter's scripts on the path."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    variables = environment(home, PATH=path, **more)
    done = subprocess.run(command, cwd=home, env=variables, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the page uses a shell and curl")
def test_the_shell_lines_reach_a_server_with_the_token_of_its_descriptor(tmp_path: Path) -> None:
    """They find URL and token in the descriptor, create a record as an actor and find it with the request tool."""
    with serving(tmp_path, **ROOMY):
        created, found = _documents(run(["bash", "-euc", CURL], tmp_path))
    assert (created["ok"], created["result"]["name"]) == (True, "RoPE")
    (entry,) = found["results"]
    assert [hit["title"] for hit in entry["result"]] == ["RoPE"]


@pytest.mark.skipif(not shutil.which("bash"), reason="the page uses a shell")
def test_the_skills_are_put_where_the_client_looks(tmp_path: Path) -> None:
    """Both pages are in the folder of skills, each under the name that it gives itself."""
    run(["bash", "-euc", SKILLS], tmp_path)
    pages = sorted((tmp_path / ".claude/skills").glob("*/SKILL.md"))
    names = [page.read_text(encoding="utf-8").splitlines()[1] for page in pages]
    assert names == [f"name: {page.parent.name}" for page in pages] == ["name: kiokuko-soul", "name: memory-reasoning"]


def test_the_hooks_are_those_that_the_example_handles() -> None:
    """The configuration names the program of the examples once for each event that it knows."""
    (hooks,) = [block for block in map(json.loads, blocks(PAGE, "json")) if "hooks" in block]
    commands = [hook["command"] for entries in hooks["hooks"].values() for entry in entries for hook in entry["hooks"]]
    assert commands == ["python3 ~/.claude/hooks/claude_code_hook.py"] * 3
    example = (ROOT / "examples/claude_code_hook.py").read_text(encoding="utf-8")
    handled = re.findall(r'"(\w+)": (?:prompted|used|ended)\b', example)
    assert list(hooks["hooks"]) == handled


def test_the_python_lines_reach_the_store_of_the_user(tmp_path: Path) -> None:
    """The official client starts the command by its name and reads the envelope of a call."""
    envelope = json.loads(run([sys.executable, "-c", PYTHON], tmp_path))
    assert envelope["status"] == "success"
    assert envelope["results"][0]["result"]["entities"] == 0


def _documents(text: str) -> list[Any]:
    """The JSON documents that stand one behind the other in a text."""
    decoder, found, position = json.JSONDecoder(), [], 0
    while position < len(text.rstrip()):
        document, position = decoder.raw_decode(text, position)
        found.append(document)
    return found
