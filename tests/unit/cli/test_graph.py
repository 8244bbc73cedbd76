"""The picture of a neighborhood: which records it holds and how its texts are written."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hivekeep.cli import graph as pictures
from hivekeep.cli.graph import Edge, Graph, GraphvizError, Node
from support.client import Hive
from support.processes import run


def asker(hive: Hive) -> pictures.Ask:
    """Runs operations that must succeed."""

    def ask(ops: str) -> list[Any]:
        return [entry["result"] for entry in hive.run(ops)["results"]]

    return ask


@pytest.fixture
def chain(hive: Hive) -> Hive:
    """a -> b -> c -> d, and a note about a."""
    ids = [hive.call("create", kind="project", name=name)["id"] for name in "abcd"]
    for source, target in pairwise(ids):
        hive.call("link", source_id=source, target_id=target, relation="depends_on")
    hive.call("create", kind="insight", content="x", annotates=[ids[0]])
    return hive


def named(graph: Graph) -> tuple[set[str], set[tuple[str, str, str]]]:
    """Names of nodes, and edges by the names of their ends."""
    names = {node.id: node.name for node in graph.nodes}
    edges = {(names[edge.source_id], edge.relation, names[edge.target_id]) for edge in graph.edges}
    return set(names.values()), edges


@pytest.mark.parametrize(("hops", "names"), [(0, {"b"}), (1, {"a", "b", "c"}), (2, {"a", "b", "c", "d", "[insight]"})])
def test_hops_bound_the_picture(chain: Hive, hops: int, names: set[str]) -> None:
    """Records within the hops are drawn, with every edge between them."""
    found, edges = named(pictures.neighborhood(asker(chain), "b", hops, batch=2))
    assert found == names
    wanted = {
        ("a", "depends_on", "b"),
        ("b", "depends_on", "c"),
        ("c", "depends_on", "d"),
        ("[insight]", "annotates", "a"),
    }
    assert edges == {edge for edge in wanted if edge[0] in names and edge[2] in names}


def test_an_edge_inside_the_picture_is_drawn_though_no_walk_used_it(hive: Hive) -> None:
    """The third side of a triangle is there at one hop."""
    a, b, c = (hive.call("create", kind="concept", name=name)["id"] for name in "abc")
    for source, target in ((a, b), (a, c), (b, c)):
        hive.call("link", source_id=source, target_id=target, relation="extends")
    assert len(pictures.neighborhood(asker(hive), "a", 1, batch=100).edges) == 3


def test_a_picture_is_cut_at_what_can_be_read(chain: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """More records than the limit are left out, and the graph says so."""
    monkeypatch.setattr(pictures, "NODES_MAX", 2)
    graph = pictures.neighborhood(asker(chain), "b", 2, batch=100)
    assert (len(graph.nodes), graph.truncated) == (2, True)


HOSTILE = Graph(
    (Node("1", 'say "hi"\\\n] --> x', "concept"), Node("2", "<b>&" + "y" * 60, "person")),
    (Edge("1", "2", "introduced_by", 1.0),),
    False,
)


def test_dot_quotes_every_name() -> None:
    """Quotes, backslashes and line breaks stay inside a label; entities are drawn as they are written."""
    assert pictures.to_dot(HOSTILE).splitlines()[4:] == [
        '  n0 [label="say \\"hi\\"\\\\ ] --> x\\n(concept)", penwidth=2];',
        '  n1 [label="<b>&amp;' + "y" * 35 + '…\\n(person)"];',
        '  n0 -> n1 [label="introduced_by"];',
        "}",
    ]


def test_mermaid_encodes_every_name() -> None:
    """What Mermaid or HTML would read as markup is written as a code."""
    assert pictures.to_mermaid(HOSTILE).splitlines() == [
        "flowchart LR",
        '  n0["say #34;hi#34;#92; ] --#62; x<br/>(concept)"]',
        '  n1["#60;b#62;#38;' + "y" * 35 + '…<br/>(person)"]',
        "  n0 -->|introduced_by| n1",
    ]


def test_control_characters_are_not_drawn() -> None:
    """U+0000 ends Graphviz's input in the middle of a text, and no SVG can hold the other ones."""
    graph = Graph((Node("1", "nul\x00 bell\x07\x1b[0m", "concept"),), (), False)
    assert '[label="nul bell [0m\\n(concept)"' in pictures.to_dot(graph)
    assert 'n0["nul bell [0m<br/>(concept)"]' in pictures.to_mermaid(graph)


