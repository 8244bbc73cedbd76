"""Values as Python source, wrapped at the line length of the repository and the same on every machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WIDTH = 110


@dataclass(frozen=True, slots=True)
class Call:
    """A constructor call, positional arguments then named ones."""

    name: str
    args: tuple[Any, ...] = ()
    named: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Source text printed as it stands."""

    text: str


def literal(value: Any, used: int = 0, indent: int = 0) -> str:
    """`value` as source; `used` columns stand before it on its line, later lines are indented by `indent`."""
    flat = _flat(value)
    if used + len(flat) <= WIDTH or not _parts(value):
        return flat
    head, parts, tail = _parts(value)  # type: ignore[misc]
    inner = indent + 4
    pad = " " * inner
    lines = [f"{pad}{label}{literal(part, inner + len(label) + 1, inner)}," for label, part in parts]
    return "\n".join([head, *lines, " " * indent + tail])


def comment(text: str, indent: int = 0) -> str:
    """`text` as one or more `#:` lines."""
    pad, words, lines = " " * indent, text.split(), [""]
    for word in words:
        if lines[-1] and indent + len(lines[-1]) + len(word) + 4 > WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(f"{pad}#: {line}" for line in lines)


def _flat(value: Any) -> str:
    if isinstance(value, Source):
        return value.text
    if isinstance(value, str):
        return _string(value)
    parts = _parts(value)
    if parts is None:
        return repr(value)
    head, items, tail = parts
    body = ", ".join(label + _flat(part) for label, part in items)
    if isinstance(value, tuple) and len(value) == 1:
        body += ","
    return f"{head}{body}{tail}"


def _parts(value: Any) -> tuple[str, list[tuple[str, Any]], str] | None:
    """Opening, labelled members and closing of a container; None for a scalar or an empty container."""
    if isinstance(value, Call):
        members = [("", arg) for arg in value.args] + [(f"{name}=", arg) for name, arg in value.named]
        return f"{value.name}(", members, ")"
    if isinstance(value, frozenset):
        return ("frozenset({", [("", item) for item in sorted(value)], "})") if value else None
    if isinstance(value, Mapping) and value:
        return "{", [(f"{_flat(key)}: ", item) for key, item in value.items()], "}"
    if isinstance(value, tuple) and value:
        return "(", [("", item) for item in value], ")"
    if isinstance(value, list) and value:
        return "[", [("", item) for item in value], "]"
    return None


def _string(value: str) -> str:
    # double quotes as the formatter of the repository writes them
    return json.dumps(value, ensure_ascii=False) if value.isprintable() else repr(value)
