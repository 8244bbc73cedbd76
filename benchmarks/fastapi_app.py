"""The floor of the HTTP suite: the same read in FastAPI, written the way its documentation teaches.

The body is validated by one pydantic model and the answer by others; the handler runs the same key read and
commits the same event row as a `get`, on connections with the same settings. BENCH_DB names the database.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from benchmarks.floor import Floor, new_ids
from hivekeep.times import iso


class GetBody(BaseModel):
    """The arguments of get."""

    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, Field(min_length=8, max_length=36)]
    include_deleted: bool = False
    parse_content: bool = False


class Entity(BaseModel):
    """The row of an entity."""

    id: str
    namespace: str
    kind: str
    entity_type: str | None
    name: str
    description: str | None
    properties: dict[str, Any]
    tags: list[str]
    created_at: str
    updated_at: str
    deleted_at: str | None = None
    merged_into: str | None = None
    merge_event_id: str | None = None


class Entry(BaseModel):
    """The answer to one operation."""

    ok: bool
    tool: str
    result: Entity
    domain_disposition: str


app = FastAPI()
store = Floor(os.environ["BENCH_DB"], "full")
one_at_a_time = threading.Lock()


@app.post("/get")
def get(body: GetBody) -> Entry:
    """Read one entity and leave an event, on a thread: the event loop must not wait for a commit."""
    with one_at_a_time:
        return _answer(body.id)


@app.post("/get_on_the_loop")
async def get_on_the_loop(body: GetBody) -> Entry:
    """The same on the event loop, which then waits for each commit: faster, and deaf meanwhile."""
    return _answer(body.id)


def _answer(record: str) -> Entry:
    row = store.get(record, new_ids(1)[0])
    if row is None:
        raise HTTPException(404, f"not found: {record}")
    return Entry(ok=True, tool="get", result=_entity(row), domain_disposition="committed")


def _entity(row: tuple[Any, ...]) -> Entity:
    return Entity(
        id=row[0],
        namespace=row[1],
        kind=row[2],
        name=row[3],
        created_at=iso(row[4]),
        updated_at=iso(row[5]),
        entity_type=row[6],
        description=row[7],
        properties=json.loads(row[8]),
        tags=json.loads(row[9]),
    )
