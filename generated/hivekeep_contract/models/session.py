"""Arguments and results of the pack `session`.

Printed from registry/packs/session/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import kg


class FileSizes(TypedDict):
    """
    How large the database is.
    """

    database_bytes: int
    page_count: int
    file_bytes: int | None
    wal_bytes: int | None


class Session(TypedDict):
    """
    A session with its content.
    """

    id: str
    kind: str
    title: str | None
    provider: str | None
    provider_session_id: str | None
    tags: list[str]
    content: str
    properties: dict[str, Any]
    created_at: str
    updated_at: str
    namespace: str


class SessionSummary(TypedDict):
    """
    A session without its content.
    """

    id: str
    full_id: str
    kind: str
    title: str | None
    provider: str | None
    provider_session_id: str | None
    tags: list[str]
    created_at: str
    updated_at: str
    namespace: str


class StoredSession(TypedDict):
    """
    The session as it is stored.
    """

    ok: bool
    session: Session
    warnings: NotRequired[list[kg.Warning]]


class TableSize(TypedDict):
    """
    One table of the mirror.
    """

    rows: int
    allocated_bytes: int


class TableSizes(TypedDict):
    """
    The tables of the mirror.
    """

    sessions: TableSize
    session_messages: TableSize
    session_mirror_cursor: TableSize
    session_messages_fts: TableSize


ExportFormat: TypeAlias = Literal["json", "markdown"]


MetricsStatus: TypeAlias = Literal["available", "unavailable_after_commit"]


Source: TypeAlias = Literal["claude_code", "codex", "chatgpt_export", "claude_ai_export", "unknown"]


class ExportedJson(TypedDict):
    """
    A session as an object.
    """

    ok: bool
    format: ExportFormat
    session: Session


class ExportedMarkdown(TypedDict):
    """
    A session as a text.
    """

    ok: bool
    format: ExportFormat
    content: str


class MirrorStats(TypedDict):
    """
    The tables of the mirror and the database that they are in.
    """

    database_bytes: int
    page_count: int
    file_bytes: int | None
    wal_bytes: int | None
    ok: bool
    tables: TableSizes
    page_size_bytes: int
    row_scope: str
    size_scope: str


class MirroredSession(TypedDict):
    """
    A session of the mirror.
    """

    provider_session_id: str
    source: Source
    namespace: str
    cwd: str | None
    first_seen_at: str
    last_seen_at: str
    message_count: int


class OneSession(TypedDict):
    """
    One session.
    """

    ok: bool
    session: Session


class SessionPage(TypedDict):
    """
    A page of sessions.
    """

    ok: bool
    sessions: list[SessionSummary]
    count: int
    total: int
    limit: int
    offset: int


class Vacuumed(TypedDict):
    """
    The file was rewritten.
    """

    ok: bool
    before: FileSizes
    after: FileSizes | None
    allocated_bytes_reclaimed: int | None
    post_vacuum_metrics_status: MetricsStatus
    post_vacuum_metrics_error: NotRequired[str]


ExportResult: TypeAlias = ExportedJson | ExportedMarkdown


class MirrorHit(TypedDict):
    """
    A session of the mirror whose messages hold the words.
    """

    session: MirroredSession
    score: float
    snippets: list[str]


class MirrorHits(TypedDict):
    """
    What a search of the mirror found.
    """

    ok: bool
    results: list[MirrorHit]
    count: int
    limit: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ListArgs:
    """
    Arguments of session.list.
    """

    limit: int = 20
    offset: int = 0
    provider: str | None = None
    agent_id: str | None = None
    since: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ResumeArgs:
    """
    Arguments of session.resume.
    """

    id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StatsArgs:
    """
    Arguments of session.stats.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreArgs:
    """
    Arguments of session.store.
    """

    content: str
    title: str | None = None
    provider: str | None = None
    provider_session_id: str | None = None
    tags: list[str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class VacuumArgs:
    """
    Arguments of session.vacuum.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportArgs:
    """
    Arguments of session.export.
    """

    id: str
    format: ExportFormat = "json"


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchArgs:
    """
    Arguments of session.search.
    """

    query: str
    limit: int = 20
    since: int | None = None
    source: Source | None = None
    cwd: str | None = None
