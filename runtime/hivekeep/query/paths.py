"""Paths of variable length as common table expressions.

Invariant: a path table holds each pair of ends once, with the hops of its shallowest path; every record on a way is
live and visible.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.query.expressions import Args
from hivekeep.query.fields import ANY_RECORD, TABLES
from hivekeep.query.plan import SUBSTRATES, Hop, Path, Substrate
from hivekeep_contract.errors import Unsupported

_TURNED: Final = {"out": "in", "in": "out", "any": "any"}


class PathTable(NamedTuple):
    """What a path table is made from: its name, the places of the visible namespaces, the ids where it begins."""

    name: str
    args: Args
    visible: str
    seeds: str


class _Step(NamedTuple):
    """One step as SQL: its tables, its conditions, where it leads and what it weighs."""

    tables: str
    where: str
    end: str
    weight: str


def path_table(path: Path, table: PathTable, *, backward: bool) -> list[str]:
    """The tables (source, target, hops, total) of a path; `backward` walks from its target, where `seeds` then are."""
    seeds = f"{table.name}_s (id) AS MATERIALIZED ({table.seeds})"
    if path.revisits:
        return [seeds, *_walks(path, table, backward)]
    if path.most is None or path.least < 1 or [len(chain) for chain in path.steps] != [1]:
        raise Unsupported("query: a path without revisits has bounds of 1 or more and follows one edge at a time")
    return [seeds, *(_levels if path.least == 1 else _trails)(path, table, backward)]


def _walks(path: Path, table: PathTable, backward: bool) -> list[str]:
    """Every pair of ends between which there is a walk; hops beyond the last one that matters are not counted."""
    name = table.name
    if path.most is None:
        bound, deeper, enough = "", f"min(w.depth + 1, {path.least})", f"depth = {path.least}"
    else:
        bound, deeper, enough = f" AND w.depth < {path.most}", "w.depth + 1", f"depth >= {path.least}"
    arms = [
        f"SELECT w.near, {step.end}, {deeper} FROM {name}_w AS w {step.tables} WHERE {step.where}{bound}"
        for step in (_step(chain, table, "w.far", backward) for chain in path.steps)
    ]
    return [
        f"{name}_w (near, far, depth) AS (SELECT id, id, 0 FROM {name}_s UNION {' UNION '.join(arms)})",
        f"{name} ({_ends(backward)}, hops, total) AS MATERIALIZED"
        f" (SELECT near, far, min(depth), NULL FROM {name}_w WHERE {enough} GROUP BY near, far)",
    ]


def _levels(path: Path, table: PathTable, backward: bool) -> list[str]:
    """What is reached, and at which depth first; then, a table for each depth, by which weight at best."""
    name = table.name
    assert path.most is not None
    step = _step(path.steps[0], table, "w.far", backward)
    along = _step(path.steps[0], table, "w.far", backward, checked=False)
    depths = range(1, path.most + 1)
    levels = [
        f"{name}_{depth} (near, far, total) AS MATERIALIZED"
        f" (SELECT w.near, {along.end}, max(w.total + {along.weight}) FROM {name}_{depth - 1} AS w {along.tables}"
        f" CROSS JOIN {name}_d AS d ON d.near = w.near AND d.far = {along.end} AND d.hops = {depth}"
        f" WHERE {along.where} GROUP BY 1, 2)"
        for depth in depths
    ]
    whole = " UNION ALL ".join(f"SELECT near, far, {depth}, total FROM {name}_{depth}" for depth in depths)
    return [
        f"{name}_w (near, far, depth) AS (SELECT id, id, 0 FROM {name}_s"
        f" UNION SELECT w.near, {step.end}, w.depth + 1 FROM {name}_w AS w {step.tables}"
        f" WHERE {step.where} AND {step.end} <> w.near AND w.depth < {path.most})",
        f"{name}_d (near, far, hops) AS MATERIALIZED"
        f" (SELECT near, far, min(depth) FROM {name}_w WHERE depth > 0 GROUP BY near, far)",
        f"{name}_0 (near, far, total) AS (SELECT id, id, 0.0 FROM {name}_s)",
        *levels,
        f"{name} ({_ends(backward)}, hops, total) AS MATERIALIZED ({whole})",
    ]


def _trails(path: Path, table: PathTable, backward: bool) -> list[str]:
    """Every path, depth first so that few are kept at once; then the best for each pair of ends."""
    name = table.name
    step = _step(path.steps[0], table, "w.far", backward)
    return [
        f"{name}_w (near, far, depth, total, trail) AS (SELECT id, id, 0, 0.0, id FROM {name}_s"
        f" UNION ALL SELECT w.near, {step.end}, w.depth + 1, w.total + {step.weight}, w.trail || ' ' || {step.end}"
        f" FROM {name}_w AS w {step.tables}"
        f" WHERE {step.where} AND w.depth < {path.most} AND instr(w.trail, {step.end}) = 0 ORDER BY 3 DESC)",
        f"{name}_d (near, far, hops, total) AS MATERIALIZED"
        f" (SELECT near, far, depth, max(total) FROM {name}_w WHERE depth >= {path.least} GROUP BY near, far, depth)",
        # min() alone in a SELECT takes the other columns from the row it found.
        f"{name} ({_ends(backward)}, hops, total) AS MATERIALIZED"
        f" (SELECT near, far, min(hops), total FROM {name}_d GROUP BY near, far)",
    ]


def _ends(backward: bool) -> str:
    return "target, source" if backward else "source, target"


def _step(chain: tuple[Hop, ...], table: PathTable, here: str, backward: bool, *, checked: bool = True) -> _Step:
    """The edges of one step from the record `here`; `checked`: and that every record on it is live."""
    tables, where, weights = [], [], []
    for place, hop in enumerate(reversed(chain) if backward else chain):
        edge = f"h{place}"
        tables.append(f"CROSS JOIN edges AS {edge}")
        where += [f"{edge}.deleted_at IS NULL", f"+{edge}.namespace IN ({table.visible})"]
        if hop.relations:
            where.append(f"{edge}.relation IN ({table.args.add_all(hop.relations)})")
        direction = _TURNED[hop.direction] if backward else hop.direction
        near, far = f"{edge}.source_id", f"{edge}.target_id"
        if direction == "in":
            near, far = far, near
        if direction == "any":
            where.append(f"({near} = {here} OR {far} = {here})")
            far = f"CASE {near} WHEN {here} THEN {far} ELSE {near} END"
        else:
            where.append(f"{near} = {here}")
        if checked:
            joins, found = _alive(far, hop, table.visible, edge)
            tables.append(joins)
            where.append(found)
        weights.append(f"{edge}.weight")
        here = far
    return _Step(" ".join(tables), " AND ".join(where), here, " + ".join(weights))


def _alive(record_id: str, hop: Hop, visible: str, prefix: str) -> tuple[str, str]:
    """The joins that look for a live record of an id in one table after the other, and whether one found it."""
    anything = not hop.relations or set(hop.relations) & set(ANY_RECORD)
    substrates: tuple[Substrate, ...] = SUBSTRATES if anything else ("entity", "note")
    joins, found, wanted = [], [], record_id
    for substrate in substrates:
        alias = prefix + substrate
        live = "" if substrate == "event" else f"{alias}.deleted_at IS NULL AND "
        joins.append(
            f"LEFT JOIN {TABLES[substrate]} AS {alias} ON {alias}.id = {wanted}"
            f" AND {live}+{alias}.namespace IN ({visible})"
        )
        found.append(f"{alias}.id")
        wanted = f"CASE WHEN {alias}.id IS NULL THEN {wanted} END"
    return " ".join(joins), f"coalesce({', '.join(found)}) IS NOT NULL"
