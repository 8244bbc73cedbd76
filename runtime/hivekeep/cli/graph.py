"""A picture of the neighborhood of one record, as DOT, Mermaid or SVG.

Invariant: the texts depend on the graph alone: nodes in the order they were reached, edges in the order of their
ends, so that two pictures of the same graph can be compared. Names are quoted; no name can end its label.
"""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from hivekeep.request.dsl import Op, Plan, print_plan

LABEL_CHARS = 40
PAGE = 200
"""Neighbors that one operation asks for: a full batch of such pages is far from the most that a response may hold."""

NODES_MAX = 300
"""A picture of more nodes can no longer be read."""

GRAPHVIZ = "dot"
GRAPHVIZ_TIMEOUT_S = 60
HOW_TO_GET_GRAPHVIZ = (
    "an SVG needs Graphviz, whose program 'dot' was not found: install the package graphviz of your system "
    "(apt install graphviz, brew install graphviz), or write a .dot or .mmd file instead"
)

Ask = Callable[[str], list[Any]]
"""Runs operations and answers their results; raises when one failed."""


class Node(NamedTuple):
    """One record: its id, what it is called, and its kind."""

    id: str
    name: str
    kind: str


class Edge(NamedTuple):
    """One edge between two nodes of the picture."""

    source_id: str
    target_id: str
    relation: str
    weight: float


class Graph(NamedTuple):
    """What is drawn; `truncated` when there were more nodes than a picture holds."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    truncated: bool


class GraphvizError(Exception):
    """The picture could not be drawn; the message says how to mend it."""


def neighborhood(ask: Ask, reference: str, hops: int, *, batch: int) -> Graph:
    """The records within `hops` edges of the one that `reference` (name or id) means, and the edges between them.

    `batch` is the most operations that one request takes.
    """
    (root,) = ask(print_plan(Plan("single", (Op("get", {"id": reference}),))))
    nodes = {root["id"]: _node(root)}
    edges: dict[str, Edge] = {}
    frontier = [root["id"]]
    truncated = False
    for _ in range(hops):
        following: list[str] = []
        for hit in sorted(_hits(ask, frontier, batch), key=_by_name):
            if hit["id"] not in nodes:
                if len(nodes) == NODES_MAX:
                    truncated = True
                    continue
                nodes[hit["id"]] = Node(hit["id"], hit.get("name", hit["id"]), hit.get("kind", "record"))
                following.append(hit["id"])
        frontier = following
    for hit in _edges(ask, list(nodes), batch):
        if hit["source_id"] in nodes and hit["target_id"] in nodes:
            edges[hit["edge_id"]] = Edge(hit["source_id"], hit["target_id"], hit["relation"], hit["weight"])
    order = {record: place for place, record in enumerate(nodes)}
    ranked = sorted(edges.values(), key=lambda edge: (order[edge.source_id], order[edge.target_id], edge.relation))
    return Graph(tuple(nodes.values()), tuple(ranked), truncated)


def _node(record: dict[str, Any]) -> Node:
    kind = str(record["kind"])
    return Node(record["id"], record.get("name") or f"[{kind}]", kind)


def _by_name(hit: dict[str, Any]) -> tuple[str, str]:
    """Names before ids, which differ between two stores of the same content."""
    return hit.get("name", ""), hit["id"]


def _hits(ask: Ask, nodes: Sequence[str], batch: int) -> Iterator[Any]:
    return _asked(ask, nodes, batch, {})


def _edges(ask: Ask, nodes: Sequence[str], batch: int) -> Iterator[Any]:
    return _asked(ask, nodes, batch, {"direction": "out", "projection": "edge"})


def _asked(ask: Ask, nodes: Sequence[str], batch: int, more: dict[str, Any]) -> Iterator[Any]:
    """All neighbors of all nodes, page by page: those of one hub may be more than a response holds."""
    open_walks = [(node, "") for node in nodes]
    while open_walks:
        asked, open_walks = open_walks[:batch], open_walks[batch:]
        ops = (Op("neighbors", {"node_id": node, "limit": PAGE, "after": after, **more}) for node, after in asked)
        for (node, _), page in zip(asked, ask(print_plan(Plan("parallel", tuple(ops)))), strict=True):
            yield from page["neighbors"]
            if page["next_after"]:
                open_walks.append((node, page["next_after"]))


def to_dot(graph: Graph) -> str:
    """The graph in Graphviz's language, read from left to right."""
    names = {node.id: f"n{place}" for place, node in enumerate(graph.nodes)}
    lines = ["digraph hivekeep {", "  rankdir=LR;", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    lines.append('  edge [fontname="sans-serif", fontsize=10];')
    for place, node in enumerate(graph.nodes):
        extra = ", penwidth=2" if place == 0 else ""
        lines.append(f'  {names[node.id]} [label="{_dot(_short(node.name))}\\n({_dot(node.kind)})"{extra}];')
    lines += [
        f'  {names[edge.source_id]} -> {names[edge.target_id]} [label="{_dot(edge.relation)}"];' for edge in graph.edges
    ]
    return "\n".join([*lines, "}", ""])


def to_mermaid(graph: Graph) -> str:
    """The graph as a Mermaid flowchart, which Markdown viewers draw."""
    names = {node.id: f"n{place}" for place, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [
        f'  {names[node.id]}["{_mermaid(_short(node.name))}<br/>({_mermaid(node.kind)})"]' for node in graph.nodes
    ]
    lines += [f"  {names[edge.source_id]} -->|{edge.relation}| {names[edge.target_id]}" for edge in graph.edges]
    return "\n".join([*lines, ""])


def to_svg(graph: Graph) -> bytes:
    """The graph drawn by Graphviz; raises GraphvizError when it is not installed or fails."""
    program = shutil.which(GRAPHVIZ)
    if program is None:
        raise GraphvizError(HOW_TO_GET_GRAPHVIZ)
    try:
        done = subprocess.run(
            [program, "-Tsvg"],
            input=to_dot(graph).encode(),
            capture_output=True,
            check=True,
            timeout=GRAPHVIZ_TIMEOUT_S,
        )
    except subprocess.CalledProcessError as fault:
        said = fault.stderr.decode(errors="replace").strip() or "nothing"
        raise GraphvizError(
            f"Graphviz could not draw the graph: exit status {fault.returncode}, it said: {said}"
        ) from fault
    except (OSError, subprocess.SubprocessError) as fault:
        raise GraphvizError(f"Graphviz could not draw the graph: {fault}") from fault
    return done.stdout


def _short(name: str) -> str:
    """A name as one line without control characters, which neither Graphviz nor SVG can hold."""
    line = " ".join("".join(" " if unicodedata.category(char) == "Cc" else char for char in name).split())
    return line if len(line) <= LABEL_CHARS else line[: LABEL_CHARS - 1] + "…"


def _dot(text: str) -> str:
    """A quoted text of DOT; `&amp;` because Graphviz reads entities in labels."""
    return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def _mermaid(text: str) -> str:
    """Entity codes for what Mermaid or the page around it would read as markup."""
    return "".join(char if char.isalnum() or char in " .,:;()[]/+-_…'" else f"#{ord(char)};" for char in text)
