"""YAML in, plain data with line numbers out. Nothing is guessed.

PyYAML speaks YAML 1.1, where `on`, `12:30` and `2024-01-01` change type and a repeated key silently wins.
This reader walks the parser's events instead: a plain scalar is a JSON scalar or a string; a repeated key,
an anchor, an alias, a tag and a missing value are refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from tools.generate.problems import ContractError, Problem

Place = tuple[str | int, ...]

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its data, and for each place in the data the line it stands on (1-based)."""

    where: str
    data: Any
    lines: dict[Place, int]

    def line(self, path: Place) -> int:
        """The line of `path`, or of the nearest container that exists."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path, 1)

    def problem(self, path: Place, message: str) -> Problem:
        """A refusal at `path`; the dotted path opens the message."""
        dotted = ".".join(str(step) for step in path)
        return Problem(self.where, self.line(path), f"{dotted}: {message}" if dotted else message)


def read_file(path: Path, where: str) -> Source:
    """Read one YAML file. Raises ContractError with the line of the first thing that is not allowed."""
    return read_text(path.read_text(encoding="utf-8"), where)


def read_text(text: str, where: str) -> Source:
    """Read YAML text as if it stood in the file `where`."""
    reader = _Reader(text, where)
    try:
        return reader.read()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ContractError([Problem(where, line, f"not YAML: {error.problem}")]) from None


class _Reader:
    def __init__(self, text: str, where: str) -> None:
        self._events = yaml.parse(text, Loader=_LOADER)
        self._where = where
        self._lines: dict[Place, int] = {}

    def read(self) -> Source:
        data: Any = None
        seen = False
        for event in self._events:
            if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent, yaml.AliasEvent)):
                if seen:
                    self._refuse(event, "a second document is not allowed")
                data, seen = self._value(event, ()), True
        if not seen:
            raise ContractError([Problem(self._where, 1, "the file is empty")])
        return Source(self._where, data, self._lines)

    def _value(self, event: Any, path: Place) -> Any:
        self._lines.setdefault(path, _line(event))
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            self._refuse(event, "anchors and aliases are not allowed")
        if event.tag:
            self._refuse(event, f"the tag '{event.tag}' is not allowed")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._scalar(event)

    def _mapping(self, path: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
                self._refuse(event, "a key must be a plain word")
            key = str(event.value)
            if key in found:
                first = self._lines[(*path, key)]
                self._refuse(event, f"the key '{key}' stands twice, first on line {first}")
            self._lines[(*path, key)] = _line(event)
            found[key] = self._value(self._next(), (*path, key))
        return found

    def _sequence(self, path: Place) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            found.append(self._value(event, (*path, len(found))))
        return found

    def _scalar(self, event: Any) -> Any:
        text = str(event.value)
        if event.style is not None and event.style != "":
            return text
        if not text:
            self._refuse(event, "a value is missing; write null when nothing is meant")
        if text in _WORDS:
            return _WORDS[text]
        return json.loads(text) if _NUMBER.fullmatch(text) else text

    def _next(self) -> Any:
        return next(self._events)

    def _refuse(self, event: Any, message: str) -> NoReturn:
        raise ContractError([Problem(self._where, _line(event), message)])


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
