"""The generator owns everything under generated/: it writes what it printed and deletes what it did not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = "generated/hivekeep_contract"
_IGNORED = ("__pycache__", ".mypy_cache")


def write(root: Path, files: Mapping[str, str]) -> list[str]:
    """Make `root/generated` equal to `files` (paths below the package); the paths that changed."""
    changed = list(differences(root, files))
    for path, _ in changed:
        target = root / path
        text = files.get(path.removeprefix(f"{PACKAGE}/")) if path.startswith(f"{PACKAGE}/") else None
        if text is None:
            target.unlink()
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    _remove_empty_folders(root / "generated")
    return [path for path, _ in changed]


def differences(root: Path, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each path that `write` would touch, with `missing`, `stale` or `unknown`."""
    wanted = {f"{PACKAGE}/{path}": text for path, text in files.items()}
    present = set(_present(root))
    for path in sorted(present | set(wanted)):
        if path not in wanted:
            yield path, "unknown"
        elif path not in present:
            yield path, "missing"
        elif (root / path).read_bytes() != wanted[path].encode():
            yield path, "stale"


def _present(root: Path) -> Iterator[str]:
    for path in (root / "generated").rglob("*"):
        if path.is_file() and not set(_IGNORED) & set(path.parts):
            yield path.relative_to(root).as_posix()


def _remove_empty_folders(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
