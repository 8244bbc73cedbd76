"""Markdown pages as one static HTML page: headings get ids, the table of contents is computed from them."""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NOT_IN_A_SLUG = re.compile(r"[^a-z0-9_ -]")
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_TEXT = re.compile(r"(?<=>)[^<]+")


def page(texts: list[str]) -> dict[str, Any]:
    """`title`, `contents` (level, id, escaped title) and `body` for the page template."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = [token for text in texts for token in parser.parse(text)]
    contents = _give_ids(tokens)
    body = parser.renderer.render(tokens, parser.options, {})
    return {
        "title": contents[0]["title"],
        "contents": [row for row in contents if row["level"] <= 3],
        "body": _TABLE.sub(lambda table: f'<div class="wide">{_with_breaks(table[0])}</div>', body),
    }


def _with_breaks(table: str) -> str:
    """The table with a place for a line break behind each `_`, so that long names do not push columns off the page."""
    return _TEXT.sub(lambda text: text[0].replace("_", "_<wbr>"), table)


def slug(title: str, taken: set[str]) -> str:
    """The anchor of a heading, as hosts of Markdown make it; a repeated one gets a number."""
    base = _NOT_IN_A_SLUG.sub("", title.lower()).strip().replace(" ", "-")
    found, number = base, 1
    while found in taken:
        found, number = f"{base}-{number}", number + 1
    taken.add(found)
    return found


def _give_ids(tokens: list[Token]) -> list[dict[str, Any]]:
    taken: set[str] = set()
    contents: list[dict[str, Any]] = []
    for heading, inline in pairwise(tokens):
        if heading.type != "heading_open":
            continue
        title = "".join(child.content for child in inline.children or [])
        anchor = slug(title, taken)
        heading.attrSet("id", anchor)
        contents.append({"level": int(heading.tag[1]), "id": anchor, "title": escape(title)})
    return contents
