"""Entries written to a file instead of the answer: whole or not at all, and only inside the export folder.

The destination is checked against links and `..` before anything is created, and the file appears by one
rename, so a reader sees the old file or the complete new one.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hivekeep.request.entries import Entry, summarise
from hivekeep.request.json_values import compact
from hivekeep_contract.errors import InvalidParams, StorageUnavailable

_SHOWN = 200


def check_destination(destination: str, root: Path) -> Path:
    """The absolute path that `save_to` names inside `root`; relative paths start there.

    Creates nothing, so that a request can be refused before its operations run. Raises InvalidParams for a
    path with `..`, outside the root (links resolved), that is a link, a folder, or no path at all.
    """
    if "\0" in destination or ".." in Path(destination).parts:
        raise InvalidParams(f"save_to {destination!r} may not hold '..' or a NUL character")
    try:
        return _checked(destination, root.resolve())
    except OSError as error:
        raise InvalidParams(f"save_to {destination[:_SHOWN]!r} cannot be used: {error.strerror or error}") from None


def _checked(destination: str, base: Path) -> Path:
    path = base / destination
    ancestor = _existing_ancestor(path.parent)
    if not ancestor.is_relative_to(_existing_ancestor(base)):
        raise _outside(destination, base)
    if not ancestor.is_dir():
        raise InvalidParams(f"save_to {destination!r} lies below {ancestor}, which is not a folder")
    parent = path.parent.resolve()
    if not parent.is_relative_to(base) or path == base:
        raise _outside(destination, base)
    path = parent / path.name
    if path.is_symlink():
        raise InvalidParams(f"save_to {destination!r} is a symbolic link; name the file itself")
    if path.is_dir():
        raise InvalidParams(f"save_to {destination!r} is a folder; name a file in it")
    return path


def save(entries: Sequence[Entry], destination: str, root: Path) -> dict[str, Any]:
    """Write one JSON line an entry and return the manifest that is answered instead of them.

    Manifest: `path`, `rows`, `per_column_null_counts` (absent counts as null), `schema_fingerprint`
    (SHA-256 of the sorted field names, one a line), `checksum` (SHA-256 of the file), `summary`, and
    `failures` when there are any. Raises InvalidParams as `check_destination`, StorageUnavailable with
    `executed` when the file cannot be written, because the operations ran before.
    """
    path = check_destination(destination, root)
    data = "".join(f"{compact(entry)}\n" for entry in entries).encode("utf-8", "surrogatepass")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The folders exist only now: a link put there meanwhile must not lead out of the root.
        path = check_destination(destination, root)
        replace_file(path, data)
    except OSError as error:
        counts = summarise(entries)[0]
        raise StorageUnavailable(
            f"the operations ran ({counts['succeeded']} of {counts['total']} succeeded), but their entries could not be"
            f" written to {path}: {error.strerror or error}",
            stage="save_to",
            executed=True,
        ) from error
    return _manifest(entries, path, data)


def _existing_ancestor(path: Path) -> Path:
    """The deepest part of a path that exists, with links resolved."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path.resolve()


def _outside(destination: str, base: Path) -> InvalidParams:
    return InvalidParams(f"save_to {destination!r} must lie inside the export folder {base}")


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in place in one rename, so that it is there whole or as it was. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(prefix=".export-", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _manifest(entries: Sequence[Entry], path: Path, data: bytes) -> dict[str, Any]:
    columns = sorted({name for entry in entries for name in entry})
    manifest: dict[str, Any] = {
        "path": str(path),
        "rows": len(entries),
        "per_column_null_counts": {name: sum(1 for entry in entries if entry.get(name) is None) for name in columns},
        "schema_fingerprint": hashlib.sha256("\n".join(columns).encode()).hexdigest(),
        "checksum": hashlib.sha256(data).hexdigest(),
        "summary": summarise(entries)[0],
    }
    failures = [_failure(index, entry) for index, entry in enumerate(entries) if not entry["ok"]]
    return {**manifest, "failures": failures} if failures else manifest


def _failure(index: int, entry: Entry) -> dict[str, Any]:
    """One failed or aborted operation: its message, and as `reason` the code of the error where it has
    one."""
    failure: dict[str, Any] = {"op_index": index, "tool": entry["tool"]}
    if entry.get("aborted"):
        return {**failure, "error": entry["message"], "reason": "aborted"}
    error = entry["error"]
    failure["error"] = error["message"]
    if "code" in error:
        failure["reason"] = error["code"]
    return failure
