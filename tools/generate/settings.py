"""Every setting with its type, and one class that holds their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.generate.literal import Call, literal

_PYTHON_TYPES = {
    "string": "str",
    "path": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "list": "tuple[str, ...]",
}


def setting_values(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The rows, and the attributes of the class with their defaults."""
    rows, attributes = [], []
    for key, entry in settings.items():
        attr = key.replace(".", "_")
        default = tuple(entry["default"]) if isinstance(entry["default"], list) else entry["default"]
        kind = _PYTHON_TYPES[entry["type"]]
        annotation = f"{kind} | None" if default is None else kind
        attributes.append(f"{attr}: {annotation} = {literal(default, len(attr) + len(annotation) + 9)}")
        env = (f"HIVEKEEP_{attr.upper()}", *entry.get("env", []))
        rows.append(
            Call(
                "Setting",
                (),
                (
                    ("key", key),
                    ("attr", attr),
                    ("type", entry["type"]),
                    ("default", default),
                    ("env", env),
                    ("env_aliases", tuple(entry.get("aliases", []))),
                    ("flag", entry.get("flag")),
                    ("choices", tuple(entry.get("choices", []))),
                    ("minimum", entry.get("minimum")),
                    ("maximum", entry.get("maximum")),
                    ("project_file", entry["project_file"]),
                    ("secret", entry.get("secret", False)),
                    ("doc", entry["doc"]),
                ),
            )
        )
    return {"rows": literal(tuple(rows), 40), "attributes": attributes}
