"""The printed pages stand alone: their links lead somewhere and they load nothing."""

import re
from html.parser import HTMLParser
from pathlib import Path

import hivekeep_contract
from hivekeep_contract import catalog, errors, settings
from tools.generate.html import slug

DOCS = Path(hivekeep_contract.__file__).parent / "docs"


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "wbr", "br", "hr", "img", "link", "input"):
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(str(value))
            elif name == "href" and tag == "a":
                self.links.append(str(value))
            elif name in ("src", "href"):
                self.loads.append((tag, str(value)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)


def _page() -> _Page:
    page = _Page()
    page.feed((DOCS / "index.html").read_text(encoding="utf-8"))
    return page


def test_the_page_is_one_self_contained_document() -> None:
    """No script, stylesheet, font or image is loaded, every tag is closed, every id is there once."""
    text = (DOCS / "index.html").read_text(encoding="utf-8")
    page = _page()
    assert (page.loads, page.unbalanced, page.open) == ([], [], [])
    assert len(page.ids) == len(set(page.ids))
    assert "<script" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_every_link_of_the_page_leads_to_a_heading() -> None:
    """The contents and the text link to headings that exist, and every verb is in the contents."""
    page = _page()
    assert {link for link in page.links if link.startswith("#")} <= {f"#{name}" for name in page.ids}
    assert [link for link in page.links if not link.startswith("#")] == []
    verbs = {f"#{slug(name, set())}" for name in catalog.VERBS}
    assert verbs <= set(page.links)


def test_every_link_of_the_markdown_reference_leads_to_a_heading() -> None:
    """The same for the Markdown, with the anchors that hosts of Markdown make."""
    text = (DOCS / "api-reference.md").read_text(encoding="utf-8")
    outside_code = re.sub(r"```.*?```", "", text, flags=re.S)
    taken: set[str] = set()
    for title in re.findall(r"^#+ (.*)$", outside_code, flags=re.M):
        slug(title.replace("`", ""), taken)
    assert set(re.findall(r"\]\(#([^)]*)\)", outside_code)) <= taken


def test_every_table_row_has_the_cells_of_its_header() -> None:
    """No text breaks a table apart: all rows of one table have equally many cells."""
    for path in sorted(DOCS.glob("*.md")):
        columns = 0
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            assert cells in (0, columns) or columns == 0, f"{path.name}: {line[:100]}"
            columns = cells


def test_the_reference_names_everything_that_is_promised() -> None:
    """Every verb, error and setting stands in the text made for agents, which ends the index of pages."""
    text = (DOCS / "llms-full.txt").read_text(encoding="utf-8")
    headings = set(re.findall(r"^### (.*)$", text, flags=re.M))
    assert set(catalog.VERBS) <= headings
    assert [name for name in errors.ERRORS if f"| {name} |" not in text] == []
    assert [row.key for row in settings.SETTINGS if f"| `{row.key}` |" not in text] == []
    index = (DOCS / "llms.txt").read_text(encoding="utf-8")
    assert index.startswith("# hivekeep\n\n> ")
    assert "(/llms-full.txt)" in index
