"""Adding a verb as AGENTS.md says, in a copy of the repository: one contract, one function, nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support.pages import ROOT, blocks

pytestmark = pytest.mark.slow
"""Type checking the copy takes 10 seconds."""

# The blocks of a numbered list are indented.
PAGE = textwrap.dedent((ROOT / "AGENTS.md").read_text(encoding="utf-8").replace("\n   ", "\n"))
PACK = Path("runtime/hivekeep/packs/kg")


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A Python module, run in the copy and on its packages."""
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(copy),
        "PYTHONPATH": os.pathsep.join(str(copy / folder) for folder in ("runtime", "generated")),
        "HIVEKEEP_DB": str(copy / "hive.db"),
        "HIVEKEEP_STORAGE_DISK_RESERVE_BYTES": "0",
    }
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=copy, env=variables, capture_output=True, text=True, check=False)


def complaints(copy: Path) -> str:
    """What the type checker says about the place where packs meet, without lines and codes."""
    told = run(copy, "mypy", "--no-error-summary", "--hide-error-codes", "runtime/hivekeep/wiring.py").stdout
    return re.sub(r"\.py:\d+: ", ".py: ", told)


def test_the_type_checker_names_the_missing_method_and_then_the_verb_runs(tmp_path: Path) -> None:
    """The contract alone makes the checker say what the page shows; with the function of the page the verb answers."""
    for folder in ("registry", "templates", "tools", "generated", "runtime", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (contract,) = blocks(PAGE, "yaml")
    (function,) = blocks(PAGE, "python")
    (shown,) = [block for block in blocks(PAGE, "text") if "protocol member" in block]

    assert run(tmp_path, "tools.new_verb", "kg", "count_kind").returncode == 0
    (tmp_path / "registry/packs/kg/count_kind.yaml").write_text(contract, encoding="utf-8")
    assert run(tmp_path, "tools.generate").returncode == 0
    assert complaints(tmp_path) == shown

    with (tmp_path / PACK / "about.py").open("a", encoding="utf-8") as module:
        module.write(f"\n\n{function}")
    with (tmp_path / PACK / "__init__.py").open("a", encoding="utf-8") as pack:
        pack.write("    count_kind = staticmethod(about.count_kind)\n")
    assert complaints(tmp_path) == ""
    answer = run(tmp_path, "hivekeep", "exec", 'create(kind="concept", name="A") | count_kind(kind="concept")').stdout
    assert json.loads(answer)["results"][1]["result"] == {"kind": "concept", "count": 1}
