"""Indexes of the gateway and of the curated memory: each costs every write, so each is one that a statement follows."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import apsw

from hivekeep import storage
from hivekeep.storage import agent_runs
from hivekeep.storage.agent_runs import RunFilter
from hivekeep.storage.engine import Tx
from support.stores import Explained

MODULES = [
    import_module(f"{storage.__name__}.{module.name}")
    for module in pkgutil.iter_modules(storage.__path__)
    if module.name.startswith("agent_")
]
STATEMENT = re.compile(r"(?:SELECT|WITH|INSERT|UPDATE|DELETE)\b")
FOLLOWED = re.compile(r"INDEX (\w+)")
RULES = {
    "agent_intakes_session": "no two runs have one session",
    "agent_memory_links_id": "no two promotions have one id",
}
"""Unique indexes that no statement follows, and what each keeps true."""


def texts(value: object) -> Iterator[str]:
    """The statements that a constant of a module holds."""
    if isinstance(value, str) and STATEMENT.match(value):
        yield value
    elif isinstance(value, (tuple, list)):
        for member in value:
            yield from texts(member)


def plan(tx: Tx, statement: str) -> Iterator[str]:
    """The steps of a statement; none for what is only a piece of one and does not compile."""
    arguments = 1 if "?1" in statement else statement.count("?")
    try:
        rows = tx.all("EXPLAIN QUERY PLAN " + statement, (None,) * arguments)
    except apsw.SQLError:
        return
    yield from (str(row[3]) for row in rows)


def test_every_index_is_followed_or_is_a_rule(tx: Tx) -> None:
    """By a statement that a module keeps, or by a page of runs with its conditions."""
    steps = [
        step
        for module in MODULES
        for constant in vars(module).values()
        for statement in texts(constant)
        for step in plan(tx, statement)
    ]
    pages = Explained(tx)
    for filters in (RunFilter(), RunFilter(client_kind="codex"), RunFilter(status="active")):
        agent_runs.page(pages, "demo", filters, after=None, limit=10)  # type: ignore[arg-type]
    followed = {name for step in (*steps, *pages.steps) for name in FOLLOWED.findall(step)}
    made = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND name GLOB 'agent_*'"
    indexes = {str(row[0]) for row in tx.all(made)}
    assert len(indexes) > 30
    assert sorted(indexes - followed) == sorted(RULES)
