"""Small graphs written as data, stored below the verbs: the point is the query, not which pairs may be linked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hivekeep.storage import edges, entities
from hivekeep.storage.engine import Tx
from support.client import Hive
from support.stores import edge, entity, record_id

FIRST_EDGE = 100_000


def store_graph(hive: Hive, nodes: Mapping[str, Any], links: Sequence[str]) -> dict[str, str]:
    """Store nodes ({name: kind} or {name: {kind, ...}}) and edges ("source relation target"); answers ids by name."""
    numbers = {name: place for place, name in enumerate(nodes)}

    def write(tx: Tx) -> None:
        for name, described in nodes.items():
            fields = dict(described) if isinstance(described, Mapping) else {"kind": described}
            properties = json.dumps(fields.pop("properties", {}))
            entities.insert(tx, entity(numbers[name], name=name, properties=properties, **fields))
        for place, link in enumerate(links):
            source, relation, target = link.split()
            edges.insert(tx, edge(FIRST_EDGE + place, numbers[source], numbers[target], relation))

    hive.server.engine.run_write(write)
    return {name: record_id(number) for name, number in numbers.items()}
