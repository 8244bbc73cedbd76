"""The floor of the HTTP suite: the same read in FastAPI, written the way its documentation teaches.

The body is validated by a pydantic model and the answer by another; the handler runs the same key read and
commits the same event row as a `get`, on connections with the same settings. Environment: BENCH_DB.
"""

from __future__ import annotations

import json
import os
import uuid
from typing import Annotated

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from benchmarks.floor import Floor


class GetBody(BaseModel):
    """The arguments of get."""

    model_config = ConfigDict(extra="forbid")
    id: Annotated[str, Field(min_length=8, max_length=36)]
    include_deleted: bool = False
    namespace: str | None = None


class Entity(BaseModel):
    """The row of an entity."""

    id: str
    namespace: str
    kind: str
    entity_type: str | None
    name: str
    description: str | None
    properties: dict[str, object]
    tags: list[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    merged_into: str | None
    merge_event_id: str | None


class Entry(BaseModel):
    """The answer to one operation."""

    ok: bool
    tool: str
    result: Entity
    domain_disposition: str


app = FastAPI()
store = Floor(os.environ["BENCH_DB"], "full")


@app.post("/get")
async def get(body: GetBody) -> Entry:
    """Read one entity and leave an event."""
    row = store.get(body.id, str(uuid.uuid4()))
    if row is None:
        raise HTTPException(404, f"not found: {body.id}")
    return Entry(ok=True, tool="get", result=_entity(row), domain_disposition="committed")


def _entity(row: tuple[object, ...]) -> Entity:
    record_id, namespace, kind, name, created_at, updated_at, entity_type, description, properties, tags = row[:10]
    return Entity(
        id=str(record_id),
        namespace=str(namespace),
        kind=str(kind),
        entity_type=entity_type,  # type: ignore[arg-type]
        name=str(name),
        description=description,  # type: ignore[arg-type]
        properties=json.loads(str(properties)),
        tags=json.loads(str(tags)),
        created_at=_iso(created_at),
        updated_at=_iso(updated_at),
        deleted_at=None,
        merged_into=None,
        merge_event_id=None,
    )
