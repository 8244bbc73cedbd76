"""What the guide to the curated memory shows works, line by line.

Blocks marked `session` are run in their order in one empty folder. An id of the page stands for the one that the
command made: where it first appears it is learned, everywhere else it must be the same.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from hivekeep.cli.commands import root
from support.homes import move_in
from support.pages import PROMPT, blocks, code_spans, written_pages

PAGE = written_pages()["docs/guides/curated-memory.md"]
FULL_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
ANY_ID = re.compile(r"\b[0-9a-f]{8}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b")
MINUTE = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b")


def sessions(page: str) -> list[tuple[str, str]]:
    """The commands of the session blocks, each with what is shown below it."""
    found = []
    for block in blocks(page, "session"):
        for part in ("\n" + block).split("\n" + PROMPT)[1:]:
            line, _, shown = part.partition("\n")
            found.append((line, shown.rstrip("\n") + "\n" if shown.strip() else ""))
    return found


def run(line: str, folder: Path) -> str:
    """What a command prints; one of hivekeep runs in this process, any other in a shell."""
    if not line.startswith("hivekeep "):
        return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=True).stdout
    done = CliRunner().invoke(root, shlex.split(line)[1:])
    assert (done.exit_code, done.stderr) == (0, ""), line
    return done.stdout


def learn(shown: str, printed: str, known: dict[str, str]) -> None:
    """Note which id of a printed text stands for which new one of the page, in the order in which they appear."""
    new = [one for one in dict.fromkeys(FULL_ID.findall(shown)) if one not in known]
    made = [one for one in dict.fromkeys(FULL_ID.findall(printed)) if one not in known.values()]
    known.update(zip(new, made, strict=True))


def as_made(text: str, known: dict[str, str]) -> str:
    """A text of the page with the ids that were made."""
    by_digits = {shown[:8]: made[:8] for shown, made in known.items()}
    return ANY_ID.sub(lambda one: known.get(one[0]) or by_digits.get(one[0], one[0]), text)


def test_every_shown_command_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moments are masked on both sides, nothing else."""
    move_in(tmp_path, monkeypatch)
    known: dict[str, str] = {}
    shown_commands = sessions(PAGE)
    assert len(shown_commands) == 23
    for line, shown in shown_commands:
        printed = run(as_made(line, known), tmp_path)
        learn(shown, printed, known)
        assert MINUTE.sub("<minute>", printed) == MINUTE.sub("<minute>", as_made(shown, known)), line


def test_the_page_names_every_command() -> None:
    """None is forgotten when one is added."""
    group = root.commands["curated"]
    assert hasattr(group, "commands")
    told = " ".join([PAGE, *code_spans(PAGE)])
    assert [name for name in group.commands if not re.search(rf"\b{name}\b", told)] == []
