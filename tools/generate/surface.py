"""The HTTP surface: the routes of http.yaml, resolved, and one route for each verb.

A route says everything that the application and the description of it need; neither knows a path of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tools.generate.literal import Call, literal
from tools.generate.model import Contract, EnumUse, Param, Route
from tools.generate.problems import did_you_mean
from tools.generate.read import Place, Source

VERB_FIELD = "{verb}"
_BELONGS = {
    "file": ("page",),
    "media_type": ("page",),
    "answers": ("live", "ready"),
    "query": ("verb",),
    "to": ("redirect",),
}
"""Words that routes of some sorts must have and others cannot."""

Refuse = Callable[[Source, Place, str], None]


def resolve_routes(
    source: Source, errors: Mapping[str, Mapping[str, Any]], tool_params: tuple[Param, ...], refuse: Refuse
) -> tuple[Route, ...]:
    """The routes in the order of the file. `refuse` takes each name that leads nowhere, with its place."""
    data = source.data
    for name, access in data["access"].items():
        _check_names(source, ("access", name, "errors"), access["errors"], errors, "error", refuse)
    _check_statuses(source, errors, refuse)
    serving = [name for name, entry in data["routes"].items() if entry["serves"] == "verb"]
    if len(serving) != 1:
        refuse(source, ("routes",), f"exactly one route serves verb, not {len(serving)}")
    taken: dict[str, str] = {}
    for name, entry in data["routes"].items():
        place: Place = ("routes", name)
        other = taken.setdefault(entry["path"], name)
        if other != name:
            refuse(source, (*place, "path"), f"the path is that of the route '{other}'")
        if (VERB_FIELD in entry["path"]) != (entry["serves"] == "verb"):
            refuse(source, (*place, "path"), f"a path holds {VERB_FIELD} when its route serves verb, and only then")
        for word, sorts in _BELONGS.items():
            if (word in entry) != (entry["serves"] in sorts):
                verb = "has no" if word in entry else "needs"
                refuse(source, place, f"a route that serves {entry['serves']} {verb} {word}")
        _check_names(source, (*place, "errors"), entry.get("errors", []), errors, "error", refuse)
        _check_names(source, (*place, "headers"), entry.get("headers", []), data["headers"], "header", refuse)
        _check_query(source, place, entry.get("query", {}), tool_params, refuse)
        if "to" in entry and data["routes"].get(entry["to"], {}).get("serves") != "page":
            refuse(source, (*place, "to"), f"'{entry['to']}' is no route that serves page")
    return tuple(_route(name, entry, data) for name, entry in data["routes"].items())


def verb_routes(contract: Contract) -> list[Route]:
    """One route for each verb that clients may call."""
    pattern = next(route for route in contract.routes if route.serves == "verb")
    return [
        replace(pattern, name=verb.name, path=pattern.path.replace(VERB_FIELD, verb.name))
        for verb in contract.verbs
        if not verb.internal
    ]


def paths(contract: Contract) -> dict[str, str]:
    """Paths by the name of their route, for pages; the verb is shown as `<verb>`."""
    return {route.name: route.path.replace(VERB_FIELD, "<verb>") for route in contract.routes}


def route_values(contract: Contract) -> dict[str, Any]:
    """The tables of routes.py as source."""
    http = contract.data["http"]
    rows = {route.name: _row(route) for route in (*contract.routes, *verb_routes(contract))}
    guarded = [route.path for route in contract.routes if route.access == "token" and route.serves != "verb"]
    pattern = next(route for route in contract.routes if route.serves == "verb")
    return {
        "routes": literal(rows, 26),
        "headers": [
            {"name": f"{name.upper()}_HEADER", "value": literal(entry["name"]), "doc": entry["doc"]}
            for name, entry in http["headers"].items()
        ],
        "gateway_prefix": literal(http["gateway"]["prefix"]),
        "guarded_paths": literal(frozenset((*guarded, *http["reserved"])), 32),
        "verb_query": literal(dict(pattern.query), 30),
    }


def _route(name: str, entry: Mapping[str, Any], data: Mapping[str, Any]) -> Route:
    return Route(
        name=name,
        path=entry["path"],
        method=entry["method"],
        access=entry["access"],
        serves=entry["serves"],
        summary=entry["summary"],
        doc=entry.get("doc", ""),
        headers=tuple(entry.get("headers", [])),
        query=entry.get("query", {}),
        errors=(*data["access"][entry["access"]]["errors"], *entry.get("errors", [])),
        answers=entry.get("answers", {}),
        file=entry.get("file", ""),
        media_type=entry.get("media_type", "application/json"),
        to=data["routes"].get(entry.get("to"), {}).get("path", ""),
    )


def _row(route: Route) -> Call:
    plain = (route.name, route.path, route.method, route.access, route.serves)
    if route.to:
        return Call("Route", (*plain, route.media_type, route.file, route.to))
    return Call("Route", (*plain, route.media_type, route.file) if route.file else plain)


def _check_names(
    source: Source, place: Place, names: list[str], known: Mapping[str, Any], sort: str, refuse: Refuse
) -> None:
    for index, name in enumerate(names):
        if name not in known:
            refuse(source, (*place, index), f"unknown {sort} '{name}'{did_you_mean(name, known)}")


def _check_statuses(source: Source, errors: Mapping[str, Mapping[str, Any]], refuse: Refuse) -> None:
    """Every status that an error leads to has a sentence."""
    for name, entry in errors.items():
        if str(entry["http_status"]) not in source.data["statuses"]:
            refuse(source, ("statuses",), f"no sentence for {entry['http_status']}, the status of the error '{name}'")


def _check_query(
    source: Source, place: Place, query: Mapping[str, str], tool_params: tuple[Param, ...], refuse: Refuse
) -> None:
    """A field of the query string is a field of the tool that takes one of some words."""
    known = {param.name: param.word.expr for param in tool_params if isinstance(param.word.expr, EnumUse)}
    for name, default in query.items():
        here = (*place, "query", name)
        expr = known.get(name)
        if expr is None:
            refuse(source, here, f"'{name}' is no field of the tool with a list of values{did_you_mean(name, known)}")
        elif default not in expr.values:
            text = f"the default '{default}' is not a value of {expr.enum.name}"
            refuse(source, here, text + did_you_mean(default, expr.values))
