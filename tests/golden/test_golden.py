"""The generator as a whole: a folder in, a folder out.

`small/` holds a registry that uses every word of the contract language once, and the package printed from it. After a
wanted change of the output: `python -m tools.generate --root tests/golden/small`, read the diff, commit it.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.generate.__main__ import main
from tools.generate.build import HOME, build
from tools.generate.write import PACKAGE, differences

SMALL = Path(__file__).parent / "small"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The small folder, free to be changed."""
    root = tmp_path / "small"
    shutil.copytree(SMALL, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def test_the_small_registry_prints_the_committed_package() -> None:
    """Every file is byte for byte what is committed, none is missing and none is too many."""
    assert list(differences(SMALL, build(SMALL))) == []


def test_the_output_does_not_depend_on_hashing_or_on_the_working_directory(tmp_path: Path) -> None:
    """Another hash seed, another directory and another locale print the same bytes."""
    environment = {"PYTHONHASHSEED": "7", "PYTHONPATH": str(HOME), "LC_ALL": "C", "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "tools.generate", "--check", "--root", str(SMALL)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_printed_module_can_be_imported() -> None:
    """The printed Python runs, also for verbs and arguments named like keywords and builtins."""
    program = (
        "import importlib, pkgutil, hivekeep_contract as package\n"
        "names = [m.name for m in pkgutil.walk_packages(package.__path__, 'hivekeep_contract.')]\n"
        "modules = {name: importlib.import_module(name) for name in names}\n"
        "models = modules['hivekeep_contract.models.todo']\n"
        "print(len(names), models.ImportArgs(from_='a'))\n"
        "handlers = modules['hivekeep_contract.handlers.todo'].TodoHandlers\n"
        "print([name for name in vars(handlers) if name.endswith('_') and not name.startswith('_')])\n"
    )
    environment = {"PYTHONPATH": str(SMALL / "generated"), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "21 ImportArgs(from_='a', edges=None, ids=None)\n['import_', 'list_']\n"


def test_a_registry_without_a_gateway_prints_nothing_of_it(copy: Path) -> None:
    """The folder of the gateway may be absent: no module, no schema, no path and no page speaks of it."""
    shutil.rmtree(copy / "registry" / "gateway")
    types = copy / "registry" / "types.yaml"
    lines = types.read_text(encoding="utf-8").splitlines(keepends=True)
    types.write_text("".join(line for line in lines if "utf16_max" not in line), encoding="utf-8")
    files = build(copy)
    gone = {"gateway.py", "gateway_errors.py", "gateway_examples.json", "handlers/gateway.py", "models/gateway.py"}
    assert set(build(SMALL)) - set(files) == gone
    assert [path for path, text in files.items() if "Small gateway" in text or "run.open" in text] == []
    assert "gateway" not in json.loads(files["schemas.json"])


def test_check_names_each_file_that_differs(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` tells stale, missing and unknown files apart, says what to run, and exits 1."""
    package = copy / PACKAGE
    (package / "limits.py").write_text("MAX_OPS = 1\n", encoding="utf-8")
    (package / "routes.py").unlink()
    (package / "docs" / "old.md").write_text("old\n", encoding="utf-8")
    assert main(["--check", "--root", str(copy)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{PACKAGE}/docs/old.md: unknown",
        f"{PACKAGE}/limits.py: stale",
        f"{PACKAGE}/routes.py: missing",
        "run `make generate` and commit the result",
    ]
    assert (package / "limits.py").read_text(encoding="utf-8") == "MAX_OPS = 1\n"


def test_generate_repairs_everything_under_generated(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run rewrites what differs and deletes what it did not print, with the folders that this empties."""
    stray = copy / "generated" / "other" / "stray.txt"
    stray.parent.mkdir()
    stray.write_text("stray\n", encoding="utf-8")
    (copy / PACKAGE / "limits.py").unlink()
    assert main(["--root", str(copy)]) == 0
    assert capsys.readouterr().out == "33 files, 2 changed\n"
    assert not stray.parent.exists()
    assert list(differences(copy, build(copy))) == []


def test_a_guide_must_be_listed_and_a_listed_guide_must_exist(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The order of the guides is complete in both directions."""
    guides = copy / "docs" / "guides"
    (guides / "more.md").write_text("# More\n", encoding="utf-8")
    (guides / "_order.txt").write_text("strat.md\nstart.md\n", encoding="utf-8")
    assert main(["--root", str(copy)]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "docs/guides/_order.txt:1: the guide 'more.md' is not listed",
        "docs/guides/_order.txt:1: there is no guide 'strat.md'; did you mean 'start.md'?",
    ]
