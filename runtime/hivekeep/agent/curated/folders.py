"""Reads a folder of JSON and Markdown files as the entries of a managed source.

Invariant: a file is called by its path below the folder, so moving the folder changes no entry; nothing outside of the
folder is read, whatever a link in it points to.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

from hivekeep import strict_json
from hivekeep.agent.curated import checks, files
from hivekeep.agent.curated import content as contents
from hivekeep.agent.curated.managed import Item, item
from hivekeep_contract.gateway import FRONT_FIELDS
from hivekeep_contract.gateway_errors import GatewayError, ValidationError
from hivekeep_contract.limits import (
    SOURCE_CONFIDENCE,
    SOURCE_FILE_MAX_BYTES,
    SOURCE_FILES_MAX,
    SOURCE_KIND_DEFAULT,
)

_JSON: Final = ".json"
_MARKDOWN: Final = ".md"
_FENCE: Final = "---"
_CONFIDENCE: Final = "confidence"


class FolderRefused(Exception):
    """A file that is no entry: `name` is its path below the folder, `why` what is wrong with it."""

    def __init__(self, name: str, why: GatewayError) -> None:
        super().__init__(f"{name}: {why}")
        self.name = name
        self.why = why


def read(folder: Path, source_id: str) -> tuple[list[Item], str]:
    """The entries of a folder and a checksum of all its files, in the order of their paths.

    Files whose names begin with a dot, and what is no regular file, are left alone. Raises FolderRefused,
    ValidationError for too many files, and OSError: a part that cannot be read is not taken for an empty one.
    """
    digest = hashlib.sha256()
    items = []
    for name, path in _files(folder):
        data = files.read(path, SOURCE_FILE_MAX_BYTES + 1, follow=False)
        called = name.encode("utf-8", "surrogateescape")
        digest.update(f"{len(called)}:{len(data)}:".encode() + called + data)
        try:
            items.append(_item(source_id, name, data))
        except GatewayError as why:
            raise FolderRefused(name, why) from None
    return items, digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    found = []
    for place, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            if not name.startswith(".") and path.suffix in (_JSON, _MARKDOWN) and stat.S_ISREG(path.lstat().st_mode):
                found.append((path.relative_to(folder).as_posix(), path))
                if len(found) > SOURCE_FILES_MAX:
                    raise ValidationError("too_large")
    return iter(sorted(found))


def _refuse(fault: OSError) -> NoReturn:
    raise fault


def _item(source_id: str, name: str, data: bytes) -> Item:
    if len(data) > SOURCE_FILE_MAX_BYTES:
        raise ValidationError("too_large")
    mapping = checks.mapping(name, "/mapping")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValidationError("not_json") from None
    if name.endswith(_MARKDOWN):
        return item(source_id, mapping, contents.parse(_of_markdown(name, text)))
    try:
        given = strict_json.decode(text)
    except ValueError:
        raise ValidationError("not_json") from None
    if not isinstance(given, dict):
        raise ValidationError("not_an_object")
    confidence = checks.confidence(given.pop(_CONFIDENCE, SOURCE_CONFIDENCE), f"/{_CONFIDENCE}")
    return item(source_id, mapping, contents.parse(given), confidence)


def _of_markdown(name: str, text: str) -> dict[str, Any]:
    """A Markdown file as content: the lines between two `---` at its top, its first heading or its name, its text."""
    front, body = _front(text)
    given: dict[str, Any] = {"kind": SOURCE_KIND_DEFAULT, "title": _heading(body) or Path(name).stem, **front}
    if "tags" in given:
        given["tags"] = [tag for tag in map(str.strip, given["tags"].split(",")) if tag]
    return {**given, "body": body}


def _front(text: str) -> tuple[dict[str, str], str]:
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].strip() != _FENCE:
        return {}, text
    told: dict[str, str] = {}
    for number, line in enumerate(lines[1:], start=1):
        if line.strip() == _FENCE:
            return told, "".join(lines[number + 1 :]).lstrip("\r\n")
        name, colon, value = line.partition(":")
        if not colon or name.strip() not in FRONT_FIELDS:
            raise ValidationError("unknown_field")
        told[name.strip()] = value.strip()
    raise ValidationError("wrong_value")


def _heading(body: str) -> str | None:
    for line in body.splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return None
