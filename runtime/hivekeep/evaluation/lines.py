"""Files of one JSON object a line, read strictly.

What it keeps true: whatever a file holds, it is read whole or refused with `file:line`, what was found and what is
accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from hivekeep import strict_json
from hivekeep_contract.errors import InvalidInput

_SHOWN_CHARS = 60


class Line(NamedTuple):
    """One object of a file and where it stands; `number` counts from 1."""

    file: Path
    number: int
    fields: dict[str, Any]

    def refuse(self, why: str) -> NoReturn:
        """Raise InvalidInput that names the place."""
        raise refusal(self.file, self.number, why)

    def text(self, *names: str) -> str:
        """The first of these fields that is given: a text that is not blank. Raises InvalidInput."""
        value = self.optional_text(*names)
        if value is None:
            self.refuse(f"{' or '.join(map(repr, names))} is missing; it must be a text that is not blank")
        return value

    def optional_text(self, *names: str) -> str | None:
        """The same, None when each is absent, null or blank. Raises InvalidInput for what is no text."""
        for name in names:
            value = self.fields.get(name)
            if value is None:
                continue
            if not isinstance(value, str):
                self.refuse(f"{name!r} must be a text, not {shown(value)}")
            if value.strip():
                return value
        return None

    def id(self, *names: str) -> str:
        """The first of these fields that is given: a text that is not blank, or a whole number, as text."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
        return self.text(*names)

    def optional_id(self, *names: str) -> str | None:
        """The same, None when each is absent, null or blank."""
        return self.id(*names) if any(self.fields.get(name) not in (None, "") for name in names) else None


def refusal(file: Path, number: int, why: str) -> InvalidInput:
    """The error of one place in a file."""
    return InvalidInput(f"{file}:{number}: {why}")


def shown(value: object) -> str:
    """A value as an error shows it, cut."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def read_text_lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file that are not blank, with their numbers. Raises InvalidInput."""
    try:
        content = file.read_bytes()
    except OSError as fault:
        raise InvalidInput(f"{file}: {fault.strerror}") from None
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = raw.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise refusal(file, number, "is not UTF-8; accepted: UTF-8 text, one JSON object a line") from None
        if text:
            yield number, text


def read_objects(file: Path) -> Iterator[Line]:
    """The objects of a JSON-lines file. Raises InvalidInput."""
    for number, text in read_text_lines(file):
        try:
            value = strict_json.decode(text)
        except ValueError as fault:
            raise refusal(file, number, f"is not JSON ({fault}); accepted: one JSON object a line") from None
        if not isinstance(value, dict):
            raise refusal(file, number, f"is {shown(value)}; accepted: one JSON object a line")
        yield Line(file, number, value)
