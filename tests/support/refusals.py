"""Bad contracts: one place of the golden registry is changed, and the generator refuses the rest with it.

Invariant: a case changes exactly one place, so what is said is about that place.
"""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tools.generate.__main__ import main

SMALL = Path(__file__).parents[1] / "golden" / "small"


class Case(NamedTuple):
    """In `file` the text `old` (once) becomes `new`; then the generator says exactly `says`."""

    name: str
    file: str
    old: str
    new: str
    says: str


def copy_registry(folder: Path) -> Path:
    """The golden registry in a folder of its own, free to be changed."""
    shutil.copytree(SMALL / "registry", folder / "registry")
    return folder


def check(case: Case, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The generator says exactly what the case says, and writes nothing."""
    path = root / "registry" / case.file
    text = path.read_text(encoding="utf-8")
    assert text.count(case.old) == 1
    path.write_text(text.replace(case.old, case.new), encoding="utf-8")
    assert main(["--root", str(root)]) == 1
    assert capsys.readouterr().err == case.says
    assert not (root / "generated").exists()
