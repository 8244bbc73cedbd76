"""The words that records are made of: kinds, relations, events, enums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.generate.literal import Call, literal
from tools.generate.model import Contract


def vocabulary_values(contract: Contract) -> dict[str, Any]:
    """Each table of the module: name, type and source."""
    kinds, relations, events = contract.data["kinds"], contract.data["relations"], contract.data["events"]
    entity_kinds = _merged(contract, kinds["entity_kinds"], "entity_kinds")
    note_kinds = _merged(contract, kinds["note_kinds"], "note_kinds")
    default_note = [name for name, entry in kinds["note_kinds"].items() if entry.get("default")]
    rows = {
        name: Call("Relation", (entry["category"], entry.get("symmetric", False), entry.get("note_to")))
        for name, entry in relations["relations"].items()
    }
    endpoints = frozenset(
        (name, *endpoint.split(" -> "))
        for name, entry in relations["relations"].items()
        for endpoint in entry["endpoints"]
    )
    pack_endpoints = {
        pack.name: frozenset(
            (name, *endpoint.split(" -> ")) for name, found in pack.edge_rules.items() for endpoint in found
        )
        for pack in contract.packs
        if pack.edge_rules
    }
    defaults = {tuple(pair.split(" -> ")): kind for pair, kind in relations["dependency_kinds"]["defaults"].items()}
    enums = contract.enums
    aliases = {name: dict(enum.aliases) for name, enum in sorted(enums.items()) if enum.aliases}
    owners = {name: pack.name for pack in contract.packs for name in (*pack.entity_kinds, *pack.note_kinds)}
    consumers = {pack.name: tuple(pack.consumer_kinds) for pack in contract.packs if pack.consumer_kinds}
    transitions = {
        f"{pack.name}.{enum}": {state: tuple(targets) for state, targets in table.items()}
        for pack in contract.packs
        for enum, table in pack.transitions.items()
    }
    values = {
        "ENTITY_KINDS": ("tuple[str, ...]", tuple(entity_kinds)),
        "ENTITY_KIND_ALIASES": ("dict[str, str]", dict(enums["entity_kind"].aliases)),
        "ENTITY_SUBTYPES": (
            "dict[str, dict[str, tuple[str, ...]]]",
            {
                name: {subtype: tuple(found) for subtype, found in entry.get("subtypes", {}).items()}
                for name, entry in entity_kinds.items()
            },
        ),
        "NOTE_KINDS": ("tuple[str, ...]", tuple(note_kinds)),
        "DEFAULT_NOTE_KIND": ("str", default_note[0] if default_note else ""),
        "KIND_OWNERS": ("dict[str, str]", owners),
        "CONSUMER_KINDS": ("dict[str, tuple[str, ...]]", consumers),
        "RELATIONS": ("dict[str, Relation]", rows),
        "ENDPOINTS": ("frozenset[tuple[str, str, str]]", endpoints),
        "PACK_ENDPOINTS": ("dict[str, frozenset[tuple[str, str, str]]]", pack_endpoints),
        "DEPENDENCY_KINDS": ("tuple[str, ...]", tuple(relations["dependency_kinds"]["values"])),
        "DEPENDENCY_DEFAULTS": ("dict[tuple[str, str], str]", defaults),
        "EVENT_KINDS": ("tuple[str, ...]", tuple(events["kinds"])),
        "OUTCOMES": ("tuple[str, ...]", tuple(events["outcomes"])),
        "SUBSTRATES": ("tuple[str, ...]", tuple(events["substrates"])),
        "EVENT_ROLES": ("tuple[str, ...]", tuple(events["roles"])),
        "CATEGORIES": ("tuple[str, ...]", tuple(enums["category"].values)),
        "ENUMS": (
            "dict[str, tuple[str, ...]]",
            {name: tuple(enum.values) for name, enum in sorted(enums.items())},
        ),
        "ENUM_ALIASES": ("dict[str, dict[str, str]]", aliases),
        "TRANSITIONS": ("dict[str, dict[str, tuple[str, ...]]]", transitions),
    }
    return {
        "tables": [
            {"name": name, "type": annotation, "value": literal(value, len(name) + len(annotation) + 5)}
            for name, (annotation, value) in values.items()
        ]
    }


def _merged(contract: Contract, base: Mapping[str, Any], attribute: str) -> dict[str, Any]:
    found = dict(base)
    for pack in contract.packs:
        found |= getattr(pack, attribute)
    return found
