"""The example, run as a reader runs it: a process of its own, the official MCP client, a real server behind it.

The packages that it maps are made by the test, so that the tables are known to the letter.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
JWT = ".".join(("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "dBjftJeZ4CVPmB92K27uhbUJU1p1r"))

MAP = """\
What depends on the most needed packages
  package  needed by
  -------  --------------------------------------------------
  shared   3: keys, web-kit, worker
  keys     1: web-kit

Which packages speak about 'schema'
  package  where
  -------  --------------------------------------------------
  worker   Runs jobs # Worker Jobs have a schema.

The store holds 4 entities and 4 edges.
"""


def install(site: Path, name: str, summary: str, description: str, requires: Sequence[str] = ()) -> None:
    """What an installer leaves of a distribution, without its code."""
    folder = site / f"{name.replace('-', '_')}-1.0.dist-info"
    folder.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", f"Summary: {summary}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    (folder / "METADATA").write_text("\n".join([*lines, "", description]), encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Four packages: one is needed by all others, one shows a token, one requires what is not installed."""
    site = tmp_path / "site-packages"
    install(site, "shared", "Common parts", "")
    install(site, "keys", "Signs things", f"Try it with {JWT}", ["Shared>=1", 'absent; extra == "more"'])
    install(site, "Web_Kit", "Serves pages", "# Web kit", ["shared", "keys (>=1.0)"])
    install(site, "worker", "Runs jobs", "# Worker\n\nJobs have a schema.", ["shared", "not-installed"])
    return site


def run(site: Path, database: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """One run of the example on a folder of packages."""
    command = [sys.executable, "examples/map_site_packages.py", "--path", str(site), "--db", str(database), *options]
    environment = {**os.environ, "HIVEKEEP_STORAGE_DISK_RESERVE_BYTES": "0"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False
    )


def test_the_example_maps_packages_and_a_second_run_adds_nothing(site: Path, tmp_path: Path) -> None:
    """Both runs print the same two tables and the same counts; a package whose text shows a token is mapped too."""
    database = tmp_path / "map.db"
    first = run(site, database)
    assert (first.returncode, first.stdout) == (0, MAP), first.stderr
    assert first.stderr.splitlines()[:2] == [
        "mapping 4 new of 4 packages",
        "the description of keys shows a credential and is left out",
    ]
    second = run(site, database)
    assert (second.returncode, second.stdout) == (0, MAP), second.stderr
    assert second.stderr.splitlines()[0] == "mapping 0 new of 4 packages"


def test_the_example_says_in_one_line_why_it_stopped(site: Path, tmp_path: Path) -> None:
    """A refused operation ends the program with its message and status 1, without a traceback."""
    stopped = run(site, tmp_path / "map.db", "--word", " ")
    assert stopped.returncode == 1
    assert stopped.stderr.splitlines()[-1].startswith("search failed: ")
    assert "Traceback" not in stopped.stderr
