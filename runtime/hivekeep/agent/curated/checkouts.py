"""Finds the repository of a folder by reading files: no git, no shell.

Invariant: every worktree of one repository has the same common folder, and every clone of one remote the same
fingerprint, however its address is spelt. Nothing is written and no link is followed out of what git itself names.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final, NamedTuple

from hivekeep.agent.curated import files
from hivekeep.agent.curated.files import NotRegular

_DOT_GIT: Final = ".git"
_POINTER: Final = "gitdir:"
_COMMON: Final = "commondir"
_CONFIG: Final = "config"
_FILE_MAX_BYTES: Final = 1 << 20
_PREFERRED: Final = "origin"
_SECTION: Final = re.compile(r'\s*\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]')
_URL: Final = re.compile(r"\s*url\s*=\s*(.+?)\s*")
_ADDRESS: Final = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:[^/@]*@)?(\[[^\]]+\]|[^/:]+)(?::[0-9]+(?=/))?[:/]+(.+)"
)


class Checkout(NamedTuple):
    """A folder under version control: the top of its working tree, the folder that all its worktrees share, and the
    fingerprint of its remote, if it has one."""

    top: Path
    common: Path
    remote_key: str | None


def find(folder: Path) -> Checkout | None:
    """The checkout that a folder is in; None for one that is in none. Raises OSError when a folder cannot be read."""
    here = folder.resolve()
    for top in (here, *here.parents):
        git = _git_folder(top / _DOT_GIT)
        if git is not None:
            common = _common(git)
            return Checkout(top, common, _remote_key(common))
    return None


def remote_key(url: str) -> str | None:
    """The fingerprint of a remote: of host and path, whatever protocol, user, port and ending; None for a folder."""
    address = _ADDRESS.fullmatch(url.strip())
    if address is None or url.startswith(("/", ".", "file:")):
        return None
    host, path = address[1].lower(), address[2].strip("/")
    name = f"{host}/{path.removesuffix(_DOT_GIT).rstrip('/')}"
    return hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()


def _git_folder(place: Path) -> Path | None:
    """What `.git` is, or points to; None where there is none."""
    if place.is_dir():
        return place.resolve() if (place / "HEAD").exists() else None
    text = _text(place)
    if text is None or not text.startswith(_POINTER):
        return None
    named = place.parent / text.removeprefix(_POINTER).strip()
    return named.resolve() if named.is_dir() else None


def _common(git: Path) -> Path:
    """The folder that holds the objects and the configuration; a worktree names it relative to its own."""
    text = _text(git / _COMMON)
    return git if text is None else (git / text.strip()).resolve()


def _remote_key(common: Path) -> str | None:
    remotes = _remotes(_text(common / _CONFIG) or "")
    url = remotes.get(_PREFERRED) or next((remotes[name] for name in sorted(remotes)), None)
    return None if url is None else remote_key(url)


def _remotes(config: str) -> dict[str, str]:
    """The first address of each remote of a configuration."""
    found: dict[str, str] = {}
    remote: str | None = None
    for line in config.splitlines():
        if line.lstrip().startswith("["):
            section = _SECTION.match(line)
            remote = None if section is None else section[1]
        elif remote is not None and (url := _URL.fullmatch(line)) is not None:
            found.setdefault(remote, url[1].strip('"'))
    return found


def _text(file: Path) -> str | None:
    """The text of a small file; None when it is none, or is not there."""
    try:
        return files.read(file, _FILE_MAX_BYTES).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError, NotRegular):
        return None
