"""Every link and path in the pages leads somewhere."""

import re
from pathlib import PurePosixPath

import pytest

from hivekeep_contract.routes import ROUTES
from support.pages import ROOT, anchors, blocks, code_spans, links, pages, written_pages

EXTERNAL = ("https://", "mailto:")
SERVED = {route.path.split("/")[1] for route in ROUTES.values()}
ABSOLUTE = re.compile(r"(?<![\w./~$}>)\]\"%*+:-])/([A-Za-z][\w.-]*)(?=[/\w.`\s,)]|$)")
WINDOWS_PATH = re.compile(r"\b[A-Za-z]:\\")
PLACEHOLDER = re.compile(r"[<>*{}$ ]|\.\.\.|count_kind")
TOP_LEVEL = {
    "benchmarks",
    "docs",
    "examples",
    "generated",
    "registry",
    "runtime",
    "templates",
    "tests",
    "tools",
}
INSIDE_RUNTIME = (
    "cli/",
    "dispatch/",
    "doors/",
    "gate/",
    "identity/",
    "packs/",
    "query/",
    "request/",
    "search/",
    "storage/",
)


@pytest.mark.parametrize("path", pages())
def test_every_link_of_a_page_resolves(path: str) -> None:
    """A relative link names a file of the repository, a fragment a heading of it; other links are https."""
    for target in links(pages()[path]):
        if target.startswith(EXTERNAL):
            continue
        name, _, fragment = target.partition("#")
        linked = (ROOT / path).parent / name if name else ROOT / path
        assert linked.exists(), f"{path}: {target}"
        if fragment:
            key = linked.resolve().relative_to(ROOT).as_posix()
            assert fragment in anchors(pages()[key]), f"{path}: {target}"


@pytest.mark.parametrize("path", written_pages())
def test_every_named_path_exists(path: str) -> None:
    """What stands in backticks and begins with a folder of the repository, or of the program, is there."""
    for span in code_spans(written_pages()[path]):
        if PLACEHOLDER.search(span) or "/" not in span:
            continue
        if PurePosixPath(span).parts[0] in TOP_LEVEL:
            assert (ROOT / span).exists(), f"{path}: {span}"
        elif span.startswith(INSIDE_RUNTIME):
            assert (ROOT / "runtime/hivekeep" / span).exists(), f"{path}: {span}"


@pytest.mark.parametrize("path", written_pages())
def test_no_page_names_a_path_of_somebodys_machine(path: str) -> None:
    """An absolute path in a page is a path of the server; a place on a disk begins with ~, a variable or a name."""
    text = written_pages()[path]
    assert {match[1] for match in ABSOLUTE.finditer(text)} <= SERVED
    assert WINDOWS_PATH.search(text) is None


def test_the_readers_of_pages_find_what_they_look_for() -> None:
    """Links in code are no links; a repeated heading gets a number; punctuation goes, spaces become hyphens."""
    text = (
        "# A `b`, c\n\n[x](y.md#z) `[no](no.md)`\n\n```sh\n# not a heading\n[no](no.md)\n```\n\n## Twice\n\n## Twice\n"
    )
    assert links(text) == ["y.md#z"]
    assert anchors(text) == {"a-b-c", "twice", "twice-1"}
    assert blocks(text, "sh") == ["# not a heading\n[no](no.md)\n"]
    assert ABSOLUTE.findall("see /home/ada/x and `/mcp`, and/or ~/x, `$HOME/y` https://a.example/z") == ["home", "mcp"]
