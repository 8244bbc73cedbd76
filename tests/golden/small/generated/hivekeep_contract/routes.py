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
    "verb": Route("verb", "/small/verbs/{verb}", "POST", "token", "verb"),
    "request": Route("request", "/small/request", "POST", "token", "tool"),
    "mcp": Route("mcp", "/mcp", "POST", "token", "mcp"),
    "alive": Route("alive", "/alive", "GET", "open", "live"),
    "ready": Route("ready", "/ready", "GET", "token", "ready"),
    "openapi": Route("openapi", "/openapi.json", "GET", "open", "page", "application/json", "openapi.json"),
    "llms": Route("llms", "/llms.txt", "GET", "open", "page", "text/plain", "docs/llms.txt"),
    "llms_full": Route("llms_full", "/full.txt", "GET", "open", "page", "text/plain", "docs/llms-full.txt"),
    "reference": Route(
        "reference",
        "/reference.md",
        "GET",
        "open",
        "page",
        "text/markdown",
        "docs/api-reference.md",
    ),
    "find": Route("find", "/small/verbs/find", "POST", "token", "verb"),
    "keep": Route("keep", "/small/verbs/keep", "POST", "token", "verb"),
    "todo.list": Route("todo.list", "/small/verbs/todo.list", "POST", "token", "verb"),
}

#: Who is asking.
ACTOR_HEADER = "Small-Actor"

#: Paths below it without a route answer in the envelope of the gateway.
GATEWAY_PREFIX = "/small"

#: Paths that need the token, some of them without a route yet; so does everything below the gateway prefix.
GUARDED_PATHS: frozenset[str] = frozenset({"/later", "/mcp", "/ready", "/small/request"})

#: Fields of the query string of a verb route, with their defaults.
VERB_QUERY: dict[str, str] = {"presentation": "verbose"}
