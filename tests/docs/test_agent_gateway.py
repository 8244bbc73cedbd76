"""What the guide to the agent gateway shows works: its shell lines, against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hivekeep_contract.gateway import OPERATIONS
from support.pages import blocks, written_pages
from support.processes import environment, serving

PAGE = written_pages()["docs/guides/agent-gateway.md"]
OPENING, REPORTS, CURL = [block for block in blocks(PAGE, "sh") if "serve &" not in block]
ROOMY = {"HIVEKEEP_STORAGE_DISK_RESERVE_BYTES": "0"}
ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
DELIVERY = re.compile(r"delivery context-\S+\)")


def shell(lines: str, home: Path, **more: str) -> str:
    """What lines of a shell print in a home directory, with this interpreter's scripts on the path."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    variables = environment(home, PATH=path, **ROOMY, **more)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines],
        cwd=home,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def masked(text: str) -> str:
    """A text without what differs from run to run."""
    return DELIVERY.sub("delivery ID)", ID.sub("ID", text)).strip()


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the page uses a shell and curl")
def test_the_run_of_the_page(tmp_path: Path) -> None:
    """The opening prints what the page shows, the reports end with the completed run, curl opens one that waits."""
    (shown,) = blocks(PAGE, "text")
    with serving(tmp_path, **ROOMY):
        _, _, opened = shell(OPENING, tmp_path).partition("\n")
        assert masked(opened) == masked(shown)
        run_id = opened.splitlines()[0].split()[1]
        reported = shell(REPORTS, tmp_path, RUN=run_id)
        assert "evidence  failed\nopen      failures 1, unknown outcomes 0\n" in reported
        assert reported.splitlines()[-1].split()[:2] == [run_id, "completed"]
        answer = json.loads(shell(CURL, tmp_path))
    assert (answer["operation"], answer["data"]["question"]["id"]) == ("agent.open", "target")


def test_the_page_lists_every_operation() -> None:
    """The table names each route of the gateway by its method and path."""
    routes = {f"{operation.http_method} {operation.path}" for operation in OPERATIONS.values()}
    assert set(re.findall(r"^\| `((?:GET|POST) [^`]+)` \|", PAGE, re.MULTILINE)) == routes
