"""The Markdown pages of the repository as tests read them: text, headings, links, fenced blocks, console lines.

Invariant: a page is read as GitHub shows it, so an anchor that a test accepts is one that a reader reaches.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "$ "
_SKIPPED = ("tests", "node_modules", "build", "dist")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!\\)\[[^\]]+\]\(([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]+`")


class Command(NamedTuple):
    """A line of a console block, its arguments behind the program's name, and the JSON value shown below it, if any."""

    line: str
    arguments: list[str]
    shown: Any


@cache
def pages() -> dict[str, str]:
    """Text by path from the root: every Markdown page of the repository but those that tests are made of."""
    found = sorted(ROOT.glob("*.md")) + [
        page
        for folder in sorted(ROOT.iterdir())
        if folder.is_dir() and not folder.name.startswith(".") and folder.name not in _SKIPPED
        for page in sorted(folder.rglob("*.md"))
    ]
    return {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in found}


def written_pages() -> dict[str, str]:
    """The pages that people write; the others are printed by the generator."""
    return {path: text for path, text in pages().items() if not path.startswith("generated/")}


def blocks(text: str, language: str) -> list[str]:
    """The contents of the fenced blocks of one language."""
    return [body for name, body in _FENCE.findall(text) if name == language]


def anchors(text: str) -> set[str]:
    """The fragments that the headings of a page answer to."""
    found: set[str] = set()
    times: Counter[str] = Counter()
    for title in _HEADING.findall(_FENCE.sub("", text)):
        slug = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
        found.add(f"{slug}-{times[slug]}" if times[slug] else slug)
        times[slug] += 1
    return found


def links(text: str) -> list[str]:
    """The targets of the links of a page; what stands in code is none."""
    return _LINK.findall(_CODE.sub("", _FENCE.sub("", text)))


def code_spans(text: str) -> list[str]:
    """What stands in single backticks, outside of fenced blocks."""
    return [span[1:-1] for span in _CODE.findall(_FENCE.sub("", text))]


def table_rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, its two head lines left out."""
    section = text.split(f"\n{heading}\n", 1)[1]
    lines = section[section.index("|") :].split("\n")
    table = lines[: next(index for index, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[2:]]


def commands(text: str) -> Iterator[Command]:
    """The commands of the console blocks of a page, in order."""
    for block in blocks(text, "console"):
        for part in ("\n" + block).split("\n" + PROMPT)[1:]:
            line, _, shown = part.partition("\n")
            yield Command(line, shlex.split(line)[1:], json.loads(shown) if shown.strip() else None)