def test_a_name_that_looks_like_a_reference_is_a_name(hive: Hive) -> None:
    """`$prev.id` would mean the result of an operation before, of which the command has none."""
    for name in ("$prev.id", 'say "hi"\\', "\\$prev"):
        hive.call("create", kind="concept", name=name)
        assert pictures.neighborhood(asker(hive), name, 1, batch=100).nodes[0].name == name


def test_a_hub_is_drawn_from_pages(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """All neighbors of a hub in one answer could be more than a response holds; its pages bring each edge once."""
    monkeypatch.setattr(pictures, "PAGE", 3)
    hub = hive.call("create", kind="concept", name="hub")["id"]
    leaves = [hive.call("create", kind="concept", name=f"leaf {number}")["id"] for number in range(10)]
    for leaf in leaves:
        hive.call("link", source_id=hub, target_id=leaf, relation="extends")
        hive.call("link", source_id=hub, target_id=leaf, relation="enables")
    asked: list[str] = []

    def ask(ops: str) -> list[Any]:
        asked.append(ops)
        return asker(hive)(ops)

    graph = pictures.neighborhood(ask, "hub", 1, batch=4)
    assert {node.id for node in graph.nodes} == {hub, *leaves}
    assert [edge.relation for edge in graph.edges] == ["enables", "extends"] * 10
    assert all("limit=3" in ops and ops.count("neighbors(") <= 4 for ops in asked[1:])


def test_without_graphviz_the_way_to_get_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """An SVG without the program names the package and the other formats."""
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GraphvizError, match=r"apt install graphviz.*\.dot or \.mmd"):
        pictures.to_svg(HOSTILE)


def test_the_texts_are_the_same_every_time(chain: Hive) -> None:
    """Two pictures of one graph are equal letter by letter."""
    one, two = (pictures.neighborhood(asker(chain), "a", 3, batch=100) for _ in range(2))
    assert pictures.to_dot(one) == pictures.to_dot(two)
    assert json.dumps(one) == json.dumps(two)


def test_graphviz_gets_the_dot_text_and_gives_the_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program of the search path is asked for SVG; a failing one is told in one line."""
    program = tmp_path / "dot"
    program.write_text('#!/bin/sh\n[ "$1" = -Tsvg ] && /bin/cat && echo "<svg/>"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pictures.to_svg(HOSTILE).decode() == pictures.to_dot(HOSTILE) + "<svg/>\n"
    program.write_text("#!/bin/sh\necho syntax error >&2\nexit 3\n")
    with pytest.raises(GraphvizError, match="exit status 3, it said: syntax error"):
        pictures.to_svg(HOSTILE)


def test_the_command_writes_the_texts_and_tells_what_an_svg_needs(tmp_path: Path) -> None:
    """Without Graphviz an .svg still leaves .dot and .mmd; another ending is a mistake in the call."""
    run(tmp_path, "exec", 'create(kind="concept", name="RoPE")')
    done = run(tmp_path, "graph", "rope", "--out", "g.svg", PATH="")
    assert done.returncode == 1
    assert b"apt install graphviz" in done.stderr
    assert (tmp_path / "g.mmd").read_text() == 'flowchart LR\n  n0["RoPE<br/>(concept)"]\n'
    assert (tmp_path / "g.dot").exists()
    assert not (tmp_path / "g.svg").exists()
    assert run(tmp_path, "graph", "rope").stdout.decode() == (tmp_path / "g.mmd").read_text()
    assert run(tmp_path, "graph", "rope", "--out", "g.png").returncode == 2
    missing = run(tmp_path, "graph", "nosuch")
    assert (missing.returncode, missing.stderr) == (1, b"hivekeep: not found: nosuch\n")
