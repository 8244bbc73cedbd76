"""Tables of plain values: limits, presentation, secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.generate.literal import Call, comment, literal
from tools.generate.model import Contract

_DETECTOR_FIELDS = ("name", "literal", "lead", "pattern", "doc")


def limit_values(contract: Contract) -> list[dict[str, str]]:
    """Global limits, then the constants of packs in pack order, then those of the gateway."""
    entries = dict(contract.data["limits"]["limits"])
    for pack in contract.packs:
        entries |= pack.constants
    if contract.gateway:
        entries |= contract.gateway.constants
    return [_constant(name, entry["value"], entry["doc"]) for name, entry in entries.items()]


def presentation_values(data: Mapping[str, Any]) -> list[dict[str, str]]:
    """Key lists as sets, numbers and words as they are; the docs of modes are not needed at run time."""
    constants: list[dict[str, str]] = []
    for name, value in data.items():
        if name == "modes":
            continue
        if name == "table":
            constants += [_constant(f"table_{key}", _keys(key, item)) for key, item in value.items()]
        elif isinstance(value, dict):
            constants.append(_constant(name, frozenset(value["keys"]), value["doc"]))
        else:
            constants.append(_constant(name, _keys(name, value)))
    return constants


def secret_values(data: Mapping[str, Any]) -> dict[str, Any]:
    """The detectors as rows, every other entry as a constant."""
    detectors = tuple(Call("Detector", tuple(row[name] for name in _DETECTOR_FIELDS)) for row in data["detectors"])
    constants = [
        _constant(name, tuple(value) if isinstance(value, list) else value)
        for name, value in data.items()
        if name != "detectors"
    ]
    return {"detectors": literal(detectors, 40), "constants": constants}


def _constant(name: str, value: Any, doc: str = "") -> dict[str, str]:
    constant = name.upper()
    text = literal(value, len(constant) + 3)
    annotation = f": {_annotation(value)}" if isinstance(value, (dict, list)) else ""
    return {"name": constant, "annotation": annotation, "value": text, "doc": comment(doc) if doc else ""}


def _annotation(value: Any) -> str:
    if isinstance(value, dict):
        members = {type(member).__name__ for member in value.values()}
        return f"dict[str, {' | '.join(sorted(members))}]"
    members = {type(member).__name__ for member in value}
    return f"list[{' | '.join(sorted(members))}]"


def _keys(name: str, value: Any) -> Any:
    """A list is a set of field names, unless its order or `str.endswith` needs a tuple."""
    if not isinstance(value, list):
        return value
    ordered = name.endswith(("_suffixes", "_prefixes", "_properties"))
    return tuple(value) if ordered else frozenset(value)
