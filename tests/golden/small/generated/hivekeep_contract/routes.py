"""Which path serves which verb over HTTP.

Printed from registry/packs/ by `make generate`; do not edit.
"""

ROUTES: tuple[tuple[str, str], ...] = (
    ("/api/v1/verbs/find", "find"),
    ("/api/v1/verbs/keep", "keep"),
    ("/api/v1/verbs/todo.list", "todo.list"),
)
