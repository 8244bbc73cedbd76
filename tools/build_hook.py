"""Stamps a wheel or source archive with the revision it was built from.

Invariant: a build outside a checkout changes nothing, so a wheel made from a source archive keeps the archive's stamp.
An editable install is never stamped: its source moves on.
"""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"wheel": "hivekeep/_build.json", "sdist": "runtime/hivekeep/_build.json"}


def revision(root: Path) -> str | None:
    """The commit of a checkout, with `-dirty` when files differ from it; None outside of one."""
    if not (root / ".git").exists():
        return None
    try:
        commit = _git(root, "rev-parse", "HEAD")
        changed = _git(root, "status", "--porcelain")
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{commit}-dirty" if changed else commit


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


class StampRevision(BuildHookInterface[Any]):
    """Adds the stamp to what is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by the build with `version` editable or standard, before anything is packed."""
        stamp = None if version == "editable" else revision(Path(self.root))
        if stamp is None:
            return
        file = Path(tempfile.mkdtemp(prefix="hivekeep-build-")) / "_build.json"
        file.write_text(json.dumps({"revision": stamp}) + "\n", encoding="utf-8")
        build_data["force_include"][str(file)] = PLACES[self.target_name]
