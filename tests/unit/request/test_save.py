"""save_to: the file, its manifest, and the places it refuses to write to."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hivekeep.doors import refusals
from hivekeep.request.save import check_destination, save
from hivekeep_contract.errors import InvalidParams, StorageUnavailable

OK = {"ok": True, "tool": "get", "result": {"name": "Müller"}}
NULL = {"ok": True, "tool": "get", "result": None}
FAILED = {
    "ok": False,
    "tool": "get",
    "domain_disposition": "unknown",
    "error": {"kind": "runtime_error", "code": "not_found", "message": "not found: u"},
}
ABORTED = {"ok": False, "tool": "link", "aborted": True, "domain_disposition": "not_committed", "message": "aborted"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The export folder; it does not exist yet."""
    return tmp_path / "exports"


def test_entries_become_json_lines_and_a_manifest(root: Path) -> None:
    """One line an entry in order; the manifest describes exactly the bytes that were written."""
    manifest = save([OK, NULL, FAILED, ABORTED], "deep/er/out.jsonl", root)
    path = root.resolve() / "deep" / "er" / "out.jsonl"
    data = path.read_bytes()
    assert [json.loads(line) for line in data.decode().splitlines()] == [OK, NULL, FAILED, ABORTED]
    assert data.endswith(b"\n")
    columns = ["aborted", "domain_disposition", "error", "message", "ok", "result", "tool"]
    assert manifest == {
        "path": str(path),
        "rows": 4,
        "per_column_null_counts": {
            "aborted": 3,
            "domain_disposition": 2,
            "error": 3,
            "message": 3,
            "ok": 0,
            "result": 3,
            "tool": 0,
        },
        "schema_fingerprint": hashlib.sha256("\n".join(columns).encode()).hexdigest(),
        "checksum": hashlib.sha256(data).hexdigest(),
        "summary": {"total": 4, "succeeded": 2, "failed": 1, "aborted": 1},
        "failures": [
            {"op_index": 2, "tool": "get", "error": "not found: u", "reason": "not_found"},
            {"op_index": 3, "tool": "link", "error": "aborted", "reason": "aborted"},
        ],
    }
    assert [entry.name for entry in path.parent.iterdir()] == ["out.jsonl"]


def test_no_failures_no_list(root: Path) -> None:
    """The manifest of a request that succeeded has no failures field."""
    assert "failures" not in save([OK], "out.jsonl", root)


def test_a_second_save_replaces_the_file(root: Path) -> None:
    """The file holds the last save only; an absolute path inside the folder is accepted."""
    save([OK, OK], "out.jsonl", root)
    manifest = save([NULL], str(root / "out.jsonl"), root)
    assert Path(manifest["path"]).read_text() == '{"ok":true,"tool":"get","result":null}\n'


def arrange(root: Path) -> None:
    """An export folder with a sub folder, a link to a file and a link out of it."""
    outside = root.parent / "outside"
    outside.mkdir()
    (root / "folder").mkdir(parents=True)
    (root / "file").write_text("old")
    (root / "link").symlink_to(root / "file")
    (root / "dangling").symlink_to(root / "nothing")
    (root / "leak").symlink_to(outside)


@pytest.mark.parametrize(
    ("destination", "words"),
    [
        ("../out", ".."),
        ("a/../out", ".."),
        ("/etc/out", "inside the export folder"),
        ("leak/out", "inside the export folder"),
        ("leak/new/out", "inside the export folder"),
        ("link", "symbolic link"),
        ("dangling", "symbolic link"),
        ("folder", "is a folder"),
        (".", "inside the export folder"),
        ("a\x00b", "NUL"),
        ("a" * 300, "cannot be used: File name too long"),
        ("file/out", "is not a folder"),
    ],
)
def test_refused_destinations(root: Path, destination: str, words: str) -> None:
    """Paths out of the folder, through links, onto links or folders are refused and nothing is created."""
    arrange(root)
    before = sorted(root.parent.rglob("*"))
    with pytest.raises(InvalidParams, match=words):
        check_destination(destination, root)
    with pytest.raises(InvalidParams, match=words):
        save([OK], destination, root)
    assert sorted(root.parent.rglob("*")) == before
    assert (root / "file").read_text() == "old"


def test_checking_creates_nothing(root: Path) -> None:
    """A good destination can be checked before the request runs; not even the folder appears."""
    assert check_destination("a/b.jsonl", root) == root.resolve() / "a" / "b.jsonl"
    assert not root.exists()


def test_a_root_that_is_a_link_is_followed(root: Path) -> None:
    """The operator may place the export folder behind a link; paths inside it work."""
    real = root.parent / "real"
    real.mkdir()
    root.symlink_to(real)
    assert save([OK], "x/out.jsonl", root)["path"] == str(real.resolve() / "x" / "out.jsonl")


def test_an_aborted_write_leaves_the_old_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fails before the rename, the old content stays and no temporary file remains.

    The operations have run by then: an answer that says `not_committed` would have them repeated.
    """
    save([OK], "out.jsonl", root)
    old = (root / "out.jsonl").read_bytes()

    def full(descriptor: int) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageUnavailable, match=r"ran \(1 of 1 succeeded\).*No space left on device") as caught:
        save([NULL], "out.jsonl", root)
    assert refusals.entry(caught.value)["domain_disposition"] == "unknown"
    assert (root / "out.jsonl").read_bytes() == old
    assert [entry.name for entry in root.iterdir()] == ["out.jsonl"]
