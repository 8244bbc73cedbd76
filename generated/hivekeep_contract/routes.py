"""The HTTP surface: the routes that the application registers, and the headers that it reads.

Printed from registry/http.yaml and registry/packs/ by `make generate`; do not edit.
"""

from typing import NamedTuple


class Route(NamedTuple):
    """One path and what answers there.

    `access` is `open` or `token`; `serves` names the resource; a page serves a printed `file` of this package, a redirect
    leads to the path `to`.
    """

    name: str
    path: str
    method: str
    access: str
    serves: str
    media_type: str = "application/json"
    file: str = ""
    to: str = ""


#: By name. A route for each verb follows the others; `{verb}` in a path takes any other word, to answer that it is none.
ROUTES: dict[str, Route] = {
    "verb": Route("verb", "/api/v1/verbs/{verb}", "POST", "token", "verb"),
    "request": Route("request", "/api/v1/request", "POST", "token", "tool"),
    "mcp": Route("mcp", "/mcp", "POST", "token", "mcp"),
    "health_live": Route("health_live", "/health/live", "GET", "open", "live"),
    "health_ready": Route("health_ready", "/health/ready", "GET", "token", "ready"),
    "root": Route("root", "/", "GET", "open", "redirect", "application/json", "", "/docs"),
    "openapi": Route("openapi", "/openapi.json", "GET", "open", "page", "application/json", "openapi.json"),
    "docs": Route("docs", "/docs", "GET", "open", "page", "text/html", "docs/index.html"),
    "llms": Route("llms", "/llms.txt", "GET", "open", "page", "text/plain", "docs/llms.txt"),
    "llms_full": Route(
        "llms_full",
        "/llms-full.txt",
        "GET",
        "open",
        "page",
        "text/plain",
        "docs/llms-full.txt",
    ),
    "reference": Route(
        "reference",
        "/md/api-reference.md",
        "GET",
        "open",
        "page",
        "text/markdown",
        "docs/api-reference.md",
    ),
    "context": Route("context", "/api/v1/verbs/context", "POST", "token", "verb"),
    "create": Route("create", "/api/v1/verbs/create", "POST", "token", "verb"),
    "db_diagnostics": Route("db_diagnostics", "/api/v1/verbs/db_diagnostics", "POST", "token", "verb"),
    "delete": Route("delete", "/api/v1/verbs/delete", "POST", "token", "verb"),
    "get": Route("get", "/api/v1/verbs/get", "POST", "token", "verb"),
    "link": Route("link", "/api/v1/verbs/link", "POST", "token", "verb"),
    "list": Route("list", "/api/v1/verbs/list", "POST", "token", "verb"),
    "merge": Route("merge", "/api/v1/verbs/merge", "POST", "token", "verb"),
    "neighbors": Route("neighbors", "/api/v1/verbs/neighbors", "POST", "token", "verb"),
    "propose": Route("propose", "/api/v1/verbs/propose", "POST", "token", "verb"),
    "query": Route("query", "/api/v1/verbs/query", "POST", "token", "verb"),
    "resolve": Route("resolve", "/api/v1/verbs/resolve", "POST", "token", "verb"),
    "restore": Route("restore", "/api/v1/verbs/restore", "POST", "token", "verb"),
    "review": Route("review", "/api/v1/verbs/review", "POST", "token", "verb"),
    "scan": Route("scan", "/api/v1/verbs/scan", "POST", "token", "verb"),
    "search": Route("search", "/api/v1/verbs/search", "POST", "token", "verb"),
    "stats": Route("stats", "/api/v1/verbs/stats", "POST", "token", "verb"),
    "traverse": Route("traverse", "/api/v1/verbs/traverse", "POST", "token", "verb"),
    "update": Route("update", "/api/v1/verbs/update", "POST", "token", "verb"),
    "verbs": Route("verbs", "/api/v1/verbs/verbs", "POST", "token", "verb"),
    "whoami": Route("whoami", "/api/v1/verbs/whoami", "POST", "token", "verb"),
    "withdraw": Route("withdraw", "/api/v1/verbs/withdraw", "POST", "token", "verb"),
    "gtd.assign": Route("gtd.assign", "/api/v1/verbs/gtd.assign", "POST", "token", "verb"),
    "gtd.census": Route("gtd.census", "/api/v1/verbs/gtd.census", "POST", "token", "verb"),
    "gtd.complete": Route("gtd.complete", "/api/v1/verbs/gtd.complete", "POST", "token", "verb"),
    "gtd.next": Route("gtd.next", "/api/v1/verbs/gtd.next", "POST", "token", "verb"),
    "gtd.repair": Route("gtd.repair", "/api/v1/verbs/gtd.repair", "POST", "token", "verb"),
    "gtd.tasks": Route("gtd.tasks", "/api/v1/verbs/gtd.tasks", "POST", "token", "verb"),
    "gtd.transition": Route("gtd.transition", "/api/v1/verbs/gtd.transition", "POST", "token", "verb"),
    "memory.feedback": Route("memory.feedback", "/api/v1/verbs/memory.feedback", "POST", "token", "verb"),
    "memory.prune": Route("memory.prune", "/api/v1/verbs/memory.prune", "POST", "token", "verb"),
    "memory.recall": Route("memory.recall", "/api/v1/verbs/memory.recall", "POST", "token", "verb"),
    "memory.remember": Route("memory.remember", "/api/v1/verbs/memory.remember", "POST", "token", "verb"),
    "memory.vacuum": Route("memory.vacuum", "/api/v1/verbs/memory.vacuum", "POST", "token", "verb"),
    "brain.activate": Route("brain.activate", "/api/v1/verbs/brain.activate", "POST", "token", "verb"),
    "brain.archive": Route("brain.archive", "/api/v1/verbs/brain.archive", "POST", "token", "verb"),
    "brain.auto_feedback": Route(
        "brain.auto_feedback",
        "/api/v1/verbs/brain.auto_feedback",
        "POST",
        "token",
        "verb",
    ),
    "brain.bind": Route("brain.bind", "/api/v1/verbs/brain.bind", "POST", "token", "verb"),
    "brain.bindings": Route("brain.bindings", "/api/v1/verbs/brain.bindings", "POST", "token", "verb"),
    "brain.create_profile": Route(
        "brain.create_profile",
        "/api/v1/verbs/brain.create_profile",
        "POST",
        "token",
        "verb",
    ),
    "brain.deactivate": Route("brain.deactivate", "/api/v1/verbs/brain.deactivate", "POST", "token", "verb"),
    "brain.event_counts": Route(
        "brain.event_counts",
        "/api/v1/verbs/brain.event_counts",
        "POST",
        "token",
        "verb",
    ),
    "brain.feedback": Route("brain.feedback", "/api/v1/verbs/brain.feedback", "POST", "token", "verb"),
    "brain.mark_turn": Route("brain.mark_turn", "/api/v1/verbs/brain.mark_turn", "POST", "token", "verb"),
    "brain.profile": Route("brain.profile", "/api/v1/verbs/brain.profile", "POST", "token", "verb"),
    "brain.profiles": Route("brain.profiles", "/api/v1/verbs/brain.profiles", "POST", "token", "verb"),
    "brain.register_adapter": Route(
        "brain.register_adapter",
        "/api/v1/verbs/brain.register_adapter",
        "POST",
        "token",
        "verb",
    ),
    "brain.reset": Route("brain.reset", "/api/v1/verbs/brain.reset", "POST", "token", "verb"),
    "brain.resolve": Route("brain.resolve", "/api/v1/verbs/brain.resolve", "POST", "token", "verb"),
    "brain.unbind": Route("brain.unbind", "/api/v1/verbs/brain.unbind", "POST", "token", "verb"),
    "comm.delivered": Route("comm.delivered", "/api/v1/verbs/comm.delivered", "POST", "token", "verb"),
    "comm.health": Route("comm.health", "/api/v1/verbs/comm.health", "POST", "token", "verb"),
    "comm.inbox": Route("comm.inbox", "/api/v1/verbs/comm.inbox", "POST", "token", "verb"),
    "comm.mark_read": Route("comm.mark_read", "/api/v1/verbs/comm.mark_read", "POST", "token", "verb"),
    "comm.probe": Route("comm.probe", "/api/v1/verbs/comm.probe", "POST", "token", "verb"),
    "comm.read": Route("comm.read", "/api/v1/verbs/comm.read", "POST", "token", "verb"),
    "comm.reply": Route("comm.reply", "/api/v1/verbs/comm.reply", "POST", "token", "verb"),
    "comm.send": Route("comm.send", "/api/v1/verbs/comm.send", "POST", "token", "verb"),
    "comm.thread": Route("comm.thread", "/api/v1/verbs/comm.thread", "POST", "token", "verb"),
    "comm.unread": Route("comm.unread", "/api/v1/verbs/comm.unread", "POST", "token", "verb"),
    "schedule.agenda": Route("schedule.agenda", "/api/v1/verbs/schedule.agenda", "POST", "token", "verb"),
    "schedule.cancel": Route("schedule.cancel", "/api/v1/verbs/schedule.cancel", "POST", "token", "verb"),
    "schedule.remind": Route("schedule.remind", "/api/v1/verbs/schedule.remind", "POST", "token", "verb"),
    "schedule.schedule": Route(
        "schedule.schedule",
        "/api/v1/verbs/schedule.schedule",
        "POST",
        "token",
        "verb",
    ),
    "session.export": Route("session.export", "/api/v1/verbs/session.export", "POST", "token", "verb"),
    "session.list": Route("session.list", "/api/v1/verbs/session.list", "POST", "token", "verb"),
    "session.resume": Route("session.resume", "/api/v1/verbs/session.resume", "POST", "token", "verb"),
    "session.search": Route("session.search", "/api/v1/verbs/session.search", "POST", "token", "verb"),
    "session.stats": Route("session.stats", "/api/v1/verbs/session.stats", "POST", "token", "verb"),
    "session.store": Route("session.store", "/api/v1/verbs/session.store", "POST", "token", "verb"),
    "session.vacuum": Route("session.vacuum", "/api/v1/verbs/session.vacuum", "POST", "token", "verb"),
}

#: Who is asking; the anonymous caller when absent.
ACTOR_HEADER = "Hivekeep-Actor"

#: Where writes go when a call names no namespace.
NAMESPACE_HEADER = "Hivekeep-Namespace"

#: The session that the request is part of, a full UUID; noted in events, audit rows and memories.
SESSION_HEADER = "Hivekeep-Session"

#: Paths below it without a route answer in the envelope of the gateway.
GATEWAY_PREFIX = "/api/v1"

#: Paths that need the token, some of them without a route yet; so does everything below the gateway prefix.
GUARDED_PATHS: frozenset[str] = frozenset({"/api/v1/request", "/health/ready", "/mcp", "/metrics"})

#: Fields of the query string of a verb route, with their defaults.
VERB_QUERY: dict[str, str] = {"presentation": "verbose", "format": "json"}
