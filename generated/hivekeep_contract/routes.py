"""Which path serves which verb over HTTP.

Printed from registry/packs/ by `make generate`; do not edit.
"""

ROUTES: tuple[tuple[str, str], ...] = (
    ("/api/v1/verbs/context", "context"),
    ("/api/v1/verbs/create", "create"),
    ("/api/v1/verbs/db_diagnostics", "db_diagnostics"),
    ("/api/v1/verbs/delete", "delete"),
    ("/api/v1/verbs/get", "get"),
    ("/api/v1/verbs/link", "link"),
    ("/api/v1/verbs/list", "list"),
    ("/api/v1/verbs/merge", "merge"),
    ("/api/v1/verbs/neighbors", "neighbors"),
    ("/api/v1/verbs/propose", "propose"),
    ("/api/v1/verbs/query", "query"),
    ("/api/v1/verbs/resolve", "resolve"),
    ("/api/v1/verbs/restore", "restore"),
    ("/api/v1/verbs/review", "review"),
    ("/api/v1/verbs/scan", "scan"),
    ("/api/v1/verbs/search", "search"),
    ("/api/v1/verbs/stats", "stats"),
    ("/api/v1/verbs/traverse", "traverse"),
    ("/api/v1/verbs/update", "update"),
    ("/api/v1/verbs/verbs", "verbs"),
    ("/api/v1/verbs/whoami", "whoami"),
    ("/api/v1/verbs/withdraw", "withdraw"),
)
